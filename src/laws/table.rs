//! The table of bond laws: settings, dispatch, kernels, generated texts and the column `law` of bonds follow from it.
//!
//! A new law is its text in a file `NAME.rs` beside this one, its row here, its vectors, and the WGSL that
//! `lawgen` makes of the text: begin with an empty `shaders/laws/NAME.wgsl`, which the kernels include.
//! [`energy_law`](super::energy) makes a type of the text of a law with an energy; one without is a type that
//! is a [`BondLaw`]. `CONTRIBUTING.md` names the tests that ask for the rest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bond::{BondLaw, Thickness};

/// Hands the rows to a macro, `bond_laws!(then [arguments])`. A row: what it is, its variant, the file and
/// name of the law, its type, whether implicit steps can take it (`energy` or `no_energy`), and the WGSL
/// texts in `shaders/laws` that define `NAME_bond` and, with energy, `NAME_energy`.
macro_rules! bond_laws {
    ($then:ident $arguments:tt) => {
        $then! {
            $arguments
            {
                "Of explicit bonded DEM (Lu et al. 2021); it has no energy, so implicit steps cannot take it.",
                Bdem, bdem, $crate::laws::bdem::Bdem, no_energy, ["bdem"]
            }
            {
                "Of the implicit method with manifold optimisation (Lu et al. 2025).",
                Manifold, manifold, $crate::laws::manifold::Manifold, energy, ["relative", "manifold"]
            }
            {
                "Of Rod-BDEM (Zhang et al. 2024), a Cosserat rod.",
                Cosserat, cosserat, $crate::laws::cosserat::Cosserat, energy, ["relative", "cosserat"]
            }
        }
    };
}
pub(crate) use bond_laws;

macro_rules! whether {
    (energy) => {
        true
    };
    (no_energy) => {
        false
    };
}

macro_rules! define {
    ([] $({ $doc:literal, $law:ident, $module:ident, $type:path, $energy:ident, $texts:tt })*) => {
        /// The law of bonds.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Law {
            #[default]
            $(#[doc = $doc] $law,)*
        }

        impl Law {
            /// Every law with its name.
            pub const NAMES: &'static [(Law, &'static str)] = &[$((Law::$law, stringify!($module))),*];

            /// Names of those that a test chooses, for messages: "manifold, cosserat".
            pub fn names(chosen: impl Fn(Law) -> bool) -> String {
                let found = Law::NAMES.iter().filter(|(law, _)| chosen(*law));
                found.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
            }

            /// Whether its loads are the derivative of an energy, so that implicit steps can take it.
            pub const fn has_energy(self) -> bool {
                match self {
                    $(Law::$law => whether!($energy),)*
                }
            }

            /// Radius of its bonds.
            pub const fn thickness(self) -> Thickness {
                match self {
                    $(Law::$law => <$type as BondLaw>::THICKNESS,)*
                }
            }

            /// Whether `simulate.shear_correction` reduces its shear stiffness.
            pub const fn is_shear_corrected(self) -> bool {
                match self {
                    $(Law::$law => <$type as BondLaw>::SHEAR_CORRECTED,)*
                }
            }
        }
    };
}
bond_laws!(define []);

/// An expression with a law known only at run time as a type: `with_law!(law, bonds => …)`.
macro_rules! with_law {
    ($law:expr, $bonds:ident => $value:expr) => {
        $crate::laws::table::bond_laws!(dispatch_law [($law) $bonds ($value)])
    };
}
pub(crate) use with_law;

macro_rules! dispatch_law {
    (
        [($law:expr) $bonds:ident ($value:expr)]
        $({ $doc:literal, $row:ident, $module:ident, $type:path, $energy:ident, $texts:tt })*
    ) => {
        match $law {
            $($crate::laws::table::Law::$row => {
                let $bonds = $type;
                $value
            })*
        }
    };
}
pub(crate) use dispatch_law;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_pipeline_files() {
        for (law, name) in Law::NAMES {
            assert_eq!(serde_json::to_value(law).unwrap(), *name);
        }
        assert!(!Law::Bdem.has_energy() && Law::Cosserat.has_energy());
    }
}
