//! Checks of materials, pairs of them, and grains.

use super::faults::Check;
use crate::spec::body::Body;
use crate::spec::error::SpecFault;
use crate::spec::material::{Elasticity, Material, Strength};
use crate::spec::pipeline::Pipeline;

/// Whether no body of a material has bonds: all are packed with cells, or boundary elements compute them.
fn is_without_bonds(material: &Material, shot: &Pipeline) -> bool {
    // Boundary elements allow any ratio.
    if shot.is_static() {
        return true;
    }
    let name = &material.name;
    let of_it = shot.bodies.iter().filter(|body| {
        let mut grains = body.grains.iter();
        body.material == *name || grains.any(|grains| grains.material == *name)
    });
    let mut of_it = of_it.peekable();
    of_it.peek().is_some() && of_it.all(|body| body.packing.is_of_cells())
}

impl Check<'_> {
    pub(super) fn pairs(&mut self, shot: &Pipeline) {
        let mut seen: Vec<[&String; 2]> = Vec::new();
        for (index, pair) in shot.pairs.iter().enumerate() {
            let path = format!("pair.{index}.materials");
            for (end, name) in pair.materials.iter().enumerate() {
                let names = shot.materials.iter().map(|one| one.name.as_str());
                self.known_name(&format!("{path}.{end}"), "material", name, names);
            }
            let [a, b] = &pair.materials;
            if seen
                .iter()
                .any(|known| *known == [a, b] || *known == [b, a])
            {
                let what = format!("an earlier [[pair]] already names {a:?} and {b:?}");
                self.invalid(&path, what);
            }
            seen.push([a, b]);
            if pair.restitution.is_some() && pair.contact_damping.is_some() {
                let what = "the damping follows from it; leave contact_damping out";
                self.invalid(&format!("pair.{index}.restitution"), what);
            }
            let materials = pair.materials.iter();
            let named =
                materials.filter_map(|name| shot.materials.iter().find(|m| m.name == *name));
            let least = named.map(|m| m.friction).fold(f64::INFINITY, f64::min);
            let friction = pair.friction.unwrap_or(least);
            self.static_friction(&format!("pair.{index}"), pair.static_friction, friction);
        }
    }

    /// Checks that static friction, if given, is at least kinetic friction, `least`; infinite if that is not known.
    fn static_friction(&mut self, path: &str, given: Option<f64>, least: f64) {
        if let Some(given) = given
            && given < least
            && least.is_finite()
        {
            let what = format!("{given} is below `friction`, {least}");
            self.invalid(&format!("{path}.static_friction"), what);
        }
    }

    pub(super) fn grains(&mut self, path: &str, body: &Body, shot: &Pipeline) {
        for (index, grains) in body.grains.iter().enumerate() {
            let path = format!("{path}.grains.{index}.material");
            let names = shot.materials.iter().map(|one| one.name.as_str());
            self.known_name(&path, "material", &grains.material, names);
        }
        let parts: f64 = body.grains.iter().map(|grains| grains.part).sum();
        if parts > 1.0 + 1e-9 {
            let what = format!("the parts of the grains add up to {parts}; they must not exceed 1");
            self.invalid(&format!("{path}.grains"), what);
        }
    }

    pub(super) fn material(&mut self, path: &str, material: &Material, shot: &Pipeline) {
        if material
            .grain
            .is_some_and(|grain| grain.direction == [0.0; 3])
        {
            self.invalid(
                &format!("{path}.grain.direction"),
                "the direction must not be zero",
            );
        }
        self.static_friction(path, material.static_friction, material.friction);
        if material.strength == Some(Strength::Material) && material.elasticity == Elasticity::Bond
        {
            self.invalid(
                &format!("{path}.strength"),
                "strength = \"material\" needs elasticity = \"material\": bonds are calibrated for both together",
            );
        }
        if material.weibull_length.is_some() && material.weibull_modulus.is_none() {
            let path = format!("{path}.weibull_length");
            self.invalid(&path, "strengths do not scatter without weibull_modulus");
        }
        if material.weibull_size.is_some() && material.weibull_length.is_none() {
            let path = format!("{path}.weibull_size");
            self.invalid(
                &path,
                "it needs weibull_length: without it, the strength does not depend on size",
            );
        }
        match (material.elasticity, material.poisson, material.shear) {
            (Elasticity::Material, poisson, shear) => {
                if shear.is_some() {
                    self.invalid(
                        &format!("{path}.shear"),
                        "`shear` belongs to elasticity = \"bond\"; with elasticity = \"material\" give `young` and `poisson`",
                    );
                }
                if let Some(poisson) = poisson.filter(|ratio| *ratio > 0.25)
                    && !is_without_bonds(material, shot)
                {
                    let what = format!(
                        "{poisson} is above 0.25, the largest ratio that bonds can give; larger ones need cells, such as packing = {{ type = \"voronoi\" }}"
                    );
                    self.invalid(&format!("{path}.poisson"), what);
                }
            }
            (Elasticity::Bond, poisson, shear) => {
                if poisson.is_some() {
                    self.invalid(
                        &format!("{path}.poisson"),
                        "`poisson` belongs to elasticity = \"material\"; with elasticity = \"bond\" give `young` and `shear`",
                    );
                }
                if shear.is_none() {
                    let fault = SpecFault::Missing {
                        key: "shear".to_owned(),
                        what: "elasticity = \"bond\" needs the bonds' shear modulus".to_owned(),
                    };
                    self.fault(path, fault);
                }
            }
        }
    }

    /// Checks that materials have the strengths which cracks (`cracks`: of boundary elements) and softening need.
    pub(super) fn strengths(&mut self, shot: &Pipeline, cracks: bool) {
        for (index, material) in shot.materials.iter().enumerate() {
            let is_used = shot.bodies.iter().any(|one| one.material == material.name);
            if cracks && is_used && material.tensile_strength.is_none() {
                let fault = SpecFault::Missing {
                    key: "tensile_strength".to_owned(),
                    what: "stress.fracture needs the material's strength".to_owned(),
                };
                self.fault(&format!("material.{index}"), fault);
            }
            if material.toughness.is_some() && material.tensile_strength.is_none() {
                let fault = SpecFault::Missing {
                    key: "tensile_strength".to_owned(),
                    what: "toughness needs the strength from which bonds soften".to_owned(),
                };
                self.fault(&format!("material.{index}"), fault);
            }
        }
    }
}
