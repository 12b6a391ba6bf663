//! Discrete Fourier transforms of real values on a grid of p³ padded to (2p − 1)³, eight grids side by side,
//! one slab of frequencies at a time.
//!
//! For grids this small and this empty, sums along each axis take less time than fast transforms: only p of
//! 2p − 1 points along an axis are not zero, and the length need not be a product of small primes. A slab
//! contains all frequencies with one frequency number along z, so that spectra need only a fraction 1/p of
//! the memory. The values are real, so half of the slabs suffice.

use std::f64::consts::TAU;

use crate::solve::wide::{self, Loop};

/// Number of grids side by side.
pub const LANES: usize = 8;
/// Real and imaginary parts of one value of each grid.
pub type Complex = [[f64; LANES]; 2];

const ZERO: Complex = [[0.0; LANES]; 2];

/// Factors `e^{iφ}`, as cosine and sine.
type PhaseFactors = Vec<[f64; 2]>;

/// Transforms for one p.
#[derive(Clone, Debug)]
pub struct Fourier {
    /// p, points along an axis.
    pub side: usize,
    /// 2p − 1, points along an axis of the padded grid.
    pub length: usize,
    /// e^{−2πi k x/length} in row k and column x, x below `side`.
    forward: PhaseFactors,
    /// e^{−2πi k x/length} in row k and column x, x below `length`.
    whole: PhaseFactors,
    /// e^{+2πi k x/length} in row x and column k, x below `side`.
    backward: PhaseFactors,
}

/// Scratch buffers of a transform.
#[derive(Clone, Debug, Default)]
pub struct FourierScratch {
    first: Vec<Complex>,
    second: Vec<Complex>,
    /// Frequencies of a slab, at index `length·ky + kx`.
    pub slab: Vec<Complex>,
}

impl Fourier {
    /// Prepares transforms of grids with `side` points along an axis.
    pub fn new(side: usize) -> Self {
        let length = 2 * side - 1;
        let table = |rows: usize, columns: usize, sign: f64| {
            let factor = |k: usize| {
                let turn = (k / columns * (k % columns) % length) as f64 / length as f64;
                [(TAU * turn).cos(), sign * (TAU * turn).sin()]
            };
            (0..rows * columns).map(factor).collect()
        };
        Fourier {
            side,
            length,
            forward: table(length, side, -1.0),
            whole: table(length, length, -1.0),
            backward: table(side, length, 1.0),
        }
    }

    /// Transforms values at points of the grid to slab `kz`. `grid`: indices of each point by axis.
    pub fn forward(
        &self,
        kz: usize,
        grid: &[[u8; 3]],
        points: &[[f64; LANES]],
        to: &mut FourierScratch,
    ) {
        wide::run(ForwardTransform {
            fourier: self,
            kz,
            grid,
            points,
            to,
        });
    }

    /// Transforms a full grid of length³, with x varying fastest, to slab `kz`.
    pub fn whole(&self, kz: usize, grid: &[[f64; LANES]], to: &mut FourierScratch) {
        let plane = self.length * self.length;
        to.first.clear();
        to.first.resize(plane, ZERO);
        let factors = &self.whole[kz * self.length..][..self.length];
        for (plane, factor) in grid.chunks_exact(plane).zip(factors) {
            for (sum, value) in to.first.iter_mut().zip(plane) {
                add_multiple(sum, *factor, value);
            }
        }
        let n = self.length;
        to.second.resize(n * n, ZERO);
        to.slab.resize(n * n, ZERO);
        contract(&self.whole, n, &to.first, &mut to.second);
        contract(&self.whole, n, &to.second, &mut to.slab);
    }

    /// Adds the contribution of a slab to the values at the points; only their real part is needed.
    pub fn backward(
        &self,
        kz: usize,
        grid: &[[u8; 3]],
        from: &mut FourierScratch,
        points: &mut [[f64; LANES]],
    ) {
        wide::run(BackwardTransform {
            fourier: self,
            kz,
            grid,
            from,
            points,
        });
    }
}

/// `sum += factor · value`.
#[inline(always)]
fn add_multiple(sum: &mut Complex, factor: [f64; 2], value: &[f64; LANES]) {
    for k in 0..LANES {
        sum[0][k] += factor[0] * value[k];
        sum[1][k] += factor[1] * value[k];
    }
}

/// Sums along the first axis of `input`, which has `count` rows: `output[j][o] = Σ_i table[o][i]
/// input[i][j]`. The axes are exchanged, so that the next sum is along the other one.
#[inline(always)]
fn contract(table: &[[f64; 2]], count: usize, input: &[Complex], output: &mut [Complex]) {
    let width = input.len() / count;
    let outputs = table.len() / count;
    for j in 0..width {
        for o in 0..outputs {
            let factors = &table[o * count..][..count];
            let mut sum = ZERO;
            for i in 0..count {
                let (value, [c, s]) = (&input[i * width + j], factors[i]);
                for k in 0..LANES {
                    sum[0][k] += c * value[0][k] - s * value[1][k];
                    sum[1][k] += c * value[1][k] + s * value[0][k];
                }
            }
            output[j * outputs + o] = sum;
        }
    }
}

struct ForwardTransform<'a> {
    fourier: &'a Fourier,
    kz: usize,
    grid: &'a [[u8; 3]],
    points: &'a [[f64; LANES]],
    to: &'a mut FourierScratch,
}

impl Loop for ForwardTransform<'_> {
    #[inline(always)]
    fn run(self) {
        let (n, p) = (self.fourier.length, self.fourier.side);
        let to = self.to;
        to.first.clear();
        to.first.resize(p * p, ZERO);
        to.second.resize(p * n, ZERO);
        to.slab.resize(n * n, ZERO);
        let factors = &self.fourier.forward[self.kz * p..][..p];
        for (place, value) in self.grid.iter().zip(self.points) {
            let [x, y, z] = place.map(usize::from);
            add_multiple(&mut to.first[y * p + x], factors[z], value);
        }
        contract(&self.fourier.forward, p, &to.first, &mut to.second);
        contract(&self.fourier.forward, p, &to.second, &mut to.slab);
    }
}

struct BackwardTransform<'a> {
    fourier: &'a Fourier,
    kz: usize,
    grid: &'a [[u8; 3]],
    from: &'a mut FourierScratch,
    points: &'a mut [[f64; LANES]],
}

impl Loop for BackwardTransform<'_> {
    #[inline(always)]
    fn run(self) {
        let (n, p) = (self.fourier.length, self.fourier.side);
        let from = self.from;
        from.second.resize(p * n, ZERO);
        from.first.resize(p * p, ZERO);
        contract(&self.fourier.backward, n, &from.slab, &mut from.second);
        contract(&self.fourier.backward, n, &from.second, &mut from.first);
        for (place, value) in self.grid.iter().zip(self.points) {
            let [x, y, z] = place.map(usize::from);
            let (sum, [c, s]) = (
                &from.first[y * p + x],
                self.fourier.backward[z * n + self.kz],
            );
            for k in 0..LANES {
                value[k] += c * sum[0][k] - s * sum[1][k];
            }
        }
    }
}
