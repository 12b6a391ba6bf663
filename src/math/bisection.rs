//! Inversion of a function by bisection.

/// Argument, up to 1e6, at which a function is `value`. It falls from above that at 0.
pub fn argument_of(value: f64, falling: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while falling(high) > value && high < 1e6 {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if falling(middle) > value {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}
