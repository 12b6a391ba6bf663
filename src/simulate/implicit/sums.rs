//! Force and torque, or translation and rotation, of an element.

/// Three of translation, three of rotation.
pub type Six = [f64; 6];

/// `a += b`.
#[inline(always)]
pub fn add(a: &mut Six, b: &Six) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += b;
    }
}
