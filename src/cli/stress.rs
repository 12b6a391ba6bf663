//! `cullet stress`: where bodies would crack under loads at rest, and how near they are.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::arguments::{StressArguments, default_store};
use super::error::WrongUse;
use super::progress::ProgressReporter;
use super::stage_inputs::StageInputs;
use super::stages;
use crate::spec;
use crate::store::{LockMode, Manifest, Store};
use crate::stress::{Findings, LargestStress, Verdict};
use crate::units::show::{figures, quantity};

/// Runs `cullet stress`. Packs the bodies of a pipeline file first if they are not packed yet.
pub fn stress(
    arguments: &StressArguments,
    report: &ProgressReporter,
    as_json: bool,
) -> anyhow::Result<()> {
    let is_pipeline = arguments.target.is_file() || spec::is_standard_input(&arguments.target);
    let root = match is_pipeline {
        true if arguments.frames.is_some() => {
            let what =
                "--frames belongs to a store with a simulation; a pipeline file has no frames";
            return Err(WrongUse(what.into()).into());
        }
        true => packed_store(arguments, report)?,
        false => {
            if arguments.out.is_some() || !arguments.set.is_empty() {
                let what = "--out and --set belong to a pipeline file; a store has its own";
                return Err(WrongUse(what.into()).into());
            }
            arguments.target.clone()
        }
    };
    let _held = Store::open(&root)?.lock(LockMode::Exclusive, "stress")?;
    let findings = stages::stress(&root, arguments.frames.as_ref(), report)?;
    if as_json {
        let all: Vec<Value> = findings.verdicts.iter().map(verdict_json).collect();
        let left_out: Vec<Value> = (findings.left_out.iter())
            .map(|(body, frame)| json!({ "body": body, "frame": frame }))
            .collect();
        let both = json!({ "bodies": all, "left_out": left_out });
        return super::print::print(&both.to_string());
    }
    super::print::print(&lines(&findings).join("\n"))
}

/// Path of the store of a pipeline file, with its bodies packed.
fn packed_store(arguments: &StressArguments, report: &ProgressReporter) -> anyhow::Result<PathBuf> {
    let resolved = spec::read(&arguments.target, &arguments.set)?;
    let root = match &arguments.out {
        Some(out) => out.clone(),
        None => default_store(&arguments.target)?,
    };
    stages::refuse_foreign_folder(&root)?;
    let store = Store::at(&root);
    let inputs = StageInputs::pack(&resolved.pipeline, &resolved.folder);
    let current = store.path("store.json").is_file() && {
        let manifest = Manifest::read(&store)?;
        inputs.outdated(&store, &manifest, &[]).is_none()
    };
    if !current {
        let hold = || Ok(store.lock(LockMode::Exclusive, "stress")?);
        stages::pack(&resolved, &store, hold, report)?;
    }
    stages::set_pipeline(&store, &resolved.pipeline)?;
    Ok(root)
}

/// The lines printed for a run.
pub fn lines(findings: &Findings) -> Vec<String> {
    let several = findings.verdicts.iter().any(|verdict| verdict.frame > 0);
    let of = |verdict| lines_of_body(verdict, several);
    let mut lines: Vec<String> = findings.verdicts.iter().flat_map(of).collect();
    let mut left_out: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (body, frame) in &findings.left_out {
        left_out.entry(body).or_default().push(frame.to_string());
    }
    for (body, frames) in left_out {
        lines.push(format!(
            "{body}: left out in {} {}, where it is broken or has no elements",
            if frames.len() == 1 { "frame" } else { "frames" },
            frames.join(", ")
        ));
    }
    lines
}

