//! All pieces of a run, and what decides about the elements that are awake.

use std::ops::Range;

use glam::DVec3;

use crate::math::Scalar;
use crate::parallel::prelude::*;
use crate::simulate::bonded::bonds::BLOCK;
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded::rigid_mask::RigidMask;
use crate::simulate::bonded::system::{LoadRow, System};
use crate::simulate::contact::chunk::SpringEntry;
#[cfg(doc)]
use crate::simulate::contact::lists::Contacts;
use crate::simulate::contact::rebuild::Candidates;
use crate::simulate::scene::rigid_body::Fields;
use crate::simulate::sleep::piece::{Piece, part};
use crate::simulate::sleep::strength::{ElementBonds, LocalStrength, Strength};
use crate::simulate::sleep::watched::Watched;
use crate::spec::{Region, SleepLimits};

/// Pieces per task: fewer are not worth waking a thread for.
const SERIAL: usize = 256;

/// The pieces of a run.
#[derive(Clone, Debug)]
pub struct Sleep<S> {
    /// Limits by which fragments fall asleep and wake.
    pub limits: SleepLimits,
    /// All pieces, by ascending number.
    pub pieces: Vec<Piece>,
    /// Springs of contacts that are not listed: between pieces at rest, between these and colliders, and inside a
    /// piece, between the faces of its cracks: those as they were when it was made.
    pub unlisted_springs: Vec<SpringEntry<S>>,
    /// Soft contacts among these, as [`Contacts::soft`] tells them.
    pub unlisted_soft: Vec<([u32; 2], S)>,
    /// Kinetic energy that left the motion since the start, J.
    pub rigidified: f64,
    /// Largest kinetic energy that all elements had together so far, as far as it was looked at, J.
    pub most_kinetic: f64,
    /// Last step in which a fragment of each element was not calm.
    pub unrest: Vec<u64>,
    /// Stresses of each element's bonds since then.
    pub watched: Vec<Watched>,
    /// Number of the next piece.
    pub next_number: u32,
    /// Bounds of the world beyond which fragments are removed.
    pub bounds: Option<Region>,
    /// Energy of motion that removed fragments took along since the start, J.
    pub removed_energy: f64,
    /// Place of each element's piece in `pieces` plus one; 0 for elements that are awake.
    piece_of: Vec<u32>,
    /// Properties of the bonds of each element; `None` for elements that never sleep.
    bonds: Vec<Option<ElementBonds>>,
    /// Whether all elements of each chunk are asleep.
    quiet: Vec<bool>,
    /// Runs of blocks of elements with one that is awake, ascending: first element and end.
    awake_runs: Vec<[u32; 2]>,
    /// Number of elements that are awake.
    awake: usize,
    fields: Fields,
    /// Mass of all elements that are not clamped, kg.
    mass: f64,
    /// Length of the step whose second kick is due, s.
    open_step: f64,
}

impl<S: Scalar> Sleep<S> {
    /// No pieces yet. Elements for which `held` is true never sleep, nor do clamped ones and those with a
    /// bond that cannot break. `bodies` is the number of bodies, whose numbers rigid bodies have.
    pub fn new(
        limits: &SleepLimits,
        (system, rest): (&System<S>, &RestData),
        held: &[bool],
        bodies: usize,
        drag: f64,
    ) -> Self {
        let bonds = (0..system.count).into_par_iter().map(|i| {
            let is_free = !held[i] && rest.inverse_mass[i] > 0.0;
            is_free.then(|| ElementBonds::of(system, rest, i)).flatten()
        });
        Sleep {
            limits: limits.clone(),
            pieces: Vec::new(),
            unlisted_springs: Vec::new(),
            unlisted_soft: Vec::new(),
            rigidified: 0.0,
            most_kinetic: 0.0,
            unrest: vec![0; system.count],
            watched: vec![Watched::NEVER; system.count],
            next_number: bodies as u32 + 1,
            bounds: None,
            removed_energy: 0.0,
            piece_of: vec![0; system.count],
            bonds: bonds.collect(),
            quiet: Vec::new(),
            awake_runs: Vec::new(),
            awake: system.count,
            fields: Fields {
                gravity: rest.gravity,
                drag,
            },
            mass: moving_mass(rest),
            open_step: 0.0,
        }
    }

    /// Whether an element is asleep.
    pub fn is_asleep(&self, element: usize) -> bool {
        self.piece_of.get(element).is_some_and(|&piece| piece != 0)
    }

    /// Index in `pieces` of the piece of an element; `None` if it is awake.
    pub fn piece_of(&self, element: u32) -> Option<usize> {
        let piece = self.piece_of[element as usize] as usize;
        piece.checked_sub(1)
    }

    /// Whether an element belongs to a piece at rest.
    pub fn is_still(&self, element: u32) -> bool {
        self.piece_of(element)
            .is_some_and(|piece| self.pieces[piece].still)
    }

    /// Properties of the bonds of an element; `None` if it never sleeps.
    pub fn bonds(&self, element: usize) -> Option<&ElementBonds> {
        self.bonds[element].as_ref()
    }

