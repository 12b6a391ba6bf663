//! Attachments by springs.

use cullet::columns::{LoadKind, Loads};
use cullet::simulate::{SimulateError, method, schedule};
use cullet::spec::*;
use cullet::store::Packing;
use glam::DVec3;

use crate::loads::{force, torque};
use crate::scenes;

const R: f64 = 1e-3;
const E: f64 = 1e8;
const STIFFNESS: f64 = 20.0;

/// A block whose upper layer of elements hangs on springs.
struct HangingBlock {
    pipeline: Pipeline,
    packing: Packing,
    /// Elements attached to springs.
    springs: Vec<usize>,
}

impl HangingBlock {
    fn new(velocity: [f64; 3], spin: [f64; 3]) -> Self {
        let points = scenes::block(4, 3, 4, R);
        let material = scenes::elastic(E, 0.4 * E, 2600.0);
        let packing = scenes::packing(&points, R, &material, (f64::INFINITY, f64::INFINITY));
        let mut pipeline = scenes::pipeline(material);
        pipeline.bodies = vec![crate::statics::body()];
        pipeline.world.gravity = [0.0, 0.0, -9.81];
        pipeline.simulate.drag = 30.0;
        let top = points.iter().map(|p| p.z).fold(0.0, f64::max) - 0.1 * R;
        pipeline.attachments = vec![Attachment {
            name: "threads".into(),
            body: "beam".into(),
            region: Region {
                min: [-1.0, -1.0, top],
                max: [1.0; 3],
            },
            action: Action::Spring {
                stiffness: STIFFNESS,
                velocity,
                spin,
                pivot: None,
                keys: vec![],
            },
        }];
        let springs = (0..points.len()).filter(|&i| points[i].z > top).collect();
        HangingBlock {
            pipeline,
            packing,
            springs,
        }
    }

    fn implicit(mut self) -> Self {
        self.pipeline.simulate.integrator = Integrator::BackwardEuler;
        self.pipeline.simulate.implicit.tolerance = 1e-6;
        self
    }

    /// Positions and loads at a time; the loads are a mean over the last steps.
    fn after(&self, dt: f64, time: f64) -> (Vec<DVec3>, Loads) {
        let mut run = method(&self.packing, &self.pipeline, Backend::Auto, dt).unwrap();
        run.advance((time / dt).round() as u64).unwrap();
        run.snapshot(0).unwrap();
        run.advance(4).unwrap();
        let end = run.snapshot(1).unwrap();
        (scenes::places(&end), end.loads)
    }

    fn step(&self) -> f64 {
        0.4 * schedule(&self.packing, &self.pipeline).unwrap().critical
    }

    fn weight(&self) -> f64 {
        9.81 * self.packing.elements.mass.iter().sum::<f64>()
    }
}

#[test]
fn a_body_hung_on_springs_sags_by_its_weight_over_their_stiffness() {
    let explicit = HangingBlock::new([0.0; 3], [0.0; 3]);
    let dt = explicit.step();
    let implicit = HangingBlock::new([0.0; 3], [0.0; 3]).implicit();
    for (name, hung, dt) in [("explicit", explicit, dt), ("implicit", implicit, 2e-3)] {
        let (places, loads) = hung.after(dt, 0.6);
        let rest = scenes::at_rest(&hung.packing);
        let fall = |i: &usize| rest[*i].z - places[*i].z;
        let sag = hung.springs.iter().map(fall).sum::<f64>() / hung.springs.len() as f64;
        let expected = hung.weight() / (STIFFNESS * hung.springs.len() as f64);
        println!(
            "{name}: sags by {sag:.6e} m, expected {expected:.6e} m; bears {:.6} of the weight",
            -loads.fz[0] / hung.weight()
        );
        assert_eq!(loads.kind, [LoadKind::Spring]);
        assert_eq!(loads.contacts[0] as usize, hung.springs.len());
        assert!((sag / expected - 1.0).abs() < 1e-3);
        assert!((force(&loads, 0).z / -hung.weight() - 1.0).abs() < 1e-3);
        // The moment is about the mean position of the elements on springs; the weight acts at the centre of
        // the whole block.
        let middle = |of: &[usize]| {
            let sum: DVec3 = of.iter().map(|&i| places[i]).sum();
            sum / of.len() as f64
        };
        let all: Vec<usize> = (0..places.len()).collect();
        let pull = DVec3::Z * -hung.weight();
        let lever = (middle(&all) - middle(&hung.springs)).cross(pull);
        let off = (torque(&loads, 0) - lever).length();
        assert!(lever.length() > 0.1 * R * hung.weight(), "there is a lever");
        assert!(off < 2e-3 * R * hung.weight(), "{off}");
    }
}

#[test]
fn springs_follow_the_motion_and_rotation_of_their_attachment() {
    let (speed, spin) = (0.02, 4.0);
    let explicit = HangingBlock::new([speed, 0.0, 0.0], [0.0, 0.0, spin]);
    let dt = explicit.step();
    let implicit = HangingBlock::new([speed, 0.0, 0.0], [0.0, 0.0, spin]).implicit();
    let mut ends = Vec::new();
    for (mut hung, dt) in [(explicit, dt), (implicit, 5e-4)] {
        hung.pipeline.world.gravity = [0.0; 3];
        hung.pipeline.simulate.drag = 0.0;
        let time = 0.2;
        let (places, _) = hung.after(dt, time);
        let time = ((time / dt).round() + 4.0) * dt;
        let rest = scenes::at_rest(&hung.packing);
        let middle_of = |all: &[DVec3]| {
            let sum: DVec3 = hung.springs.iter().map(|&i| all[i]).sum();
            sum / hung.springs.len() as f64
        };
        let (from, to) = (middle_of(&rest), middle_of(&places));
        let moved = to - from;
        // Angle by which the outermost element has rotated about the middle.
        let far = hung.springs[0];
        let (before, now) = (rest[far] - from, places[far] - to);
        let turned = before.cross(now).z.atan2(before.dot(now));
        ends.push((moved.x / (speed * time), turned / (spin * time)));
    }
    println!("way and turn over those of the drive: explicit, implicit {ends:.4?}");
    for (way, turn) in ends {
        assert!((way - 1.0).abs() < 0.03 && (turn - 1.0).abs() < 0.03);
    }
}

#[test]
fn graphics_processors_leave_springs_to_the_cpu() {
    let hung = HangingBlock::new([0.0; 3], [0.0; 3]);
    let Err(SimulateError::Unsupported { option, value, .. }) =
        method(&hung.packing, &hung.pipeline, Backend::Gpu, 1e-7)
    else {
        panic!("springs are computed on the CPU alone");
    };
    assert_eq!(
        (option, value),
        ("attach.action.type on backend gpu", "spring")
    );
}