/// The lines printed for a body; with its frame number if several frames were solved.
fn lines_of_body(verdict: &Verdict, several: bool) -> Vec<String> {
    let name = match several {
        true => format!("{}, frame {}", verdict.body, verdict.frame),
        false => verdict.body.clone(),
    };
    let mut lines = Vec::new();
    lines.extend(verdict.notes.iter().map(|note| format!("{name}: {note}")));
    if let Some((force, moment)) = verdict.unbalanced {
        lines.push(format!(
            "{name}: nothing clamps it and its loads do not balance: {} and {} about its centre of mass accelerate it (inertia relief)",
            quantity(force.length(), "N"),
            quantity(moment.length(), "N m"),
        ));
    }
    match &verdict.largest {
        None => lines.push(format!(
            "{name}: it has no tensile stress and does not crack"
        )),
        Some(largest) => {
            let text = describe_largest(largest, verdict.cracks.is_some());
            lines.push(format!("{name}: {text}"));
        }
    }
    if let Some(cracks) = &verdict.cracks {
        let factor = cracks.first_load_factor;
        lines.push(match (cracks.through, cracks.at_rest) {
            (0, 0) if !cracks.unsolved.is_empty() => format!(
                "{name}: begins to crack at {} times the loads, but it is not known how the crack ends",
                figures(factor)
            ),
            (0, 0) if factor.is_finite() => format!(
                "{name}: does not crack; it would at {} times the loads",
                figures(factor)
            ),
            (0, 0) => format!("{name}: does not crack"),
            (through, at_rest) => format!(
                "{name}: cracks first at {} times the loads; {through} cracks through it, {at_rest} at rest inside, {} pieces",
                figures(factor),
                cracks.pieces
            ),
        });
        let unsolved = cracks.unsolved.iter();
        lines.extend(unsolved.map(|what| format!("{name}: {what}")));
    }
    lines
}

/// Describes the largest stress. If cracks were computed (`cracks`), the load factor is left to the line
/// about them.
fn describe_largest(largest: &LargestStress, cracks: bool) -> String {
    let vector = |v: glam::DVec3| {
        let [x, y, z] = v.to_array().map(figures);
        format!("({x}, {y}, {z})")
    };
    let mut text = format!(
        "largest principal stress {} at {} m {}, along {}",
        quantity(largest.stress, "Pa"),
        vector(largest.place),
        match largest.on_surface {
            true => "on the surface",
            false => "inside",
        },
        vector(largest.direction),
    );
    if let [(load, part), _, ..] = &largest.shares[..] {
        text += &format!(", {} % of it from {load:?}", figures(100.0 * part));
    }
    match (largest.utilization, largest.load_factor()) {
        (Some(utilization), Some(factor)) => {
            text += &format!("; that is {} of the tensile strength", figures(utilization));
            if !cracks {
                text += &format!(": it cracks at {} times the loads", figures(factor));
            }
        }
        _ => text += "; the material has no tensile_strength to compare it with",
    }
    text
}

fn verdict_json(verdict: &Verdict) -> Value {
    let largest = verdict.largest.as_ref().map(|largest| {
        let shares = largest.shares.iter();
        let shares: Vec<Value> = shares
            .map(|(load, part)| json!({ "load": load, "part": part }))
            .collect();
        json!({
            "stress": largest.stress,
            "utilization": largest.utilization,
            "load_factor": largest.load_factor(),
            "place": largest.place.to_array(),
            "on_surface": largest.on_surface,
            "direction": largest.direction.to_array(),
            "shares": shares,
        })
    });
    json!({
        "body": verdict.body,
        "frame": verdict.frame,
        "time": verdict.time,
        "triangles": verdict.triangles,
        "points": verdict.points,
        "solves": verdict.solves.0,
        "iterations": verdict.solves.1,
        "seconds": verdict.seconds,
        "notes": verdict.notes,
        "unbalanced": verdict.unbalanced.map(|(force, moment)| json!({
            "force": force.to_array(),
            "moment": moment.to_array(),
        })),
        "largest": largest,
        "cracks": verdict.cracks.as_ref().map(|cracks| json!({
            "through": cracks.through,
            "at_rest": cracks.at_rest,
            "pieces": cracks.pieces,
            "first_load_factor": cracks.first_load_factor,
            "unsolved": cracks.unsolved,
        })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stress::Cracks;

    #[test]
    fn a_crack_that_could_not_be_followed_is_not_reported_as_no_crack() {
        let verdict = |cracks: Cracks| Verdict {
            body: "bar".into(),
            frame: 0,
            time: 0.0,
            triangles: 0,
            points: 0,
            solves: (0, 0),
            seconds: 0.0,
            notes: Vec::new(),
            cracks: Some(cracks),
            largest: None,
            unbalanced: None,
        };
        let unfollowed = Cracks {
            through: 0,
            at_rest: 0,
            pieces: 1,
            first_load_factor: 0.5,
            unsolved: vec!["a crack could not be followed".into()],
        };
        let whole = Cracks {
            first_load_factor: 2.0,
            unsolved: Vec::new(),
            ..unfollowed.clone()
        };
        let found = lines_of_body(&verdict(unfollowed), false).join("\n");
        assert!(found.contains("begins to crack at 0.5 times"), "{found}");
        assert!(found.contains("bar: a crack could not be followed"));
        let found = lines_of_body(&verdict(whole), false).join("\n");
        assert!(found.contains("does not crack; it would at 2 times"));
    }
}
