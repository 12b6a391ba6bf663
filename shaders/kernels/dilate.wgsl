// Dilation of every cell from the gaps of its faces, and the bending moments on the faces of one-layer walls,
// for the next force pass.

// Whether this is for a frame's measurements instead of a step's force pass.
override measuring: bool;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    var at = MOVE;
    if measuring {
        at = CAPTURE;
    }
    if !allowed(at) {
        return;
    }
    for (var i = id.x; i < launch.count; i += groups.x * WORKGROUP) {
        dilate(i);
    }
}

fn dilate(i: u32) {
    let a = read_motion(i);
    let whole = masks_load(whole_at(i));
    // ε V, m³; Ω, m²; volume of the pyramids over broken faces, m³.
    var dilation = 0.0;
    var folding = 0.0;
    var free = 0.0;
    for (var slot = 0u; slot < launch.slots; slot += 1u) {
        let at = slot * launch.stride + i;
        let j = neighbour(at);
        if j == i {
            continue;
        }
        let rest = read_face(at);
        if (whole >> slot & 1u) == 0u {
            let arm = select(rest.arm_i, -rest.arm_j, j < i);
            free += rest.half_area * (2.0 / 3.0) * dot(rest.normal, arm);
            continue;
        }
        let ends = ends_of(i, a, j, rest);
        dilation += cell_dilation(ends.face, rest.half_area);
        if walls {
            folding += fold_of(at, ends, rest).angle * rest.half_area;
        }
    }
    let row = cell_row(i, CELL_DILATION);
    let lame = cell_row(i, CELL_MOMENTS).w;
    let volume = cell_row(i, CELL_INVERSE).w + cell_row(i, CELL_RESISTANCE).w * free;
    var bulk = 0.0;
    if volume > 0.0 {
        bulk = lame / volume;
    }
    cell_rows_set(CELL_DILATION * launch.stride + i, vec4<f32>(dilation * bulk, folding * bulk * row.w, bulk, row.w));
}
