//! M2L: potentials on downward check surfaces due to upward equivalent densities, as a convolution on the
//! grid on which both surfaces lie.
//!
//! All levels are done at once, since the kernel is homogeneous. A slab of frequencies is done for all boxes
//! before the next slab.

use super::fourier::{Complex, Fourier, FourierScratch, LANES};
use super::lists::{DIRECTIONS, FarBox, JaggedRows, steps};
use super::surface::{CubeSurface, INNER};
use crate::parallel::prelude::*;
use crate::solve::wide::{self, Loop};

/// Densities or potentials at a point: the three components of P, and Q.
pub type Four = [f64; 4];

/// Number of boxes whose spectra are stored together.
const CHUNK: usize = 32;
/// Number of boxes that are transformed side by side.
const BOXES_AT_ONCE: usize = LANES / 4;

/// `LANES` frequencies of a box: real and imaginary part of each of the four components.
type Spectrum = [Complex; 4];

const ZERO_SPECTRUM: Spectrum = [[[0.0; LANES]; 2]; 4];

/// M2L operators for one number of surface points.
#[derive(Debug)]
pub struct Convolution {
    fourier: Fourier,
    grid: Vec<[u8; 3]>,
    /// Number of blocks of `LANES` frequencies in a slab.
    blocks: usize,
    /// Transformed kernels, by slab, block and direction.
    kernels: Vec<Complex>,
    /// Offset of the target from the source for each direction, in half sides.
    offsets: Vec<[f64; 3]>,
}

impl Convolution {
    /// Prepares the operators for the points of a surface.
    pub fn new(surface: &CubeSurface) -> Self {
        let fourier = Fourier::new(surface.side);
        let blocks = fourier.length.pow(2).div_ceil(LANES);
        let mut convolution = Convolution {
            kernels: vec![[[0.0; LANES]; 2]; fourier.side * blocks * DIRECTIONS],
            grid: surface.grid.clone(),
            fourier,
            blocks,
            offsets: (0..DIRECTIONS)
                .map(|k| steps(k).map(|step| 2.0 * f64::from(step)))
                .collect(),
        };
        let apart = |k: &usize| steps(*k).iter().any(|step| step.abs() > 1);
        let far: Vec<usize> = (0..DIRECTIONS).filter(apart).collect();
        for directions in far.chunks(LANES) {
            convolution.transform_kernels(directions);
        }
        convolution
    }

    /// Computes the kernels of at most `LANES` directions.
    fn transform_kernels(&mut self, directions: &[usize]) {
        let n = self.fourier.length;
        let spacing = 2.0 * INNER / (self.fourier.side - 1) as f64;
        let place = |k: usize, step: i32| {
            let k = if k < self.fourier.side {
                k as f64
            } else {
                k as f64 - n as f64
            };
            2.0 * f64::from(step) + spacing * k
        };
        let value = |at: usize, direction: usize| {
            let [x, y, z] = steps(direction);
            let [x, y, z] = [
                place(at % n, x),
                place(at / n % n, y),
                place(at / (n * n), z),
            ];
            1.0 / (x * x + y * y + z * z).sqrt()
        };
        let grid: Vec<[f64; LANES]> = (0..n.pow(3))
            .map(|at| {
                let lane = |k: usize| directions.get(k).map_or(0.0, |d| value(at, *d));
                std::array::from_fn(lane)
            })
            .collect();
        let mut scratch = FourierScratch::default();
        for slab in 0..self.fourier.side {
            self.fourier.whole(slab, &grid, &mut scratch);
            // The other half of the slabs is the complex conjugate of this one.
            let weight = if slab == 0 { 1.0 } else { 2.0 } / (n * n * n) as f64;
            for (k, value) in scratch.slab.iter().enumerate() {
                let row = (slab * self.blocks + k / LANES) * DIRECTIONS;
                for (lane, direction) in directions.iter().enumerate() {
                    let kernel = &mut self.kernels[row + direction];
                    (0..2).for_each(|part| kernel[part][k % LANES] = weight * value[part][lane]);
                }
            }
        }
    }