    /// The pieces, the limits by which they wake, and the strength of their bonds.
    pub fn split(&mut self) -> (&mut [Piece], &SleepLimits, LocalStrength<'_>) {
        let strength = LocalStrength {
            bonds: &self.bonds,
            watched: &self.watched,
        };
        (&mut self.pieces, &self.limits, strength)
    }

    /// Use of strength per closing speed of an impact on an element, s/m.
    pub fn impact(&self, system: &System<S>, element: u32) -> f64 {
        let strength = LocalStrength {
            bonds: &self.bonds,
            watched: &self.watched,
        };
        strength.impact(system, element)
    }

    /// Whether a chunk, given by its first element, has no element that is awake.
    pub fn is_quiet(&self, chunk: usize) -> bool {
        self.quiet.get(chunk).copied().unwrap_or(false)
    }

    /// The blocks of elements within a chunk that have one that is awake, as runs of elements of the chunk.
    pub fn awake_runs(&self, first: usize, count: usize) -> impl Iterator<Item = Range<usize>> {
        let end = first + count;
        let from = self
            .awake_runs
            .partition_point(|run| run[1] as usize <= first);
        let runs = self.awake_runs[from..]
            .iter()
            .map(|run| run.map(|at| at as usize));
        let runs = runs.take_while(move |run| run[0] < end);
        runs.map(move |[from, to]| from.max(first) - first..to.min(end) - first)
    }

    /// Number of elements that are awake.
    pub fn awake(&self) -> usize {
        self.awake
    }

    /// Acceleration of gravity, m/s², and drag, 1/s.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// What a load may do at most to a fragment that was watched and whose elements lie within `reach` (m) of its
    /// centre; `None` for a single element.
    pub fn strength(&self, elements: &[u32], reach: f64) -> Option<Strength> {
        let bonds = elements.iter().filter_map(|&i| {
            let left = self.watched[i as usize].left();
            self.bonds(i as usize).map(|bonds| (bonds, left))
        });
        (elements.len() > 1).then(|| Strength::of(bonds, reach))
    }

    /// Adds a sample of the largest stress over strength of the bonds of each element that is awake.
    pub fn watch(&mut self, uses: &[f64]) {
        for ((watched, used), piece) in self.watched.iter_mut().zip(uses).zip(&self.piece_of) {
            if *piece == 0 {
                watched.add(*used);
            }
        }
    }

    /// Largest kinetic energy of vibration that a fragment of this mass (kg) may lose when it falls asleep, J.
    pub fn most_lost(&self, mass: f64) -> f64 {
        let left = self.limits.loss * self.most_kinetic - self.rigidified;
        0.5 * left.max(0.0) * mass / self.mass
    }

    /// Energy of vibration that pieces hold until they wake, J.
    pub fn held(&self) -> f64 {
        let pieces = self.pieces.iter();
        pieces.fold(0.0, |sum, piece| sum + piece.held.energy)
    }

    /// Looks at the kinetic energy of all elements; pieces must be up to date, and so must what is awake.
    pub fn note_kinetic(&mut self, system: &System<S>, rest: &RestData) {
        let asleep: f64 = self.pieces.iter().map(Piece::kinetic).sum();
        let awake = (0..system.count).filter(|&i| !self.is_asleep(i) && rest.inverse_mass[i] > 0.0);
        let awake: f64 = awake
            .map(|i| {
                let part = part(system, rest, i);
                part.kinetic(part.velocity, part.spin)
            })
            .sum();
        self.most_kinetic = self.most_kinetic.max(asleep + awake);
    }

    /// Adds a piece.
    pub fn add(&mut self, piece: Piece) {
        self.next_number = self.next_number.max(piece.number + 1);
        self.pieces.push(piece);
    }

    /// Recomputes what follows from the list of pieces: the mask of the system, rows of inverse mass, and
    /// which chunks are quiet.
    pub fn mask(&mut self, system: &mut System<S>, load: &mut [LoadRow<S>], rest: &RestData) {
        self.index(system);
        let mut mask = system.rigid().pieces().to_vec();
        mask.resize(system.count, 0);
        for i in 0..system.count {
            let piece = self.piece_of(i as u32).map(|at| &self.pieces[at]);
            let Some(piece) = piece else {
                // A rigid body that a clamp holds is no piece, but stays rigid.
                if self.bonds[i].is_some() {
                    mask[i] = 0;
                    system.inverse_mass[i] = S::from_f64(rest.inverse_mass[i]);
                    load[i].0[3] = S::from_f64(rest.inverse_mass[i]);
                    load[i].0[7] = S::from_f64(rest.inverse_inertia[i]);
                }
                continue;
            };
            mask[i] = piece.number;
            system.inverse_mass[i] = match piece.still {
                true => S::default(),
                false => S::from_f64(piece.body.inverse_mass),
            };
            (load[i].0[3], load[i].0[7]) = (S::default(), S::default());
        }
        system.set_rigid(RigidMask::new(mask));
    }

