//! The part of a pipeline that packing depends on. The stage receives nothing else, and `store.json` records
//! all of it, so that bodies are packed again when one of these values changes.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::laws::bond::BondRadiusRule;
use crate::spec::{
    Body, Collider, ColliderShape, Criterion, Elasticity, Grain, Material, MaterialPair,
    PackingSpec, Pipeline, Simulate, Strength, is_pair_of,
};

/// The part of a pipeline that packing depends on.
///
/// It is built field by field from the pipeline's own structs, so that a new key there does not compile until
/// it is decided whether packing depends on it. Absent optional parts are not written to the record, so that
/// older records stay valid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inputs<'a> {
    /// Materials, in the pipeline's order.
    #[serde(rename = "material")]
    pub(super) materials: Vec<PackedMaterial<'a>>,
    /// Properties of bonds between two materials.
    #[serde(rename = "pair", skip_serializing_if = "Vec::is_empty")]
    pub(super) pairs: Vec<PackedPair<'a>>,
    /// Bodies.
    #[serde(rename = "body")]
    pub(super) bodies: &'a [Body],
    /// The values of `[simulate]` that packing depends on.
    #[serde(rename = "simulate")]
    pub(super) settings: PackingSettings,
    /// Colliders that are meshes, by number. The packing stores their meshes in their own frames.
    #[serde(rename = "collider", skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) colliders: BTreeMap<u32, MeshCollider<'a>>,
}

/// Properties of a material that elements and bonds depend on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct PackedMaterial<'a> {
    pub name: &'a str,
    pub density: f64,
    pub young: f64,
    pub poisson: Option<f64>,
    pub shear: Option<f64>,
    pub elasticity: Elasticity,
    #[serde(skip_serializing_if = "is_of_bonds")]
    pub strength: Strength,
    /// Whether bonds break by the stress of the solid; of importance only where strengths are the solid's.
    #[serde(skip_serializing_if = "is_not")]
    pub rankine: bool,
    pub tensile_strength: Option<f64>,
    pub shear_strength: Option<f64>,
    pub weibull_modulus: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weibull_size: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weibull_length: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grain: Option<PackedGrain>,
}

/// A grain that packing depends on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct PackedGrain {
    /// As it is entered.
    #[serde(flatten)]
    pub entered: Grain,
    /// Whether it is the solid's, not that of the bonds.
    #[serde(skip_serializing_if = "is_not")]
    pub of_solid: bool,
}

/// Properties of the bonds between two materials.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct PackedPair<'a> {
    pub materials: &'a [String; 2],
    pub bond_stiffness: f64,
    pub bond_strength: f64,
}

/// The values of `[simulate]` that packing depends on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct PackingSettings {
    pub seed: u64,
    /// The only property of the bond law that packing depends on: laws with the same sections share a
    /// packing.
    #[serde(rename = "law", skip_serializing_if = "BondRadiusRule::is_mean")]
    pub bond_radius: BondRadiusRule,
}

/// A collider that is a mesh.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct MeshCollider<'a> {
    /// Used only in messages.
    #[serde(skip)]
    pub name: &'a str,
    #[serde(flatten)]
    pub shape: &'a ColliderShape,
}

impl<'a> Inputs<'a> {
    /// The inputs of a pipeline.
    pub fn of(pipeline: &'a Pipeline) -> Self {
        let Pipeline {
            materials,
            pairs,
            bodies,
            colliders,
            simulate,
            time: _,
            world: _,
            attachments: _,
            stress: _,
            output: _,
            reconstruct: _,
            export: _,
            preview: _,
        } = pipeline;
        let meshes = (0..).zip(colliders).filter_map(|(number, collider)| {
            let mesh = MeshCollider::of(collider)?;
            Some((number, mesh))
        });
        Inputs {
            materials: materials
                .iter()
                .map(|one| PackedMaterial::of(one, bodies))
                .collect(),
            pairs: pairs.iter().map(PackedPair::of).collect(),
            bodies,
            settings: PackingSettings::of(simulate),
            colliders: meshes.collect(),
        }
    }

    /// Paths of the mesh files, relative to the pipeline file.
    pub fn files(&self) -> Vec<&'a str> {
        let bodies = self.bodies.iter().filter_map(|body| body.shape.file());
        let colliders = self.colliders.values();
        let colliders = colliders.filter_map(|collider| collider.shape.file());
        bodies.chain(colliders).collect()
    }

    /// The entry of the pipeline for two materials, by their names.
    pub(super) fn pair(&self, a: &str, b: &str) -> Option<&PackedPair<'a>> {
        self.pairs
            .iter()
            .find(|pair| is_pair_of(pair.materials, a, b))
    }
}

/// Whether strengths are those of the bonds, as in packings from before there was a choice.
fn is_of_bonds(strength: &Strength) -> bool {
    *strength == Strength::Bond
}

