//! The worst of warnings that tell the same of many bodies.

use super::warning::Warning;

/// A warning, and how many more of its kind there are about bodies that one entry of the pipeline makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst<'a> {
    /// The worst of them.
    pub warning: &'a Warning,
    /// Name of the entry that makes the bodies.
    pub entry: &'a str,
    /// Number of the others.
    pub others: usize,
}

/// The worst warning of each kind about the bodies of each entry (`wall` of `wall.brick_1`), in the order of the first
/// ones. Warnings about no body stand for themselves.
pub fn worst(all: &[Warning]) -> Vec<Worst<'_>> {
    let mut out: Vec<Worst> = Vec::new();
    for warning in all {
        let body = warning.body.as_deref().unwrap_or_default();
        let entry = entry_of(body);
        let alike = |one: &&mut Worst| {
            warning.body.is_some() && one.warning.kind == warning.kind && one.entry == entry
        };
        match out.iter_mut().find(alike) {
            Some(one) => {
                one.others += 1;
                if warning.severity > one.warning.severity {
                    one.warning = warning;
                }
            }
            None => out.push(Worst {
                warning,
                entry,
                others: 0,
            }),
        }
    }
    out
}

/// The entry of the pipeline that makes a body.
pub fn entry_of(body: &str) -> &str {
    body.split_once('.').map_or(body, |(entry, _)| entry)
}

#[cfg(test)]
mod tests {
    use super::{Warning, worst};

    #[test]
    fn one_warning_of_a_kind_stands_for_all_bodies_of_an_entry() {
        let of = |kind, body: Option<&str>, severity| Warning {
            kind,
            body: body.map(str::to_owned),
            severity,
            text: format!("{kind} {severity}"),
        };
        let all = [
            of("thin", Some("wall.a"), 0.3),
            of("size", None, 0.0),
            of("fast", Some("wall.a"), 1.0),
            of("thin", Some("wall.b"), 0.9),
            of("thin", Some("wall.c"), 0.5),
            of("thin", Some("ball"), 0.1),
            of("size", None, 0.0),
        ];
        let found: Vec<_> = worst(&all)
            .iter()
            .map(|one| (one.warning.text.clone(), one.entry, one.others))
            .collect();
        let expected = [
            ("thin 0.9", "wall", 2),
            ("size 0", "", 0),
            ("fast 1", "wall", 0),
            ("thin 0.1", "ball", 0),
            ("size 0", "", 0),
        ];
        let expected = expected.map(|(text, entry, others)| (text.to_owned(), entry, others));
        assert_eq!(found, expected);
    }
}
