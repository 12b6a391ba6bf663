//! Discrete Fourier transforms of numbers on the grid of p³ padded to (2p − 1)³, eight grids side by side,
//! one slab of frequencies at a time.
//!
//! Grids this small and this empty are transformed by sums along each axis in less time than by fast
//! transforms: only p of 2p − 1 places hold anything, and the length need not be a product of small primes. A
//! slab is the frequencies of one number along z, so that the memory of spectra is a p-th of theirs. Grids
//! are real, so half the slabs do.

use std::f64::consts::TAU;

use crate::solve::wide::{self, Loop};

/// Grids side by side.
pub const LANES: usize = 8;
/// Real and imaginary parts.
pub type Complex = [[f64; LANES]; 2];

const ZERO: Complex = [[0.0; LANES]; 2];

/// Factors `e^{iφ}`, as cosine and sine.
type Table = Vec<[f64; 2]>;

/// Transforms for one p.
#[derive(Clone, Debug)]
pub struct Fourier {
    /// p.
    pub side: usize,
    /// 2p − 1.
    pub length: usize,
    /// e^{−2πi k x/length}, row k, x below `side`.
    forward: Table,
    /// The same with x below `length`.
    whole: Table,
    /// e^{+2πi k x/length}, row x below `side`, k.
    backward: Table,
}

/// Memory of a transform.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    first: Vec<Complex>,
    second: Vec<Complex>,
    /// Frequencies of a slab, `length·ky + kx`.
    pub slab: Vec<Complex>,
}

impl Fourier {
    /// For grids of `side` points an axis.
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

    /// Slab `kz` of what the points hold, whose places on the grid are given by axis.
    pub fn forward(&self, kz: usize, grid: &[[u8; 3]], points: &[[f64; LANES]], to: &mut Scratch) {
        wide::run(Forward {
            fourier: self,
            kz,
            grid,
            points,
            to,
        });
    }

    /// Slab `kz` of a full grid of length³, x fastest.
    pub fn whole(&self, kz: usize, grid: &[[f64; LANES]], to: &mut Scratch) {
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

    /// Adds to the points what a slab contributes to the real part.
    pub fn backward(
        &self,
        kz: usize,
        grid: &[[u8; 3]],
        from: &mut Scratch,
        points: &mut [[f64; LANES]],
    ) {
        wide::run(Backward {
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
/// input[i][j]`. The axes change places, so that the next sum is along the other one.
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

struct Forward<'a> {
    fourier: &'a Fourier,
    kz: usize,
    grid: &'a [[u8; 3]],
    points: &'a [[f64; LANES]],
    to: &'a mut Scratch,
}

impl Loop for Forward<'_> {
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

struct Backward<'a> {
    fourier: &'a Fourier,
    kz: usize,
    grid: &'a [[u8; 3]],
    from: &'a mut Scratch,
    points: &'a mut [[f64; LANES]],
}

impl Loop for Backward<'_> {
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