/// Whether a choice is not made, as in packings from before it existed.
fn is_not(value: &bool) -> bool {
    !value
}

/// Whether a bonded body of this material has a packing whose bonds are `changed` by a choice of what the values of
/// the material describe.
fn is_any(material: &Material, bodies: &[Body], changed: impl Fn(&PackingSpec) -> bool) -> bool {
    bodies.iter().any(|body| {
        let mut grains = body.grains.iter();
        let of_it =
            body.material == material.name || grains.any(|one| one.material == material.name);
        of_it && body.is_bonded() && changed(&body.packing)
    })
}

/// Whether what strengths describe changes bonds of such a packing: in hexagonal packings it changes their strengths,
/// in random ones also their radii.
fn has_calibrated_strength(material: &Material, packing: &PackingSpec) -> bool {
    match packing {
        PackingSpec::Hexagonal { .. } => material.has_strength(),
        PackingSpec::Random { .. } => true,
        PackingSpec::None {}
        | PackingSpec::Loose { .. }
        | PackingSpec::Shell { .. }
        | PackingSpec::Twisted { .. }
        | PackingSpec::Woven { .. }
        | PackingSpec::Voronoi { .. }
        | PackingSpec::Cubic { .. } => false,
    }
}

/// Whether the grain of such a packing can be that of the solid.
fn has_calibrated_grain(packing: &PackingSpec) -> bool {
    matches!(
        packing,
        PackingSpec::Hexagonal { .. } | PackingSpec::Random { .. }
    )
}

impl<'a> PackedMaterial<'a> {
    fn of(material: &'a Material, bodies: &[Body]) -> Self {
        let Material {
            name,
            density,
            young,
            poisson,
            shear,
            elasticity,
            // Used through `strength`, which follows `elasticity` where none is given.
            strength: _,
            tensile_strength,
            shear_strength,
            weibull_modulus,
            weibull_size,
            weibull_length,
            grain,
            criterion,
            hydrostatic_strength: _,
            toughness: _,
            damping: _,
            friction: _,
            static_friction: _,
            rolling_friction: _,
            contact_damping: _,
            restitution: _,
            contact_shear_ratio: _,
            contact_young: _,
        } = material;
        let is_calibrated = is_any(material, bodies, |packing| {
            has_calibrated_strength(material, packing)
        });
        let strength = match is_calibrated {
            true => material.strength(),
            false => Strength::Bond,
        };
        let packed_grain = |entered: Grain| PackedGrain {
            entered,
            of_solid: *elasticity == Elasticity::Material
                && is_any(material, bodies, has_calibrated_grain),
        };
        PackedMaterial {
            name,
            density: *density,
            young: *young,
            poisson: *poisson,
            shear: *shear,
            elasticity: *elasticity,
            strength,
            rankine: *criterion == Criterion::Rankine && strength == Strength::Material,
            tensile_strength: *tensile_strength,
            shear_strength: *shear_strength,
            weibull_modulus: *weibull_modulus,
            weibull_size: *weibull_size,
            weibull_length: *weibull_length,
            grain: grain.map(packed_grain),
        }
    }
}

impl<'a> PackedPair<'a> {
    fn of(pair: &'a MaterialPair) -> Self {
        let MaterialPair {
            materials,
            bond_stiffness,
            bond_strength,
            friction: _,
            static_friction: _,
            rolling_friction: _,
            contact_damping: _,
            restitution: _,
            contact_young: _,
        } = pair;
        PackedPair {
            materials,
            bond_stiffness: *bond_stiffness,
            bond_strength: *bond_strength,
        }
    }
}

impl PackingSettings {
    fn of(simulate: &Simulate) -> Self {
        let Simulate {
            seed,
            // Used through `bond_law`, which chooses a law where none is given.
            law: _,
            integrator: _,
            method: _,
            backend: _,
            gpu: _,
            precision: _,
            shear_correction: _,
            contact: _,
            cell_contact: _,
            implicit: _,
            sleep: _,
            sleep_limits: _,
            drag: _,
            keep_states: _,
            state_every: _,
        } = simulate;
        PackingSettings {
            seed: *seed,
            bond_radius: simulate.bond_law().radius_rule(),
        }
    }
}

