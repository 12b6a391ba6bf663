//! The bench counts operations correctly, and its scenes do what their names say: a bench of a block that no
//! longer breaks would only look fast.

#[allow(dead_code)] // only the tool itself uses the costs of the laws
#[path = "../tools/bench/count.rs"]
mod count;
#[allow(dead_code)] // only the tool itself uses names and warm-up
#[path = "../tools/bench/scenes.rs"]
mod scenes;

use cullet::math::{Mask, Real, Vec3};
use cullet::simulate::method;
use cullet::spec::Backend;

use count::{Counted, operations};
use scenes::{SCENE_KINDS, SceneKind};

#[test]
fn operations_are_counted_once_each() {
    let number = <Counted as Real>::splat;
    let a = Vec3::new(number(1.0), number(2.0), number(3.0));
    assert_eq!(operations(|| a.dot(a)), 5);
    assert_eq!(operations(|| a.norm()), 6, "a root is one");
    assert_eq!(operations(|| a.cross(a)), 9);
    assert_eq!(operations(|| a.x / a.y), 1);
    let free = || Counted::select(a.x.lt(a.y), -a.x, a.y.abs().kept());
    assert_eq!(operations(free), 0);
    assert!((a.x.lt(a.y) & a.y.lt(a.z)).all());
}

#[test]
fn scenes_swing_break_and_press() {
    for kind in SCENE_KINDS {
        let scene = kind.scene(3000.0).unwrap();
        let elements = scene.packing.elements.id.len() as f64;
        let dt = kind.step().unwrap();
        let mut engine = method(&scene.packing, &scene.pipeline, Backend::Cpu, dt).unwrap();
        engine.advance(100).unwrap();
        let history = engine.snapshot(0).unwrap().history;
        let (broken, contacts) = (history.broken[0], f64::from(history.contacts[0]) / elements);
        let name = kind.name();
        match kind {
            SceneKind::Elastic => {
                assert_eq!((broken, contacts), (0, 0.0), "{name}");
                assert!(history.bond[0] > 0.0, "{name}: bonds work");
            }
            SceneKind::Breaking => {
                assert!(broken > 100, "{name}: {broken}");
                assert!(contacts > 0.0, "{name}: {contacts}");
            }
            SceneKind::Heap => assert!(contacts > 4.0, "{name}: {contacts}"),
        }
    }
}
