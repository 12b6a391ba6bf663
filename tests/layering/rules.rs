//! What the paths of a crate must keep to.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::paths::{Module, Sources, Use};

/// Rules of a crate.
pub struct Rules<'a> {
    /// Rows of modules, each below those before it.
    pub layers: &'a [&'a [&'a str]],
    /// Modules whose parts may use the file that declares them, with reasons.
    pub exempt: Vec<(&'a str, &'a str)>,
}

/// Uses from part to part of one module.
type Parts<'a> = BTreeMap<&'a str, BTreeMap<&'a str, &'a Use>>;

impl Rules<'_> {
    /// What breaks the rules, one message each.
    pub fn check(&self, sources: &Sources) -> Vec<String> {
        let mut found = self.unknown(sources);
        let mut needed: BTreeSet<&str> = BTreeSet::new();
        let mut within: BTreeMap<&[String], Parts> = BTreeMap::new();
        for one in sources.uses() {
            let common = common(&one.from, &one.to);
            match (one.from.get(common), one.to.get(common)) {
                // A module uses its own parts; the library's root uses nothing.
                (None, _) => {}
                (Some(_), None) => {
                    let parent = one.to.join("::");
                    match self.exempt.iter().find(|(module, _)| *module == parent) {
                        Some((module, _)) => _ = needed.insert(module),
                        None => found.push(up(one, &parent)),
                    }
                }
                (Some(from), Some(to)) if common == 0 => found.extend(self.across(one, from, to)),
                (Some(from), Some(to)) => {
                    let parts = within.entry(&one.from[..common]).or_default();
                    parts.entry(from).or_default().entry(to).or_insert(one);
                }
            }
        }
        for (module, parts) in &within {
            found.extend(circles(parts).iter().map(|ring| circle(module, ring)));
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

    /// Modules without a layer and layers without a module.
    fn unknown(&self, sources: &Sources) -> Vec<String> {
        let top = sources.top();
        let listed = self.layers.iter().flat_map(|row| row.iter());
        let missing = listed
            .filter(|module| !top.contains(**module))
            .map(|module| format!("LAYERS names {module}, which is not there"));
        let homeless = top
            .iter()
            .filter(|module| self.row(module).is_none())
            .map(|module| format!("src/{module} stands in no row of LAYERS"));
        homeless.chain(missing).collect()
    }

    /// A use of one module by another.
    fn across(&self, one: &Use, from: &str, to: &str) -> Option<String> {
        let (above, below) = (self.row(from)?, self.row(to)?);
        let why = match above.cmp(&below) {
            std::cmp::Ordering::Less => return None,
            std::cmp::Ordering::Equal => "both stand in one row of LAYERS".to_owned(),
            std::cmp::Ordering::Greater => format!("{to} stands above {from} in LAYERS"),
        };
        Some(format!("{}: {from} may not use {to}: {why}", told(one)))
    }
}

/// How many names two modules have in common from the root on.
fn common(a: &Module, b: &Module) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn told(one: &Use) -> String {
    format!("{}:{}: `{}`", one.place.0, one.place.1, one.written)
}

fn up(one: &Use, parent: &str) -> String {
    let parent = if parent.is_empty() {
        "the crate"
    } else {
        parent
    };
    format!(
        "{}: a part of {parent} uses the file that declares it; what parts share goes into a part below them",
        told(one)
    )
}

fn circle(module: &[String], ring: &[(&str, &Use)]) -> String {
    let names: Vec<&str> = ring.iter().map(|(part, _)| *part).collect();
    let mut text = format!(
        "{}: a circle: {} -> {}",
        module.join("::"),
        names.join(" -> "),
        names[0]
    );
    for (_, one) in ring {
        text += &format!("\n    {}", told(one));
    }
    text
}

/// A shortest circle through each part that has one, each circle once, with the use that leads on from each part.
fn circles<'a>(parts: &Parts<'a>) -> Vec<Vec<(&'a str, &'a Use)>> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for start in parts.keys() {
        if let Some(ring) = shortest(parts, start) {
            let mut members: Vec<&str> = ring.iter().map(|(part, _)| *part).collect();
            members.sort_unstable();
            if seen.insert(members) {
                found.push(ring);
            }
        }
    }
    found
}

fn shortest<'a>(parts: &Parts<'a>, start: &'a str) -> Option<Vec<(&'a str, &'a Use)>> {
    let mut reached: BTreeMap<&str, &str> = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(part) = waiting.pop_front() {
        for &next in parts.get(part).into_iter().flat_map(|uses| uses.keys()) {
            if next == start {
                // Back along the way.
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
