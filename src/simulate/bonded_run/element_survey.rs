//! What every rank has to know of all elements of a packing: it determines the owners of chunks, the classes of bonds,
//! and the elements that attachments and rigid bodies hold.

use glam::DVec3;

use crate::columns::{Elements, Named, Shape};
use crate::math::Scalar;
use crate::simulate::bonded::bonds::Bonds;
use crate::simulate::bonded::owned::OwnedChunks;
use crate::simulate::bonded::rigid_mask::RigidMask;
use crate::simulate::error::SimulateError;
use crate::simulate::scene::attachments::{self, AttachedForce, AttachmentFinder, clamped};
use crate::simulate::scene::reactions::AttachedElements;
use crate::simulate::scene::rigid::piece_of;
use crate::simulate::share::bisection::WeightedCentre;
use crate::simulate::source::TableHash;
use crate::spec::Pipeline;

/// What is known of all elements.
pub struct ElementSurvey {
    /// Index of the material of each.
    pub material: Vec<u32>,
    /// Inverse mass of each, 1/kg; 0 where clamped.
    pub inverse_mass: Vec<f64>,
    /// Inverse moment of inertia of each, 1/(kg m²); 0 where clamped.
    pub inverse_inertia: Vec<f64>,
    /// Elements of each attachment.
    pub attached_elements: Vec<AttachedElements>,
    /// Forces that attachments apply.
    pub forces: Vec<AttachedForce>,
    /// Elements that are rigid from the start: one piece per rigid body.
    pub mask: RigidMask,
    /// Whether there are cells.
    pub has_cells: bool,
    /// Hash of all values.
    pub hash: u64,
    /// Elements per chunk.
    pub chunk: usize,
    /// Sum of the positions of the elements of each chunk, m.
    position_sums: Vec<DVec3>,
}

impl ElementSurvey {
    /// Number of elements.
    pub fn count(&self) -> usize {
        self.material.len()
    }

    /// Centres and weights of the chunks: an element weighs one, and one more for each of its bonds. `valence`: number
    /// of bonds of each element.
    pub fn centres(&self, valence: &[u32]) -> Vec<WeightedCentre> {
        let chunks = valence.chunks(self.chunk).zip(&self.position_sums);
        let centre = |(valence, sum): (&[u32], &DVec3)| WeightedCentre {
            centre: *sum / valence.len() as f64,
            weight: valence.iter().map(|&bonds| f64::from(1 + bonds)).sum(),
        };
        chunks.map(centre).collect()
    }

    /// For each element, whether an attachment or a rigid body holds it.
    pub fn held(&self) -> Vec<bool> {
        let is_rigid = |i: usize| self.mask.pieces().get(i).is_some_and(|&piece| piece != 0);
        let mut held: Vec<bool> = (0..self.count()).map(is_rigid).collect();
        for &i in self.attached_elements.iter().flat_map(|one| &one.elements) {
            held[i as usize] = true;
        }
        held
    }

    /// For each element, whether a rank keeps its row at the start: its own, their bond neighbours, and those that
    /// attachments or rigid bodies hold. It receives other rows from their owners.
    pub fn needed<S: Scalar>(&self, bonds: &Bonds<S>, owned: &OwnedChunks) -> Vec<bool> {
        let is_own = |i: usize| owned.contains(i / self.chunk);
        let mut needed = self.held();
        for i in (0..self.count()).filter(|&i| is_own(i)) {
            needed[i] = true;
            for side in bonds.sides(i) {
                needed[side.other] = true;
            }
        }
        needed
    }
}

/// Surveys the elements batch by batch.
pub struct Surveyor<'a> {
    pipeline: &'a Pipeline,
    survey: ElementSurvey,
    finder: AttachmentFinder<'a>,
    /// Piece of each element; empty if no body is rigid.
    pieces: Vec<u32>,
    hash: TableHash,
    /// Index of the column of shapes in the hash, and the shapes.
    kinds: (Option<usize>, Vec<Shape>),
    /// Error of the first element that does not fit the pipeline.
    wrong: Option<SimulateError>,
}

