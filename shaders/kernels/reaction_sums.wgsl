// What colliders and clamps bear, summed up in whole multiples of a unit, so that the order of additions changes no bit.
//
// Words: elements that touch each collider at a frame; then rows of three areas. Rows: one a collider for every REACTION_BLOCK elements, so
// that few meet at a word, then one an element that a clamp holds. An area: force and torque, WRENCH_COMPONENTS numbers of COMPONENT_WORDS words.
// Areas: FULL_STEPS, steps that count in full; LAST_STEP, the last of an advance, which kicks by half; START_LOADS, the loads before the first step.

fn reaction_row(row: u32) -> u32 {
    return launch.colliders + row * REACTION_ROW_WORDS;
}

fn collider_reaction_rows() -> u32 {
    return (launch.stride + REACTION_BLOCK - 1u) / REACTION_BLOCK * launch.colliders;
}

fn add_words(at: u32, low: u32, mid: u32, high: u32) {
    let over_low = select(0u, 1u, reactions_add(at, low) + low < low);
    let more = mid + over_low;
    // Not both of these: a sum that is zero adds nothing.
    let wrapped = select(0u, 1u, more < mid);
    let over_mid = select(0u, 1u, reactions_add(at + 1u, more) + more < more);
    reactions_add(at + 2u, high + wrapped + over_mid);
}
