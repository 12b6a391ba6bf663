// Energy that a face releases as it breaks: not computed, as it needs the dilation of both cells.
fn released(i: u32, a: Motion, at: u32) -> f32 {
    return 0.0;
}
