//! Elastic moduli of an isotropic solid.

/// Shear modulus, Pa, and Poisson's ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elastic {
    /// Shear modulus G, Pa.
    pub shear: f64,
    /// Poisson's ratio ν, below ½.
    pub poisson: f64,
}

/// Why moduli are refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ElasticError {
    /// Young's modulus is not positive and finite.
    #[error("Young's modulus is {0} Pa; it must be positive and finite")]
    Young(f64),
    /// Poisson's ratio is out of range: the elastic energy would not be positive, or the material would be
    /// incompressible.
    #[error("Poisson's ratio is {0}; it must lie between −1 and ½, ends excluded")]
    Poisson(f64),
}

impl Elastic {
    /// From Young's modulus, Pa, and Poisson's ratio: G = E/(2(1 + ν)).
    pub fn new(young: f64, poisson: f64) -> Result<Self, ElasticError> {
        if !(young.is_finite() && young > 0.0) {
            return Err(ElasticError::Young(young));
        }
        if !(poisson > -1.0 && poisson < 0.5) {
            return Err(ElasticError::Poisson(poisson));
        }
        Ok(Elastic {
            shear: young / (2.0 * (1.0 + poisson)),
            poisson,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moduli_out_of_range_are_refused() {
        assert_eq!(Elastic::new(5.0, 0.25).unwrap().shear, 2.0);
        assert_eq!(Elastic::new(0.0, 0.25), Err(ElasticError::Young(0.0)));
        for poisson in [0.5, -1.0] {
            assert_eq!(
                Elastic::new(1.0, poisson),
                Err(ElasticError::Poisson(poisson))
            );
        }
        assert!(Elastic::new(f64::NAN, 0.2).is_err() && Elastic::new(1.0, f64::NAN).is_err());
    }
}
