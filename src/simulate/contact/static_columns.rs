//! Static friction of the pairs of a list, as columns. Lists without it have none.

use crate::math::{Lanes, Scalar};

/// Coefficients of static friction of listed pairs, and whether each slides.
#[derive(Clone, Debug, Default)]
pub struct StaticColumns<S> {
    coefficient: Vec<S>,
    /// 1 where a contact slides, else 0.
    slides: Vec<S>,
}

impl<S: Scalar> StaticColumns<S> {
    /// Columns of pairs that stick.
    pub fn new(coefficients: impl Iterator<Item = S>) -> Self {
        let coefficient: Vec<S> = coefficients.collect();
        StaticColumns {
            slides: vec![S::default(); coefficient.len()],
            coefficient,
        }
    }

    /// Coefficient of a pair.
    pub fn coefficient(&self, at: usize) -> S {
        self.coefficient[at]
    }

    /// Whether the contact of a pair slides.
    pub fn slides(&self, at: usize) -> bool {
        self.slides[at] > S::default()
    }

    /// Sets whether the contact of a pair slides.
    pub fn set_slides(&mut self, at: usize, slides: bool) {
        self.slides[at] = S::from_f64(f64::from(u8::from(slides)));
    }

    /// Inserts a pair that sticks.
    pub fn insert(&mut self, at: usize, coefficient: S) {
        self.coefficient.insert(at, coefficient);
        self.slides.insert(at, S::default());
    }

    /// Removes pairs from the end, or appends pairs that stick, until there are `count`.
    pub fn resize(&mut self, count: usize) {
        self.coefficient.resize(count, S::default());
        self.slides.resize(count, S::default());
    }

    /// Coefficients of consecutive pairs, and which of them slide.
    #[inline(always)]
    pub fn load<L: Lanes<Scalar = S>>(&self, at: usize) -> (L, L::Mask) {
        let slides = L::load(&self.slides[at..]);
        (L::load(&self.coefficient[at..]), L::zero().lt(slides))
    }

    /// Writes which of consecutive pairs slide.
    #[inline(always)]
    pub fn store<L: Lanes<Scalar = S>>(&mut self, at: usize, slides: L::Mask) {
        L::select(slides, L::splat(1.0), L::zero()).store(&mut self.slides[at..]);
    }
}
