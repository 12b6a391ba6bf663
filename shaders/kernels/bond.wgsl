// Constants of a bond class, read from the tables.

struct Class {
    stiffness: vec4<f32>, // E S, G S, G J, E I
    section: CriterionSection,
    damping: f32,
    spin_damping: f32,
}

override one_class: bool;

fn read_class(at: u32) -> Class {
    var k = 0u;
    if !one_class {
        k = CLASS_ROWS * bond_class(at);
    }
    let a = tables(k);
    let b = tables(k + 1u);
    let c = tables(k + 2u);
    return Class(a, CriterionSection(b.x, b.y, b.z, b.w, c.z), c.x, c.y);
}

fn class_stiffness(kind: Class, rest_length: f32) -> Stiffness {
    let k = kind.stiffness;
    return bond_stiffness(k.x, k.y, k.z, k.w, rest_length);
}
