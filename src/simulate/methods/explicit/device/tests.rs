//! Each algorithm of the device compared with a plain version on the host.

use glam::DVec3;

use super::launch::Status;
use super::{Device, Gpu, LaunchParameters};
use crate::gpu::{Binding, Column, ColumnName, DeviceRequest, Item, Kernel, KernelText};
use crate::simulate::contact::chunk::COLLIDER;
use crate::simulate::contact::lists::{Contacts, FAST_SKIN};
use crate::simulate::method::Method;
use crate::simulate::run_state::state::State;
use crate::simulate::scene::colliders::PosedCollider;
use crate::spec::Pipeline;
use crate::store::Packing;

/// Any adapter, a software one if there is no other. None if the machine has no driver and no device is
/// required.
fn request() -> Option<DeviceRequest> {
    let named = crate::gpu::adapters().into_iter().next().map(|a| a.name);
    if named.is_none() {
        let insisted = std::env::var_os("CULLET_GPU_REQUIRED").is_some();
        assert!(
            !insisted,
            "no graphics adapter, and CULLET_GPU_REQUIRED is set"
        );
        println!("skipped: no graphics adapter");
    }
    named.map(|name| DeviceRequest {
        adapter: Some(name),
        ..DeviceRequest::default()
    })
}

/// Reproducible pseudo-random numbers.
fn noise(k: u64) -> u64 {
    let mut z = k.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z ^ (z >> 31)
}

/// Pseudo-random number in [0, 1).
fn fraction(k: u64) -> f64 {
    (noise(k) >> 11) as f64 / (1u64 << 53) as f64
}

/// The error from compiling a kernel of this text, which writes `counts`, with these constants.
fn refusal(
    device: &Device,
    sources: &'static [&'static str],
    constants: &[(&str, f64)],
) -> Option<String> {
    const COUNTS: ColumnName = ColumnName {
        name: "counts",
        item: Item::U32,
    };
    const BINDINGS: &[Binding] = &[COUNTS.write()];
    let text = KernelText::new("sample", &[], sources, BINDINGS);
    let counts = Column::new(device, COUNTS.name, COUNTS.item, 1).unwrap();
    let bound = text.bound(|_| Some(&counts)).unwrap();
    let shared = device.uniform(16).unwrap();
    let launches = LaunchParameters::new(device, &shared, &shared);
    let made = Kernel::new(device, "main", constants, &bound, &launches);
    made.err().map(|error| error.to_string())
}

#[test]
fn missing_names_and_constants_of_a_kernel_are_reported() {
    let Some(request) = request() else { return };
    let device = Device::open(&request).unwrap();
    const WHOLE: &[&str] = &[
        "override times: u32;",
        "@compute @workgroup_size(WORKGROUP) fn main() { counts_set(0u, times); }",
    ];
    const UNKNOWN: &[&str] =
        &["@compute @workgroup_size(WORKGROUP) fn main() { counts_set(0u, masses(0u)); }"];
    let times = [("times", 1.0)];
    assert_eq!(refusal(&device, WHOLE, &times), None);
    let refused = [
        (refusal(&device, UNKNOWN, &[]), "masses"),
        (refusal(&device, WHOLE, &[]), "times"),
        (refusal(&device, WHOLE, &[("tomes", 1.0)]), "tomes"),
    ];
    for (message, name) in refused {
        let message = message.unwrap_or_else(|| panic!("{name} is not reported missing"));
        assert!(message.contains("kernel sample:main"), "{message}");
        assert!(message.contains(name), "{message}");
    }
}

/// A bonded block and loose balls, on a floor and below a plate, around a ball and a rod.
fn crowded() -> (Packing, Pipeline) {
    const R: f64 = 1e-3;
    let text = "[time]\nend = 1\nframes_per_second = 1\n[[material]]\nname = \"m\"\ndensity = 2600\nyoung = 1e7\nshear = 4e6\n\
                elasticity = \"bond\"\n[[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = { type = \"block\", rows = [8, 6, 5] }\n\
                packing = { type = \"hexagonal\", radius = 1e-3 }\n\
                [[collider]]\nname = \"floor\"\nshape = { type = \"half_space\", normal = [0, 1, 0] }\nposition = [0, -6e-3, 0]\n\
                [[collider]]\nname = \"plate\"\nshape = { type = \"box\", size = [9e-3, 2e-3, 9e-3] }\nposition = [0.02, 7e-3, 0]\n\
                rotation = { axis = [0, 0, 1], angle = \"20 deg\" }\n\
                [[collider]]\nname = \"ball\"\nshape = { type = \"sphere\", radius = 4e-3 }\nposition = [0.03, 2e-3, 2e-3]\n\
                [[collider]]\nname = \"rod\"\nshape = { type = \"cylinder\", radius = 3e-3, height = 6e-3 }\n\
                position = [0.042, 0, 0.01]\nrotation = { axis = [1, 0, 0], angle = \"50 deg\" }\n";
    let pipeline = crate::spec::parse(text, "test", &[]).unwrap();
    let mut packing = crate::pack::pack(&pipeline, std::path::Path::new("."))
        .unwrap()
        .packing;
    let e = &mut packing.elements;
    for k in 0..900 {
        let p = [0, 1, 2].map(|axis| 0.03 * fraction(3 * k + axis) - 0.012);
        e.id.push(e.id.len() as u32);
        e.body.push(0);
        e.material.push(0);
        e.kind.push(e.kind[0]);
        e.x.push(p[0] + 0.03);
        e.y.push(p[1]);
        e.z.push(p[2]);
        // One large ball has more partners than kernels have registers for.
        let r = if k == 0 {
            8.0
        } else {
            0.5 + 0.5 * fraction(9000 + k)
        };
        e.r.push(R * r);
        for column in [&mut e.mass, &mut e.inertia, &mut e.volume] {
            column.push(column[0]);
        }
        for column in [
            &mut e.vx, &mut e.vy, &mut e.vz, &mut e.wx, &mut e.wy, &mut e.wz,
        ] {
            column.push(0.0);
        }
    }
    (packing, pipeline)
}

