//! Differences between the implicit integrators.

use crate::spec::Integrator;

/// Scheme of an implicit step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// Whether half of the step is solved and the other half extrapolated in a straight line.
    pub midpoint: bool,
    /// Whether a step is one Gauss–Newton iteration instead of a minimisation.
    pub linear: bool,
}

impl Scheme {
    /// Scheme of an integrator that is implicit by [`Integrator::method`].
    pub fn of(integrator: Integrator) -> Self {
        let midpoint = match integrator {
            Integrator::Midpoint => true,
            Integrator::BackwardEuler | Integrator::LinearlyImplicit => false,
            Integrator::Explicit | Integrator::Auto => {
                unreachable!("{} is not an implicit integrator", integrator.name())
            }
        };
        Scheme {
            midpoint,
            linear: !integrator.minimises_energy(),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_implicit_integrator_has_a_scheme_of_its_own() {
        let all = Integrator::value_variants().iter().copied();
        let implicit = all.filter(|one| one.is_implicit());
        let schemes: Vec<Scheme> = implicit.map(Scheme::of).collect();
        assert!(schemes.len() >= 3);
        for (at, scheme) in schemes.iter().enumerate() {
            assert!(!schemes[..at].contains(scheme), "{scheme:?} twice");
        }
    }
}
