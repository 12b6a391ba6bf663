//! The rules for paths of a crate.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::paths::{Module, PathUse, Sources};

/// Rules of a crate.
pub struct Rules<'a> {
    /// Rows of modules, each row below those before it.
    pub layers: &'a [&'a [&'a str]],
    /// Modules whose parts may use the file that declares them, with the reasons.
    pub exempt: Vec<(&'a str, &'a str)>,
}

/// Uses of parts of one module by other parts, by using part and used part.
type PartUses<'a> = BTreeMap<&'a str, BTreeMap<&'a str, &'a PathUse>>;

impl Rules<'_> {
    /// Violations of the rules, one message each.
    pub fn check(&self, sources: &Sources) -> Vec<String> {
        let mut found = self.unknown(sources);
        let mut needed: BTreeSet<&str> = BTreeSet::new();
        let mut within: BTreeMap<&[String], PartUses> = BTreeMap::new();
        for one in sources.uses() {
            let common = common_names(&one.from, &one.to);
            match (one.from.get(common), one.to.get(common)) {
                // A module may use its own parts; the library's root uses nothing.
                (None, _) => {}
                (Some(_), None) => {
                    let parent = one.to.join("::");
                    match self.exempt.iter().find(|(module, _)| *module == parent) {
                        Some((module, _)) => _ = needed.insert(module),
                        None => found.push(parent_violation(one, &parent)),
                    }
                }
                (Some(from), Some(to)) if common == 0 => {
                    found.extend(self.module_violation(one, from, to))
                }
                (Some(from), Some(to)) => {
                    let parts = within.entry(&one.from[..common]).or_default();
                    parts.entry(from).or_default().entry(to).or_insert(one);
                }
            }
        }
        for (module, parts) in &within {
            found.extend(cycles(parts).iter().map(|ring| cycle_message(module, ring)));
        }
        for (module, reason) in &self.exempt {
            if !needed.contains(module) {
                found.push(format!(
                    "{module} needs its exemption no more ({reason}): no part uses the file that declares it"
                ));
            }
        }
        found
    }

    fn row(&self, module: &str) -> Option<usize> {
        self.layers.iter().position(|row| row.contains(&module))
    }

    /// Modules without a layer, and layers without a module.
    fn unknown(&self, sources: &Sources) -> Vec<String> {
        let top = sources.top();
        let listed = self.layers.iter().flat_map(|row| row.iter());
        let missing = listed
            .filter(|module| !top.contains(**module))
            .map(|module| format!("LAYERS names {module}, which is not there"));
        let homeless = top
            .iter()
            .filter(|module| self.row(module).is_none())
            .map(|module| format!("src/{module} is in no row of LAYERS"));
        homeless.chain(missing).collect()
    }

    /// Message if one module may not use the other.
    fn module_violation(&self, one: &PathUse, from: &str, to: &str) -> Option<String> {
        let (above, below) = (self.row(from)?, self.row(to)?);
        let why = match above.cmp(&below) {
            std::cmp::Ordering::Less => return None,
            std::cmp::Ordering::Equal => "both are in one row of LAYERS".to_owned(),
            std::cmp::Ordering::Greater => format!("{to} is above {from} in LAYERS"),
        };
        Some(format!(
            "{}: {from} may not use {to}: {why}",
            described(one)
        ))
    }
}

/// Number of leading names that two modules have in common.
fn common_names(a: &Module, b: &Module) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn described(one: &PathUse) -> String {
    format!("{}:{}: `{}`", one.place.0, one.place.1, one.written)
}

fn parent_violation(one: &PathUse, parent: &str) -> String {
    let parent = if parent.is_empty() {
        "the crate"
    } else {
        parent
    };
    format!(
        "{}: a part of {parent} uses the file that declares it; what parts share goes into a part below them",
        described(one)
    )
}

fn cycle_message(module: &[String], ring: &[(&str, &PathUse)]) -> String {
    let names: Vec<&str> = ring.iter().map(|(part, _)| *part).collect();
    let mut text = format!(
        "{}: a cycle: {} -> {}",
        module.join("::"),
        names.join(" -> "),
        names[0]
    );
    for (_, one) in ring {
        text += &format!("\n    {}", described(one));
    }
    text
}

/// A shortest cycle through each part that is in one, each cycle once, with the use that leads from each part
/// to the next.
fn cycles<'a>(parts: &PartUses<'a>) -> Vec<Vec<(&'a str, &'a PathUse)>> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for start in parts.keys() {
        if let Some(ring) = shortest_cycle(parts, start) {
            let mut members: Vec<&str> = ring.iter().map(|(part, _)| *part).collect();
            members.sort_unstable();
            if seen.insert(members) {
                found.push(ring);
            }
        }
    }
    found
}

fn shortest_cycle<'a>(parts: &PartUses<'a>, start: &'a str) -> Option<Vec<(&'a str, &'a PathUse)>> {
    let mut reached: BTreeMap<&str, &str> = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(part) = waiting.pop_front() {
        for &next in parts.get(part).into_iter().flat_map(|uses| uses.keys()) {
            if next == start {
                // Trace the path back.
                let mut way = vec![part];
                while let Some(before) = reached.get(way[way.len() - 1]) {
                    way.push(before);
                }
                way.reverse();
                let onward = way.iter().skip(1).copied().chain([start]);
                let steps = way.iter().zip(onward);
                return Some(steps.map(|(&from, to)| (from, parts[from][to])).collect());
            }
            if !reached.contains_key(next) {
                reached.insert(next, part);
                waiting.push_back(next);
            }
        }
    }
    None
}
