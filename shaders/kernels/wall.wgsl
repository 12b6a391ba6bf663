// Colliders at the moment of a step.

// A collider's row in the table of poses: position and kind, low words of the position, rotation, velocity, spin, shape.
const POSE_ROWS: u32 = 6u;
const HALF_SPACE: u32 = 0u;
const CUBOID: u32 = 1u;
const SPHERE: u32 = 2u;
const CYLINDER: u32 = 3u;

struct Wall {
    nearest: Nearest,
    velocity: vec3<f32>,
}

fn wall_at(collider: u32, p: vec3<f32>, low: vec3<f32>) -> Wall {
    let at = (dispatch.step * launch.colliders + collider) * POSE_ROWS;
    let place = poses(at);
    let rotation = poses(at + 2u);
    let shape = poses(at + 5u);
    let arm = motion_separation(p, low, place.xyz, poses(at + 1u).xyz);
    let local = quat_rotate(vec4<f32>(-rotation.xyz, rotation.w), arm);
    var nearest: Nearest;
    switch bitcast<u32>(place.w) {
        case HALF_SPACE: { nearest = solid_half_space(local, shape.xyz); }
        case CUBOID: { nearest = solid_cuboid(local, shape.xyz); }
        case SPHERE: { nearest = solid_sphere(local, shape.x); }
        default: { nearest = solid_cylinder(local, shape.x, shape.y); }
    }
    nearest.normal = quat_rotate(rotation, nearest.normal);
    return Wall(nearest, solid_surface_velocity(arm, nearest, poses(at + 3u).xyz, poses(at + 4u).xyz));
}
