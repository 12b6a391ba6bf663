// Colliders at the time of a step.

struct ColliderSurface {
    nearest: Nearest,
    velocity: vec3<f32>,
}

fn collider_at(collider: u32, p: vec3<f32>, low: vec3<f32>) -> ColliderSurface {
    let at = (dispatch.step * launch.colliders + collider) * POSE_ROWS;
    let place = poses(at + POSE_PLACE);
    let rotation = poses(at + POSE_ROTATION);
    let shape = poses(at + POSE_SHAPE);
    let arm = motion_separation(p, low, place.xyz, poses(at + POSE_LOW).xyz);
    let local = quat_rotate(vec4<f32>(-rotation.xyz, rotation.w), arm);
    // Generated from the list of solids in solids.rs.
    var nearest = nearest_of(u32(place.w), local, shape.xyz);
    nearest.normal = quat_rotate(rotation, nearest.normal);
    return ColliderSurface(nearest, solid_surface_velocity(arm, nearest, poses(at + POSE_VELOCITY).xyz, poses(at + POSE_SPIN).xyz));
}
