// What colliders and clamps bear, summed up in whole multiples of a unit, so that the order of additions changes no bit.
//
// Words: elements that touch each collider at a frame; then rows of three areas. Rows: one a collider for every BEAR_BLOCK elements, so
// that few meet at a word, then one an element that a clamp holds. An area: force and torque, six numbers of three words.

const BEAR_BLOCK: u32 = 64u;
const NUMBERS: u32 = 6u;
const NUMBER_WORDS: u32 = 3u;
const AREA_WORDS: u32 = NUMBERS * NUMBER_WORDS;
const ROW_WORDS: u32 = 3u * AREA_WORDS;

// Areas: steps that count in full; the last of an advance, which kicks by half; the loads before the first step.
const WITHIN: u32 = 0u;
const LAST: u32 = 1u;
const BEGINNING: u32 = 2u;

fn bear_row(row: u32) -> u32 {
    return launch.colliders + row * ROW_WORDS;
}

fn bear_rows_of_colliders() -> u32 {
    return (launch.stride + BEAR_BLOCK - 1u) / BEAR_BLOCK * launch.colliders;
}

fn add_words(at: u32, low: u32, mid: u32, high: u32) {
    let over_low = select(0u, 1u, borne_add(at, low) + low < low);
    let more = mid + over_low;
    // Not both of these: a sum that is zero adds nothing.
    let wrapped = select(0u, 1u, more < mid);
    let over_mid = select(0u, 1u, borne_add(at + 1u, more) + more < more);
    borne_add(at + 2u, high + wrapped + over_mid);
}