impl<'a> MeshCollider<'a> {
    fn of(collider: &'a Collider) -> Option<Self> {
        collider.shape.file()?;
        Some(MeshCollider {
            name: &collider.name,
            shape: &collider.shape,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::spec::{self, Law};

    /// The record in `store.json` of packings made before grains, pairs and laws with their own sections
    /// existed. Such packings stay up to date.
    #[test]
    fn absent_parts_are_not_recorded() {
        let text = "[time]\nend = 1\nframes_per_second = 24\n\
            [[material]]\nname = \"m\"\ndensity = 1\nyoung = 1e6\nfriction = 0.25\n\
            [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = { type = \"sphere\", radius = 1 }\n\
            packing = { type = \"hexagonal\", elements = 10 }\n\
            [[collider]]\nname = \"c\"\nshape = { type = \"sphere\", radius = 1 }\n";
        let mut pipeline = spec::parse(text, "shot.toml", &[]).unwrap();
        let record = json!({
            "material": [{
                "name": "m", "density": 1.0, "young": 1e6, "poisson": 0.2, "shear": null, "elasticity": "material",
                "tensile_strength": null, "shear_strength": null, "weibull_modulus": null,
            }],
            "body": pipeline.bodies,
            "simulate": { "seed": 1 },
        });
        assert_eq!(json!(Inputs::of(&pipeline)), record);
        for law in [Law::Bdem, Law::Manifold] {
            pipeline.simulate.law = Some(law);
            assert_eq!(json!(Inputs::of(&pipeline)), record);
        }
        pipeline.simulate.law = Some(Law::Cosserat);
        assert_ne!(json!(Inputs::of(&pipeline)), record);
    }

    #[test]
    fn what_strengths_describe_is_recorded_where_it_changes_bonds() {
        let recorded = |packing: &str, keys: &str| {
            let text = format!(
                "[time]\nend = 1\nframes_per_second = 24\n[[material]]\nname = \"m\"\ndensity = 1\nyoung = 1e6\n\
                 [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = {{ type = \"sphere\", radius = 1 }}\n\
                 packing = {{ type = {packing} }}\n{keys}"
            );
            let mut pipeline = spec::parse(&text, "shot.toml", &[]).unwrap();
            let record =
                |shot: &Pipeline| json!(Inputs::of(shot))["material"][0]["strength"].clone();
            let bare = record(&pipeline);
            pipeline.materials[0].tensile_strength = Some(1.0);
            (bare, record(&pipeline))
        };
        let (material, absent) = (json!("material"), json!(null));
        let [hexagonal, random] = [r#""hexagonal", radius = 0.1"#, r#""random", radius = 0.1"#];
        let voronoi = r#""voronoi", size = 0.1"#;
        assert_eq!(recorded(hexagonal, ""), (absent.clone(), material.clone()));
        assert_eq!(recorded(random, ""), (material.clone(), material));
        assert_eq!(
            recorded(random, "bonded = false"),
            (absent.clone(), absent.clone())
        );
        assert_eq!(recorded(voronoi, ""), (absent.clone(), absent));
    }

    #[test]
    fn whose_grain_it_is_is_recorded_where_it_changes_bonds() {
        let recorded = |packing: &str, keys: &str| {
            let text = format!(
                "[time]\nend = 1\nframes_per_second = 24\n[[material]]\nname = \"m\"\ndensity = 1\nyoung = 1e6\n{keys}\n\
                 [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = {{ type = \"sphere\", radius = 1 }}\n\
                 packing = {{ type = \"{packing}\", elements = 100 }}\n"
            );
            let pipeline = spec::parse(&text, "shot.toml", &[]).unwrap();
            json!(Inputs::of(&pipeline))["material"][0]["grain"]["of_solid"].clone()
        };
        let grain = "grain = { direction = [1, 0, 0], stiffness = 1 }";
        assert_eq!(recorded("hexagonal", grain), true);
        assert_eq!(recorded("random", grain), true);
        assert_eq!(recorded("random", ""), json!(null));
        let of_bonds = format!("elasticity = \"bond\"\nshear = 1e6\n{grain}");
        assert_eq!(recorded("hexagonal", &of_bonds), json!(null));
        assert_eq!(recorded("loose", grain), json!(null));
    }

    #[test]
    fn a_collider_of_a_mesh_is_known_by_its_number_shape_and_file() {
        let text = "[time]\nend = 1\nframes_per_second = 24\n\
            [[collider]]\nname = \"floor\"\nshape = { type = \"half_space\", normal = [0, 1, 0] }\n\
            [[collider]]\nname = \"wedge\"\nshape = { type = \"mesh\", file = \"src/lib.rs\", scale = 2 }\n";
        let document: toml::Value = toml::from_str(text).unwrap();
        let colliders: Vec<Collider> = document["collider"].clone().try_into().unwrap();
        let meshes = (0..).zip(&colliders);
        let meshes = meshes.filter_map(|(number, one)| Some((number, MeshCollider::of(one)?)));
        let meshes: BTreeMap<u32, _> = meshes.collect();
        let shape = json!({ "type": "mesh", "file": "src/lib.rs", "scale": 2.0, "height": null });
        assert_eq!(json!(meshes), json!({ "1": shape }));
        assert_eq!(json!(meshes[&1].shape), shape);
    }
}
