//! What the columns of words hold: enums that the store keeps by name.

use super::cell::{Named, named};

pub use crate::laws::table::Law as BondLaw;

impl Named for BondLaw {
    const NAMES: &'static [(Self, &'static str)] = BondLaw::NAMES;
}

named! {
    /// Shape of an element.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    Shape {
        /// A ball of the element's radius.
        #[default]
        Sphere = "sphere",
        /// A convex polyhedron whose faces are in `packing/faces.parquet`; the element's radius is that of
        /// the ball of its volume.
        Cell = "cell",
    }
}

named! {
    /// What bears a load.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    LoadKind {
        /// A `[[collider]]`.
        Collider = "collider",
        /// An `[[attach]]` that holds or drives.
        Clamp = "clamp",
        /// An `[[attach]]` that draws by springs.
        Spring = "spring",
        /// An `[[attach]]` that loads with a force.
        Force = "force",
        /// An `[[attach]]` that presses on a surface.
        Pressure = "pressure",
        /// An `[[attach]]` that only measures.
        Gauge = "gauge",
    }
}

named! {
    /// Which strength was passed when a bond broke.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    BreakMode {
        /// σ > σ_c.
        Tension = "tension",
        /// τ > τ_c.
        Shear = "shear",
        /// Mean stress of one of its elements beyond the hydrostatic strength; σ is that stress.
        Hydrostatic = "hydrostatic",
    }
}

named! {
    /// Where stress is computed.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    StressPoint {
        /// At the centroid of a triangle of the surface.
        #[default]
        Triangle = "triangle",
        /// At the centre of an element.
        Element = "element",
    }
}

named! {
    /// A method that solves an implicit step.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    Method {
        /// Newton's on the manifold of unit quaternions, conjugate gradients with multigrid: what runs take.
        Newton = "newton",
        /// The same, conjugate gradients with the blocks on the diagonal.
        NewtonJacobi = "newton_jacobi",
        /// First-order descent on the manifold, with conjugate directions.
        Descent = "descent",
        /// Newton's on free quaternions, a penalty on their lengths.
        Penalty = "penalty",
        /// Newton's on free quaternions and a Lagrange multiplier for each.
        Multipliers = "multipliers",
        /// Newton's on free quaternions, augmented Lagrangian.
        Augmented = "augmented",
        /// Newton's in rotation vectors since the start of the step, conjugate gradients with multigrid.
        RotationVectors = "rotation_vectors",
        /// The same with Gauss–Newton tangents.
        RotationVectorsGaussNewton = "rotation_vectors_gauss_newton",
    }
}

named! {
    /// What happened to a fragment.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    SleepEvent {
        /// Stepped as one rigid body from now on.
        Asleep = "asleep",
        /// Its bonds are stepped from now on.
        Awake = "awake",
        /// A load on it while it was asleep was compared with its strength; it stays asleep.
        Judged = "judged",
        /// At rest and not stepped.
        Still = "still",
        /// Stepped as a rigid body again after it was still.
        Moving = "moving",
        /// Not stepped any more, and touched by nothing.
        Removed = "removed",
    }
}

named! {
    /// Why it happened to a fragment.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    SleepReason {
        /// At rest and unloaded at the start of the run.
        Start = "start",
        /// No bond broke, and stresses and vibration stayed small.
        Calm = "calm",
        /// Closing speed of a touch.
        Impact = "impact",
        /// Bound on the stress under contact forces.
        Force = "force",
        /// Stress of the bonds in balance with contact forces.
        Stress = "stress",
        /// Another body touched it.
        Touched = "touched",
        /// It left the bounds of the world.
        Outside = "outside",
    }
}
