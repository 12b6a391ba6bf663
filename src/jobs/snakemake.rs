//! A Snakefile.
//!
//! Beside the store, a folder has an empty file for each task that is done. A task runs again if that file is older
//! than the frames or the packing that it begins with, or than the files of the step that it waits for.

use std::fmt::Write;

use super::job::{FarmJob, FarmStep, PERCENT};
use super::quote::{shell, string};

/// Times that a task is tried again after a failure.
const RETRIES: u32 = 2;

/// The Snakefile.
pub fn write(job: &FarmJob) -> String {
    let all: Vec<String> = job.steps.iter().map(files).collect();
    let mut text = format!(
        "# {}: stages of cullet as rules. snakemake --cores all --snakefile FILE\n\
         import os.path\n\nSTORE = {}\nCULLET = {}\n\
         DONE = STORE + \".done\"\n\
         FIRST, LAST, CHUNK = {}, {}, {}  # frames, both included, and frames of a task\n\
         RANGES = [f\"{{first}}-{{min(first + CHUNK - 1, LAST)}}\" for first in range(FIRST, LAST + 1, CHUNK)]\n\
         \n\nrule all:\n    input: {}\n",
        job.name,
        string(&job.store),
        string(&job.program),
        job.frames.frames.start(),
        job.frames.frames.end(),
        job.frames.chunk,
        all.join(", ")
    );
    for step in &job.steps {
        write_rule(&mut text, job, step);
    }
    text
}

/// An expression for the files that say that the step is done.
fn files(step: &FarmStep) -> String {
    match step.is_split {
        true => format!(
            "[f\"{{DONE}}/{}-{{frames}}\" for frames in RANGES]",
            step.name
        ),
        false => format!("DONE + \"/{}\"", step.name),
    }
}

/// An expression for the files that a step begins with.
fn inputs(job: &FarmJob, step: &FarmStep) -> String {
    let frames = |first: &str, last: &str| {
        format!(
            "f\"{{STORE}}/frames/{{frame:06}}.parquet\" for frame in range({first}, {last} + 1)"
        )
    };
    match (job.before(step), step.command.as_str()) {
        (Some(before), _) => files(before),
        (None, "simulate" | "stress") => "STORE + \"/packing/elements.parquet\"".to_owned(),
        (None, _) if step.is_split => {
            let frames = frames("int(wildcards.first)", "int(wildcards.last)");
            format!("lambda wildcards: [{frames}]")
        }
        // A store of stress at rest has no frames.
        (None, _) => format!("filter(os.path.exists, [{}])", frames("FIRST", "LAST")),
    }
}

/// Writes the rule of a step.
fn write_rule(text: &mut String, job: &FarmJob, step: &FarmStep) {
    let file = if step.is_split { "-{first}-{last}" } else { "" };
    let named = FarmJob {
        program: "{CULLET:q}".to_owned(),
        store: "{STORE:q}".to_owned(),
        cores: None,
        ..job.clone()
    };
    let mut words = step.words(&named, PERCENT);
    words.splice(1..1, ["--threads".to_owned(), "{threads}".to_owned()]);
    if step.is_split {
        words.push("{wildcards.first}-{wildcards.last}".to_owned());
    }
    let words: Vec<String> = words.iter().map(|word| placeholder_or(word)).collect();
    let cores = job
        .cores
        .map_or("workflow.cores".to_owned(), |cores| cores.to_string());
    let _ = write!(
        text,
        "\n\nrule {name}:\n    input: {}\n    output: touch(DONE + \"/{name}{file}\")\n    threads: {cores}\n    \
         retries: {RETRIES}\n    shell: {}\n",
        inputs(job, step),
        string(&words.join(" ")),
        name = step.name
    );
}

/// A placeholder as it is, any other word as the shell needs it.
fn placeholder_or(word: &str) -> String {
    match word.starts_with('{') {
        true => word.to_owned(),
        false => shell(word).replace('{', "{{").replace('}', "}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn rules_depend_on_each_other() {
        let text = write(&fixture::job());
        for part in [
            "FIRST, LAST, CHUNK = 0, 36, 10 ",
            "DONE + \"/export_usd\", DONE + \"/export_glb\"\n",
            "rule export_usd:\n    input: [f\"{DONE}/reconstruct-{frames}\" for frames in RANGES]",
            "rule reconstruct:\n    input: DONE + \"/simulate\"",
            "output: touch(DONE + \"/reconstruct-{first}-{last}\")\n    threads: 4\n",
            "{CULLET:q} --threads {threads} --progress percent reconstruct {STORE:q} --frames {wildcards.first}-{wildcards.last}",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn surfaces_of_frames_that_exist_depend_on_these() {
        let mut job = fixture::job();
        job.steps.remove(0);
        let text = write(&job);
        assert!(text.contains("{STORE}/frames/{frame:06}.parquet"), "{text}");
    }
}
