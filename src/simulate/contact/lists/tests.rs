use super::*;
use crate::math::lanes::LaneRow;
use crate::simulate::bonded::bond_rows::BondRow;
use crate::simulate::bonded::bonds::Bonds;
use crate::simulate::bonded::rigid_mask::RigidMask;
use crate::simulate::contact::chunk::{COLLIDER, SpringEntry};
use crate::simulate::contact::pair_list::Memory;
use crate::simulate::contact::rebuild::Candidates;
use crate::simulate::contact::surfaces::Surface;

fn surfaces() -> Surfaces {
    Surfaces::new(vec![Surface {
        young: 1e7,
        friction: 0.3,
        static_friction: 0.4,
        rolling: 0.1,
        damping: 0.1,
        shear_ratio: 0.5,
    }])
}

/// Last element of the first chunk.
const LAST: u32 = CHUNK as u32 - 1;

/// Elements per chunk.
const CHUNK: usize = 64;

/// More than a chunk of balls of unit radius along x, each touching the next.
fn row() -> System<f32> {
    let count = CHUNK + 40;
    let mut system = System::new(count, CHUNK, crate::spec::Law::Bdem);
    system.tail.fill(LaneRow([1.0; 4]));
    system.inverse_mass.fill(1.0);
    for i in 0..count {
        system.set_position(i, DVec3::X * 2.0 * i as f64);
    }
    system
}

fn shift(system: &mut System<f32>, elements: std::ops::Range<usize>, by: DVec3) {
    for i in elements {
        let p = system.position(i) + by;
        system.set_position(i, p);
    }
}

#[test]
fn springs_are_told_from_both_ends_and_put_back() {
    let system = row();
    let mut contacts = Contacts::new(&system, &surfaces(), &[]);
    assert_eq!(contacts.sides(), 2 * (system.count - 1));
    assert_eq!(contacts.partners(CHUNK as u32), [LAST, LAST + 2]);
    let spring = |element, partner, x: f32| SpringEntry {
        element,
        partner,
        memory: Memory {
            spring: [x, -2.0 * x, 0.0],
            roll: [0.0, 3.0 * x, 0.0],
            slides: true,
        },
    };
    let both = [
        spring(3, 4, 0.1),
        spring(4, 3, -0.1),
        // A pair across two chunks, each of which lists it.
        spring(LAST, LAST + 1, 0.2),
        spring(LAST + 1, LAST, -0.2),
    ];
    assert_eq!(contacts.restore_springs(&both), 0);
    assert_eq!(contacts.springs(), both);
    contacts.rebuild(&system, &[]);
    assert_eq!(contacts.springs(), both);
    let strangers = [spring(3, 5, 0.1), spring(3, COLLIDER, 0.1)];
    assert_eq!(contacts.restore_springs(&strangers), 2);
}

#[test]
fn lists_follow_what_moves_against_the_rest() {
    let mut system = row();
    let mut contacts = Contacts::new(&system, &surfaces(), &[]);
    let (all, last) = (0..system.count, system.count - 1);
    // All elements move alike, far beyond the skin.
    shift(&mut system, all, DVec3::Y * 10.0);
    contacts.advance((10.0, 0.0), &system, &[]);
    assert_eq!(contacts.anchor[0], DVec3::ZERO, "the lists hold");
    // The last element moves to the other end.
    shift(
        &mut system,
        last..last + 1,
        DVec3::NEG_X * 2.0 * (last as f64 + 1.0),
    );
    contacts.advance((2.0 * (last as f64 + 1.0), 0.0), &system, &[]);
    assert_eq!(contacts.partners(0), [1, last as u32]);
    assert_eq!(contacts.partners(last as u32), [0]);
}

/// Steps until the next rebuild, if the last element moves away by `step` in each.
fn steps_until_rebuilt(contacts: &mut Contacts<f32>, system: &mut System<f32>, step: f64) -> u32 {
    let (last, anchor) = (system.count - 1, contacts.anchor.clone());
    for steps in 1.. {
        shift(system, last..last + 1, DVec3::X * step);
        contacts.advance((step, 0.0), system, &[]);
        if contacts.anchor != anchor {
            return steps;
        }
    }
    unreachable!("it moves beyond any skin")
}

#[test]
fn lists_of_fast_elements_get_a_wider_skin() {
    let mut system = row();
    let mut contacts = Contacts::new(&system, &surfaces(), &[]);
    let narrow = contacts.skin();
    let mut until = |step| {
        let steps = steps_until_rebuilt(&mut contacts, &mut system, step);
        (steps, contacts.skin() / narrow)
    };
    let fast = 0.05;
    let (first, skin) = until(fast);
    assert!(skin > 2.9);
    let (next, skin) = until(fast);
    assert!(next > 2 * first && skin > 2.9, "{first} {next}");
    let (slow, skin) = until(5e-4);
    assert!(slow > MANY_STEPS && skin == 1.0, "{slow}");
    // Not so wide where most elements have complete shells, and not at all where sleep decides.
    contacts.exposed_of_all = 0;
    steps_until_rebuilt(&mut contacts, &mut system, fast);
    assert_eq!(contacts.skin(), FAST_SKIN * contacts.largest());
    contacts.set_skin(false);
    let steps = steps_until_rebuilt(&mut contacts, &mut system, fast);
    assert!(steps < FEW_STEPS && contacts.skin() == narrow);
}