    /// Adds the potentials of the boxes in list V of each box. `densities` and `potentials` have one row of
    /// points for each box.
    pub fn add(&self, far: &JaggedRows<FarBox>, densities: &[Four], potentials: &mut [Four]) {
        let n = self.grid.len();
        let chunks = densities.len().div_ceil(n * CHUNK);
        let mut sources = vec![ZERO_SPECTRUM; chunks * CHUNK * self.blocks];
        let mut targets = sources.clone();
        for slab in 0..self.fourier.side {
            sources
                .par_chunks_mut(CHUNK * self.blocks)
                .zip(densities.par_chunks(CHUNK * n))
                .for_each_init(FourierScratch::default, |scratch, (spectra, densities)| {
                    self.forward(slab, densities, spectra, scratch);
                });
            targets
                .par_chunks_mut(CHUNK)
                .enumerate()
                .for_each(|(chunk_and_block, spectra)| {
                    let block = chunk_and_block % self.blocks;
                    let row = (slab * self.blocks + block) * DIRECTIONS;
                    wide::run(MultiplySpectra {
                        kernels: &self.kernels[row..][..DIRECTIONS],
                        offsets: &self.offsets,
                        far,
                        sources: &sources,
                        blocks: self.blocks,
                        block,
                        first: chunk_and_block / self.blocks * CHUNK,
                        boxes: potentials.len() / n,
                        targets: spectra,
                    });
                });
            potentials
                .par_chunks_mut(CHUNK * n)
                .zip(targets.par_chunks(CHUNK * self.blocks))
                .for_each_init(FourierScratch::default, |scratch, (potentials, spectra)| {
                    self.backward(slab, spectra, potentials, scratch);
                });
        }
    }

    /// Computes the spectra of the densities of a chunk of boxes.
    fn forward(
        &self,
        slab: usize,
        densities: &[Four],
        spectra: &mut [Spectrum],
        scratch: &mut FourierScratch,
    ) {
        let n = self.grid.len();
        let mut points = vec![[0.0; LANES]; n];
        for (pair, densities) in densities.chunks(BOXES_AT_ONCE * n).enumerate() {
            for (k, densities) in densities.chunks_exact(n).enumerate() {
                for (point, four) in points.iter_mut().zip(densities) {
                    point[4 * k..4 * k + 4].copy_from_slice(four);
                }
            }
            self.fourier.forward(slab, &self.grid, &points, scratch);
            for (block, values) in scratch.slab.chunks(LANES).enumerate() {
                for k in 0..BOXES_AT_ONCE {
                    let to = &mut spectra[block * CHUNK + BOXES_AT_ONCE * pair + k];
                    for (lane, value) in values.iter().enumerate() {
                        for c in 0..4 {
                            to[c][0][lane] = value[0][4 * k + c];
                            to[c][1][lane] = value[1][4 * k + c];
                        }
                    }
                }
            }
        }
    }

    /// Adds the contribution of a slab of spectra to the potentials of a chunk of boxes.
    fn backward(
        &self,
        slab: usize,
        spectra: &[Spectrum],
        potentials: &mut [Four],
        scratch: &mut FourierScratch,
    ) {
        let n = self.grid.len();
        let frequencies = self.fourier.length.pow(2);
        let mut points = vec![[0.0; LANES]; n];
        scratch.slab.resize(frequencies, [[0.0; LANES]; 2]);
        for (pair, potentials) in potentials.chunks_mut(BOXES_AT_ONCE * n).enumerate() {
            for (block, values) in scratch.slab.chunks_mut(LANES).enumerate() {
                for k in 0..BOXES_AT_ONCE {
                    let from = &spectra[block * CHUNK + BOXES_AT_ONCE * pair + k];
                    for (lane, value) in values.iter_mut().enumerate() {
                        for c in 0..4 {
                            value[0][4 * k + c] = from[c][0][lane];
                            value[1][4 * k + c] = from[c][1][lane];
                        }
                    }
                }
            }
            points.fill([0.0; LANES]);
            self.fourier
                .backward(slab, &self.grid, scratch, &mut points);
            for (k, potentials) in potentials.chunks_exact_mut(n).enumerate() {
                for (four, point) in potentials.iter_mut().zip(&points) {
                    (0..4).for_each(|c| four[c] += point[4 * k + c]);
                }
            }
        }
    }
}