/// Contact lists computed on the host, without the pairs that have a slot.
fn rows_of_host(gpu: &Gpu, colliders: &[PosedCollider]) -> Vec<Vec<u32>> {
    let system = &gpu.system;
    let contacts = Contacts::with_skin(system, &gpu.scene.surfaces, colliders, FAST_SKIN);
    (0..system.count)
        .map(|i| {
            contacts
                .partners(i as u32)
                .into_iter()
                .filter(|&j| j >= COLLIDER || system.bonds.find(i, j as usize).is_none())
                .collect()
        })
        .collect()
}

#[test]
fn contact_lists_are_those_of_the_host() {
    let Some(request) = request() else { return };
    let (packing, pipeline) = crowded();
    let built = crate::simulate::build(&packing, &pipeline).unwrap();
    let colliders = built.supports.colliders().iter();
    let colliders: Vec<_> = colliders.map(|c| c.at(0.0)).collect();
    let mut gpu = Gpu::new(built, &pipeline, 1e-7, &request).unwrap();
    // At the packed position, and far from the origin, where cell indices are negative or large.
    for shift in [DVec3::ZERO, DVec3::new(-3.0, 0.0, 70.0)] {
        for i in 0..gpu.system.count {
            let p = gpu.system.position(i) + shift;
            gpu.system_mut().set_position(i, p);
        }
        gpu.refresh().unwrap();
        gpu.wait().unwrap();
        let bounds: Vec<u32> = gpu.columns.list_bounds.read(&gpu.device).unwrap();
        let partner: Vec<u32> = gpu.columns.list_partner.read(&gpu.device).unwrap();
        let expected = rows_of_host(&gpu, &colliders);
        let entries: usize = expected.iter().map(Vec::len).sum();
        assert!(entries > 700, "the scene is crowded: {entries}");
        assert!(expected.iter().any(|row| row.len() > 100));
        let near = |wall: u32| expected.iter().flatten().any(|j| *j == COLLIDER + wall);
        let walls = (0..colliders.len() as u32).filter(|wall| near(*wall));
        assert!(walls.count() == 4 || shift != DVec3::ZERO, "one of each");
        for (i, row) in expected.iter().enumerate() {
            let end = bounds[gpu.sizes.stride as usize + i];
            let range = bounds[i] as usize..end as usize;
            assert_eq!(
                &partner[range],
                row.as_slice(),
                "element {i}, shifted {shift}"
            );
        }
    }
}

/// A state of the crowded scene after a rebuild of its lists, in columns that are long enough or too short.
fn state_after_a_rebuild(request: &DeviceRequest, too_short: bool) -> State {
    let (packing, pipeline) = crowded();
    let built = crate::simulate::build(&packing, &pipeline).unwrap();
    let mut gpu = Gpu::new(built, &pipeline, 1e-7, request).unwrap();
    gpu.advance(40).unwrap();
    gpu.wait().unwrap();
    let words: Vec<u32> = gpu.columns.status.read(&gpu.device).unwrap();
    let status: Status = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words));
    assert!(status.list_used > 700);
    let due = Status {
        force_rebuild: 1,
        ..status
    };
    gpu.columns.status.write(&gpu.device, 0, &[due]);
    gpu.passes_since_check = u32::MAX;
    if too_short {
        gpu.sizes.lists = 64;
    }
    gpu.advance(40).unwrap();
    assert!(gpu.wait().unwrap() > status.rebuilds);
    assert!(gpu.sizes.lists >= u64::from(status.list_used));
    gpu.state(1).unwrap()
}

#[test]
fn lists_that_are_too_short_grow_and_keep_their_springs() {
    let Some(request) = request() else { return };
    let long = state_after_a_rebuild(&request, false);
    let springs = crate::simulate::run_state::sections::springs::<f32>(&long).unwrap();
    assert!(springs.len() > 100, "{} springs", springs.len());
    assert!(state_after_a_rebuild(&request, true) == long);
}