    /// Recomputes which piece each element belongs to, and which chunks and blocks are awake.
    pub fn index(&mut self, system: &System<S>) {
        self.piece_of.fill(0);
        for (at, piece) in (1..).zip(&self.pieces) {
            for &element in &piece.elements {
                self.piece_of[element as usize] = at;
            }
        }
        let chunks = self.piece_of.chunks(system.chunk);
        self.quiet = chunks.map(|chunk| !chunk.contains(&0)).collect();
        let awake = self.piece_of.iter().filter(|&&piece| piece == 0);
        self.awake = awake.count();
        self.awake_runs.clear();
        let blocks = self.piece_of.chunks(BLOCK).map(|block| block.contains(&0));
        for (at, _) in (0..).zip(blocks).filter(|(_, is_awake)| *is_awake) {
            let (first, end) = (at * BLOCK as u32, (at + 1) * BLOCK as u32);
            match self.awake_runs.last_mut() {
                Some(run) if run[1] == first => run[1] = end,
                _ => self.awake_runs.push([first, end]),
            }
        }
    }

    /// Lists for each piece the elements with listed contacts, which `marks` marks.
    pub fn set_near(&mut self, marks: &[bool]) {
        let pieces = self.pieces.par_iter_mut().with_min_len(SERIAL);
        pieces.for_each(|piece| {
            let all = (0..).zip(&piece.elements);
            let near = all.filter(|(_, element)| marks[**element as usize]);
            piece.near = near.map(|(k, _)| k).collect();
        });
    }

    /// Gives the second kick of the last step (`close`), then the first kick and the drift of a step of `dt`
    /// seconds (`open`). Returns the largest distance that an element moved, m.
    pub fn advance(&mut self, (close, open): (bool, bool), load: &[LoadRow<S>], dt: f64) -> f64 {
        let (fields, last) = (self.fields, self.open_step);
        if open {
            self.open_step = dt;
        }
        let pieces = self.pieces.par_iter_mut().with_min_len(SERIAL);
        let travels: Vec<f64> = pieces
            .map(|piece| {
                if piece.still || piece.apart {
                    return 0.0;
                }
                let wrench = piece.wrench(load);
                if close {
                    piece.body.kick(wrench, &fields, last);
                }
                if !open {
                    return 0.0;
                }
                piece.body.kick(wrench, &fields, dt);
                let travel = piece.fastest() * dt;
                piece.body.drift_long(dt);
                travel
            })
            .collect();
        travels.into_iter().fold(0.0, f64::max)
    }

    /// The first piece whose motion is not finite.
    pub fn not_finite(&self) -> Option<&Piece> {
        self.pieces.iter().find(|piece| {
            let moving = &piece.body.moving;
            let all = moving.displacement + moving.velocity + moving.momentum;
            !(all.is_finite() && moving.rotation.is_finite())
        })
    }

    /// Sets positions and velocities of the elements with listed contacts.
    pub fn place_near(&self, system: &mut System<S>) {
        for piece in self
            .pieces
            .iter()
            .filter(|piece| !(piece.still || piece.apart))
        {
            piece.place_near(system);
        }
    }

    /// Sets positions, rotations and velocities of all elements that are asleep and move.
    pub fn place_all(&self, system: &mut System<S>) {
        for piece in self.pieces.iter().filter(|piece| !piece.still) {
            piece.place_all(system);
        }
    }

    /// Sets positions and velocities of the candidates that are asleep and move.
    pub fn place_candidates(&self, candidates: &Candidates, system: &mut System<S>) {
        for piece in self.pieces.iter().filter(|piece| !piece.still) {
            piece.place_where(|i| candidates.contains(i as usize), system);
        }
    }

    /// Clears the loads of the elements with listed contacts in a quiet chunk.
    pub fn clear_loads(&self, near: &[u32], first: usize, load: &mut [LoadRow<S>]) {
        let from = near.partition_point(|&element| (element as usize) < first);
        let end = first + load.len();
        let here = near[from..].iter().copied();
        for element in here.take_while(|&element| (element as usize) < end) {
            load[element as usize - first].clear_loads();
        }
    }

    /// Whether anything moves without being awake.
    pub fn anything_moves(&self) -> bool {
        self.pieces.iter().any(|piece| !piece.still)
    }

    /// Total momentum, kg m/s, and angular momentum about the origin, kg m²/s, of all pieces.
    pub fn momenta(&self) -> (DVec3, DVec3) {
        let zero = (DVec3::ZERO, DVec3::ZERO);
        self.pieces.iter().fold(zero, |(p, l), piece| {
            let moving = &piece.body.moving;
            let own = moving.velocity / piece.body.inverse_mass;
            (p + own, l + moving.momentum + piece.centre().cross(own))
        })
    }
}

/// Mass of all elements that are not clamped, kg.
fn moving_mass(rest: &RestData) -> f64 {
    let all = rest.mass.iter().zip(&rest.inverse_mass);
    let moving = all.filter(|(_, inverse)| **inverse > 0.0);
    moving.map(|(mass, _)| mass).sum()
}