#[test]
fn ends_of_a_bond_longer_than_both_radii_touch_where_it_broke() {
    let mut system = row();
    let bond = BondRow {
        ends: [0, LAST + 1],
        direction: [1.0, 0.0, 0.0],
        length: 3.0,
        class: 0,
        sigma_c: 1.0,
        tau_c: 1.0,
        id: 0,
    };
    system.bonds = Bonds::new(system.motion.len(), &[bond], system.rigid());
    let mut contacts = Contacts::new(&system, &surfaces(), &[]);
    // Farther apart than both radii and the skin, in two chunks.
    system.set_position(LAST as usize + 1, DVec3::Y * 2.9);
    assert_eq!(system.touch_once_broken((0, LAST + 1), 0), 2.9, "pressed");
    system.set_position(LAST as usize + 1, DVec3::Y * 3.1);
    let touch = system.touch_once_broken((0, LAST + 1), 0);
    assert_eq!(touch, 3.0, "stretched");
    system.bonds.unbond(0, touch);
    contacts.insert_broken(&system, 0, LAST + 1, touch);
    assert_eq!(contacts.partners(0), [1, LAST + 1]);
    contacts.rebuild(&system, &[]);
    assert_eq!(contacts.partners(0), [1, LAST + 1]);
    assert_eq!(contacts.partners(LAST + 1), [0]);
    // Inside a rigid piece the ends of a broken bond do not touch.
    let mut piece = vec![0; system.count];
    (piece[0], piece[LAST as usize + 1]) = (3, 3);
    system.set_rigid(RigidMask::new(piece));
    contacts.rebuild(&system, &[]);
    assert_eq!(contacts.partners(0), [1]);
    system.set_rigid(RigidMask::default());
    contacts.rebuild(&system, &[]);
    assert_eq!(contacts.partners(0), [1, LAST + 1]);
    // Ends of which one is removed do not touch.
    let mut marks = vec![true; system.motion.len()];
    marks[LAST as usize + 1] = false;
    let among = Candidates {
        pairs: marks.clone(),
        colliders: marks,
        exposure: None,
    };
    contacts.rebuild_among(&system, &[], Some(&among));
    assert_eq!(contacts.partners(0), [1]);
    contacts.rebuild(&system, &[]);
    assert_eq!(contacts.partners(0), [1, LAST + 1]);
    system.set_position(LAST as usize + 1, DVec3::Y * 3.4);
    contacts.rebuild(&system, &[]);
    assert_eq!(contacts.partners(0), [1], "beyond touch and skin");
}

/// Element 0 in a shell of twelve others, bonded to each, and two elements 2.4 and 2.8 away from it; the first bond has
/// this length.
fn shell(length: f32) -> System<f32> {
    let mut system = row();
    let mut bonds = Vec::with_capacity(12);
    for k in 1..=12 {
        let direction = match k {
            1..=6 => DVec3::new((f64::from(k)).cos(), (f64::from(k)).sin(), 0.0),
            _ => DVec3::new(0.0, (f64::from(k)).cos(), (f64::from(k)).sin()),
        };
        system.set_position(k as usize, 2.0 * direction);
        bonds.push(BondRow {
            ends: [0, k],
            direction: direction.as_vec3().to_array(),
            length: if k == 1 { length } else { 2.0 },
            class: 0,
            sigma_c: 1.0,
            tau_c: 1.0,
            id: k - 1,
        });
    }
    for (k, x) in [(13, 2.4), (14, -2.8)] {
        system.set_position(k, DVec3::new(x, 0.0, 0.1));
    }
    system.bonds = Bonds::new(system.motion.len(), &bonds, system.rigid());
    system
}

#[test]
fn elements_in_shells_are_listed_unless_nothing_can_reach_them() {
    let listed = |length: f32, skin: f64| {
        let mut contacts = Contacts::new(&shell(length), &surfaces(), &[]);
        contacts.skin = skin;
        contacts.rebuild(&shell(length), &[]);
        contacts.partners(0)
    };
    assert!(listed(2.0, FAST_SKIN).is_empty(), "in a close packing");
    assert_eq!(listed(2.2, FAST_SKIN), [13], "with longer bonds");
    assert_eq!(listed(2.0, WIDE_SKIN), [13, 14], "beyond second neighbours");
}
