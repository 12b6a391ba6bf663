// Cells and the faces between them, read from the columns.

// Whether there are one-layer walls, whose faces have an axis through the thickness.
override walls: bool;

fn cell_row(i: u32, row: u32) -> vec4<f32> {
    return cell_rows(row * launch.stride + i);
}

// A face at rest, always seen from the cell with the lower index.
struct FaceRest {
    arm_i: vec3<f32>,
    arm_j: vec3<f32>,
    normal: vec3<f32>,
    second: vec3<f32>,
    half_area: f32,
    traction: f32,
}

fn face_row(at: u32, row: u32) -> vec4<f32> {
    return bond_rest((row + 1u) * launch.slots * launch.stride + at);
}

fn read_face(at: u32) -> FaceRest {
    let a = face_row(at, FACE_ARM_I);
    let b = face_row(at, FACE_ARM_J);
    return FaceRest(a.xyz, b.xyz, face_row(at, FACE_NORMAL).xyz, face_row(at, FACE_SECOND).xyz, a.w, b.w);
}

// Both cells of a face, the one with the lower index first.
struct FaceEnds {
    lower: Motion,
    upper: Motion,
    // 1 if the lower cell is the one being computed, else −1.
    side: f32,
    turned: CellRotation,
    face: FaceConfiguration,
}

// Both cells compute a face from the lower cell's side, so that their loads are opposite to the last bit.
fn ends_of(i: u32, a: Motion, j: u32, rest: FaceRest) -> FaceEnds {
    let other = read_motion(j);
    let swapped = j < i;
    let lower = pick_motion(a, other, swapped);
    let upper = pick_motion(other, a, swapped);
    let line = motion_separation(upper.p, upper.low, lower.p, lower.low);
    let turned = cell_turned(lower.q, lower.unapplied);
    let face = cell_face(line, turned, upper.q, upper.unapplied, rest.arm_i, rest.arm_j);
    return FaceEnds(lower, upper, select(1.0, -1.0, swapped), turned, face);
}

fn fold_of(at: u32, ends: FaceEnds, rest: FaceRest) -> FaceFold {
    return cell_fold(ends.lower.q, ends.upper.q, rest.normal, face_row(at, FACE_THROUGH).xyz);
}

// Force and torque on the lower cell and torque on the upper one, without damping; and bending.
struct FaceLoads {
    load: FaceLoad,
    bend: FaceBending,
}

fn face_loads(i: u32, j: u32, at: u32, ends: FaceEnds, rest: FaceRest) -> FaceLoads {
    let own = cell_row(i, CELL_DILATION);
    let other = cell_row(j, CELL_DILATION);
    let load = cell_traction(ends.face, rest.traction, rest.half_area, own.x + other.x);
    let bending = face_row(at, FACE_BENDING).xyz;
    var bend = cell_bending(ends.turned, ends.upper.q, ends.upper.unapplied, rest.normal, rest.second, bending);
    if walls {
        bend.torque += fold_of(at, ends, rest).slope * ((own.y + other.y) * rest.half_area);
    }
    return FaceLoads(load, bend);
}

// σ and τ of a face.
fn face_stress(at: u32, loads: FaceLoads, rest: FaceRest) -> failure_stress_result {
    return failure_stress(face_carried(at, loads), face_section(at, rest));
}

fn face_carried(at: u32, loads: FaceLoads) -> BondLoad {
    return cell_transmitted(loads.load, loads.bend, face_row(at, FACE_MODULI).xyz);
}

fn face_section(at: u32, rest: FaceRest) -> CriterionSection {
    let inverse_area = 0.5 / rest.half_area;
    return CriterionSection(inverse_area, 1.0, 1.0, face_row(at, FACE_BENDING).w, inverse_area * face_row(at, FACE_MODULI).w);
}
