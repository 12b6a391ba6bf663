// Reactions of colliders and clamps, summed as integer multiples of a unit, so that the order of additions
// does not matter.
//
// Layout: the number of elements that touch each collider at a frame, then the rows. There is one row per
// collider for every REACTION_BLOCK elements, so that few threads contend for a word, then one row per held
// element. A row has three accumulators, each a force and a torque: WRENCH_COMPONENTS numbers of
// COMPONENT_WORDS words. FULL_STEPS sums the steps that count in full, LAST_STEP holds the last step of an
// advance, whose kick is only half done, START_LOADS the loads before the first step.

fn reaction_row(row: u32) -> u32 {
    return launch.colliders + row * REACTION_ROW_WORDS;
}

fn collider_reaction_rows() -> u32 {
    return (launch.stride + REACTION_BLOCK - 1u) / REACTION_BLOCK * launch.colliders;
}

fn add_words(at: u32, low: u32, mid: u32, high: u32) {
    let over_low = select(0u, 1u, reactions_add(at, low) + low < low);
    let more = mid + over_low;
    // These cannot both occur: adding zero carries nothing.
    let wrapped = select(0u, 1u, more < mid);
    let over_mid = select(0u, 1u, reactions_add(at + 1u, more) + more < more);
    reactions_add(at + 2u, high + wrapped + over_mid);
}
