//! Rows of ghosts in messages, written and read by all threads of a rank.

use rayon::prelude::*;

use crate::math::Scalar;
use crate::math::lanes::LaneRow;
use crate::simulate::bonded::system::{MotionRow, TailRow};

/// Rows that one thread writes or reads at a time.
const PART: usize = 2048;

/// Bytes of the row of an element: motion and tail.
pub fn width<S>() -> usize {
    size_of::<MotionRow<S>>() + size_of::<TailRow<S>>()
}

/// Writes the rows of these elements.
pub fn write<S: Scalar>(
    elements: &[u32],
    (motion, tail): (&[MotionRow<S>], &[TailRow<S>]),
    bytes: &mut Vec<u8>,
) {
    let width = width::<S>();
    bytes.resize(elements.len() * width, 0);
    let parts = bytes.par_chunks_mut(PART * width);
    parts
        .zip(elements.par_chunks(PART))
        .for_each(|(bytes, elements)| {
            for (row, &element) in bytes.chunks_exact_mut(width).zip(elements) {
                let (to_motion, to_tail) = row.split_at_mut(size_of::<MotionRow<S>>());
                to_motion.copy_from_slice(bytemuck::bytes_of(&motion[element as usize].0));
                to_tail.copy_from_slice(bytemuck::bytes_of(&tail[element as usize].0));
            }
        });
}

/// Reads the rows of these elements, which are in ascending order.
pub fn read<S: Scalar>(
    elements: &[u32],
    bytes: &[u8],
    (mut motion, mut tail): (&mut [MotionRow<S>], &mut [TailRow<S>]),
) {
    let width = width::<S>();
    let mut parts = Vec::with_capacity(elements.len().div_ceil(PART));
    let mut first = 0;
    for (elements, bytes) in elements.chunks(PART).zip(bytes.chunks(PART * width)) {
        let end = elements.last().map_or(first, |&last| last as usize + 1);
        let (own_motion, own_tail);
        (own_motion, motion) = motion.split_at_mut(end - first);
        (own_tail, tail) = tail.split_at_mut(end - first);
        parts.push((elements, bytes, first, own_motion, own_tail));
        first = end;
    }
    parts
        .into_par_iter()
        .for_each(|(elements, bytes, first, motion, tail)| {
            for (row, &element) in bytes.chunks_exact(width).zip(elements) {
                let (of_motion, of_tail) = row.split_at(size_of::<MotionRow<S>>());
                let at = element as usize - first;
                motion[at] = LaneRow(bytemuck::pod_read_unaligned(of_motion));
                tail[at] = LaneRow(bytemuck::pod_read_unaligned(of_tail));
            }
        });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_of_many_rows_is_read_into_them_alone() {
        let count = 3 * PART + 100;
        let row = |i: usize| LaneRow([i as f64; 16]);
        let motion: Vec<MotionRow<f64>> = (0..count).map(row).collect();
        let tail: Vec<TailRow<f64>> = (0..count).map(|i| LaneRow([-(i as f64); 4])).collect();
        let sent = |i: &u32| i % 7 != 3;
        let elements: Vec<u32> = (0..count as u32).filter(sent).collect();
        // From an earlier, longer message.
        let mut bytes = vec![1; 200 * count];
        write(&elements, (&motion, &tail), &mut bytes);
        assert_eq!(bytes.len(), elements.len() * 160);
        let mut read_motion = vec![LaneRow([0.5; 16]); count];
        let mut read_tail = vec![LaneRow([0.5; 4]); count];
        read(&elements, &bytes, (&mut read_motion, &mut read_tail));
        for i in 0..count {
            let [first, last] = [read_motion[i].0[0], read_tail[i].0[3]];
            let expected = if sent(&(i as u32)) {
                [i as f64, -(i as f64)]
            } else {
                [0.5; 2]
            };
            assert_eq!([first, last], expected, "{i}");
        }
        read::<f64>(&[], &[], (&mut [], &mut []));
    }
}
