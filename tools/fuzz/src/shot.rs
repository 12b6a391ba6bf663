//! A shot of two bodies that has passed through all stages, and fuzzing seeds made of its files.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use cullet::spec::Pipeline;
use cullet::store::{Manifest, Store};
use cullet::{pack, reconstruct, simulate, spec};

/// A pipeline that uses most features: a bar broken by a ball, and a loose pile.
pub const ACROSS: &str = r#"
[time]
end = "1 ms"
frames_per_second = "1 kHz"

[world]
gravity = [0, -9.81, 0]
bounds = { min = [-10, -10, -10], max = [10, 10, 10] }

[[material]]
name = "gypsum"
density = "1100 kg/m^3"
young = "1 MPa"
poisson = 0.2
tensile_strength = "2.5 Pa"
shear_strength = "3 kPa"
weibull_modulus = 8
damping = 0.02
friction = 0.4
contact_damping = 0.4

[[body]]
name = "bar"
material = "gypsum"
shape = { type = "box", size = ["6 cm", "2 cm", "2 cm"] }
packing = { type = "hexagonal", radius = "5 mm" }
velocity = [0, "-1 m/s", 0]
rotation = { axis = [0, 1, 0], angle = "30 deg" }

[[body]]
name = "pile"
material = "gypsum"
bonded = false
shape = { type = "block", rows = [2, 2, 1] }
packing = { type = "hexagonal", radius = "5 mm" }
position = [0, 1, 0]

[[collider]]
name = "floor"
shape = { type = "half_space", normal = [0, 1, 0] }
position = [0, "-16 mm", 0]

[[collider]]
name = "hammer"
shape = { type = "sphere", radius = "20 mm" }
position = [5, 5, 5]
keys = [{ time = 0, position = [5, 5, 5] }, { time = 1, position = [6, 5, 5] }]

[[attach]]
name = "wall"
body = "bar"
region = { min = [-1, -1, -1], max = ["-2 cm", 1, 1] }
action = { type = "clamp", velocity = [0, 0, 0] }

[simulate]
backend = "cpu"
state_every = 1

[output]
compression = "none"

[scales.smoke]
"time.end" = "2 ms"
"body.bar.packing.radius" = "4 mm"
"#;

/// The shot in its own temporary folder, which is removed on drop.
pub struct Shot {
    folder: tempfile::TempDir,
    /// The resolved pipeline.
    pub pipeline: Pipeline,
}

impl Shot {
    /// Runs all stages, on a single thread.
    pub fn new() -> Self {
        // A second target on this thread finds an existing pool.
        let _ = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build_global();
        let folder = tempfile::tempdir().expect("a folder");
        let pipeline = spec::parse(ACROSS, "shot", &[]).expect("a pipeline");
        let store = Store::at(folder.path());
        let packed = pack::pack(&pipeline, folder.path()).expect("packs");
        pack::write(&store, &packed).expect("written");
        Manifest::new(pipeline.clone())
            .write(&store)
            .expect("written");
        let shot = Shot { folder, pipeline };
        shot.simulate(simulate::Start::Packing).expect("simulates");
        let settings = &shot.pipeline.reconstruct;
        reconstruct::run(&store, settings, 0..9, &mut |_, _| ()).expect("reconstructs");
        shot
    }

    /// The store, without checks of checksums.
    pub fn store(&self) -> Store {
        Store::at(self.folder.path())
    }

    /// Simulates to the end.
    pub fn simulate(&self, start: simulate::Start) -> Result<(), simulate::SimulateError> {
        let options = simulate::Options {
            backend: None,
            adapter: None,
            start,
            until: None,
            inherited: None,
        };
        let never = AtomicBool::new(false);
        simulate::run(&self.store(), &self.pipeline, &options, &never, &mut |_| ()).map(drop)
    }

    /// A file of the store.
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.path().join(name)).expect("a file of the shot")
    }

    /// Puts an altered file into the store.
    pub fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.folder.path().join(name), bytes).expect("room in the folder");
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Default for Shot {
    fn default() -> Self {
        Self::new()
    }
}

/// Writes a seed input, if the environment variable `FUZZ_SEEDS` names a folder.
pub fn seed(name: &str, bytes: &[u8]) {
    if let Some(folder) = std::env::var_os("FUZZ_SEEDS") {
        let folder = Path::new(&folder);
        std::fs::create_dir_all(folder).expect("a folder for seeds");
        std::fs::write(folder.join(name), bytes).expect("a seed");
    }
}