/// Products of kernels and spectra, summed over the lists V of a chunk of boxes, for one block of
/// frequencies.
struct MultiplySpectra<'a> {
    kernels: &'a [Complex],
    offsets: &'a [[f64; 3]],
    far: &'a JaggedRows<FarBox>,
    sources: &'a [Spectrum],
    blocks: usize,
    block: usize,
    /// Index of the first box of the chunk, and number of all boxes.
    first: usize,
    boxes: usize,
    targets: &'a mut [Spectrum],
}

impl Loop for MultiplySpectra<'_> {
    #[inline(always)]
    fn run(self) {
        for (k, target) in self.targets.iter_mut().enumerate() {
            if self.first + k >= self.boxes {
                break;
            }
            let mut sum = ZERO_SPECTRUM;
            for far in &self.far[self.first + k] {
                let node = far.node as usize;
                let at = (node / CHUNK * self.blocks + self.block) * CHUNK + node % CHUNK;
                let direction = far.direction as usize;
                let (kernel, offset) = (&self.kernels[direction], self.offsets[direction]);
                add_product(kernel, &self.sources[at], offset, &mut sum);
            }
            *target = sum;
        }
    }
}

/// Adds kernel times densities. Q is relative to the centre of the box: relative to a centre at distance
/// `offset` (in half sides) it is Q − offset · P.
#[inline(always)]
fn add_product(kernel: &Complex, densities: &Spectrum, offset: [f64; 3], sum: &mut Spectrum) {
    let [re, im] = kernel;
    for k in 0..LANES {
        let mut q = [0.0; 2];
        // Q's shift uses the products of the other components.
        let [a, b] = [densities[3][0][k], densities[3][1][k]];
        q[0] += re[k] * a - im[k] * b;
        q[1] += re[k] * b + im[k] * a;
        for c in 0..3 {
            let [a, b] = [densities[c][0][k], densities[c][1][k]];
            let product = [re[k] * a - im[k] * b, re[k] * b + im[k] * a];
            for part in 0..2 {
                sum[c][part][k] += product[part];
                q[part] -= offset[c] * product[part];
            }
        }
        for part in 0..2 {
            sum[3][part][k] += q[part];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lists::direction;
    use super::*;

    /// Two boxes, three steps and one step apart along two axes, compared with the direct sums.
    #[test]
    fn the_convolution_is_the_sum() {
        let surface = CubeSurface::new(4);
        let n = surface.len();
        let convolution = Convolution::new(&surface);
        let offsets = [3, -1, 0];
        let row = vec![FarBox {
            node: 0,
            direction: direction(offsets) as u32,
        }];
        let far = JaggedRows::new([Vec::new(), row].into_iter());
        let densities: Vec<Four> = (0..2 * n)
            .map(|k| std::array::from_fn(|c| ((k * 7 + c * 3) % 11) as f64 - 4.0))
            .collect();
        let mut potentials = vec![[1.0; 4]; 2 * n];
        convolution.add(&far, &densities, &mut potentials);
        assert_eq!(potentials[..n], vec![[1.0; 4]; n]);
        for (i, found) in potentials[n..].iter().enumerate() {
            let mut exact = [1.0; 4];
            for (j, four) in densities[..n].iter().enumerate() {
                let (a, b) = (surface.point(i, INNER), surface.point(j, INNER));
                let d = [0, 1, 2].map(|k| a[k] - b[k] + 2.0 * f64::from(offsets[k]));
                let inverse = 1.0 / d.iter().map(|x| x * x).sum::<f64>().sqrt();
                let [x, y, z, q] = *four;
                let q = q - 6.0 * x + 2.0 * y;
                for (exact, value) in exact.iter_mut().zip([x, y, z, q]) {
                    *exact += inverse * value;
                }
            }
            for (found, exact) in found.iter().zip(exact) {
                assert!((found - exact).abs() < 1e-11, "{found} {exact}");
            }
        }
    }
}