impl<'a> Surveyor<'a> {
    /// No elements yet of `count` in chunks of `chunk`.
    pub fn new(pipeline: &'a Pipeline, (count, chunk): (usize, usize)) -> Self {
        Surveyor {
            pipeline,
            survey: ElementSurvey {
                material: Vec::with_capacity(count),
                inverse_mass: Vec::with_capacity(count),
                inverse_inertia: Vec::with_capacity(count),
                attached_elements: Vec::new(),
                forces: Vec::new(),
                mask: RigidMask::default(),
                has_cells: false,
                hash: 0,
                chunk,
                position_sums: vec![DVec3::ZERO; count.div_ceil(chunk)],
            },
            finder: AttachmentFinder::new(pipeline),
            pieces: Vec::new(),
            hash: TableHash::default(),
            kinds: (None, Vec::with_capacity(count)),
            wrong: None,
        }
    }

    /// Adds the next batch.
    pub fn add(&mut self, e: &Elements) {
        self.kinds.0 = self.hash.add_except(e, Some("kind"));
        self.kinds.1.extend_from_slice(&e.kind);
        self.finder.add(e);
        let survey = &mut self.survey;
        let first = survey.count();
        survey.inverse_mass.extend(e.mass.iter().map(|m| 1.0 / m));
        let inverse_inertia = e.inertia.iter().map(|i| 1.0 / i);
        survey.inverse_inertia.extend(inverse_inertia);
        survey.has_cells |= e.kind.contains(&Shape::Cell);
        if self.pipeline.bodies.iter().any(|body| body.rigid) {
            let pieces = e.body.iter().map(|&body| piece_of(body, self.pipeline));
            self.pieces.extend(pieces);
        }
        for k in 0..e.id.len() {
            survey.position_sums[(first + k) / survey.chunk] += DVec3::new(e.x[k], e.y[k], e.z[k]);
        }
        survey.material.extend_from_slice(&e.material);
        for k in 0..e.id.len() {
            self.check(first + k, e.material[k], e.body[k]);
        }
    }

    fn check(&mut self, element: usize, material: u32, body: u32) {
        let refused = |what: &str, number: u32, count: usize| {
            SimulateError::Packing(format!(
                "element {element} has {what} {number}, but the pipeline has only {count}, counted from 0"
            ))
        };
        let Pipeline {
            materials, bodies, ..
        } = self.pipeline;
        if material as usize >= materials.len() {
            let wrong = || refused("material", material, materials.len());
            self.wrong.get_or_insert_with(wrong);
        }
        // A pipeline without bodies accepts any: such packings come from other programs.
        if !bodies.is_empty() && body as usize >= bodies.len() {
            let wrong = || refused("body", body, bodies.len());
            self.wrong.get_or_insert_with(wrong);
        }
    }

    /// The survey of all elements.
    ///
    /// # Errors
    /// An attachment without elements; an element of a material or body that the pipeline lacks.
    pub fn finish(self) -> Result<ElementSurvey, SimulateError> {
        let mut survey = self.survey;
        survey.attached_elements = self.finder.finish();
        survey.forces = attachments::forces(&survey.attached_elements, self.pipeline)?;
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        for (elements, _) in clamped(&survey.attached_elements, self.pipeline) {
            for &i in elements {
                survey.inverse_mass[i as usize] = 0.0;
                survey.inverse_inertia[i as usize] = 0.0;
            }
        }
        survey.mask = RigidMask::new(self.pieces);
        let (mut hash, kinds) = (self.hash, self.kinds.1);
        if let Some(place) = self.kinds.0 {
            hash.add_words(place, kinds.iter().map(|kind| kind.name()));
        }
        survey.hash = hash.digest();
        Ok(survey)
    }
}
