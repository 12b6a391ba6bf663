//! A Snakefile.
//!
//! A task is done when its file in the folder `NAME.done` exists. Frames that are newer than that file, or that a step
//! before has made again, make the task run again.

use std::fmt::Write;

use super::job::{FarmJob, FarmStep, PERCENT};
use super::quote::{shell, string};

/// Times that a task is tried again after a failure.
const RETRIES: u32 = 2;

/// The Snakefile.
pub fn write(job: &FarmJob) -> String {
    let done = format!("{}.done", job.name);
    let mut text = format!(
        "# {}: stages of cullet as rules. snakemake --cores all --snakefile FILE\n\
         STORE = {}\nCULLET = {}\nDONE = {}\n",
        job.title(),
        string(&job.store),
        string(&job.program),
        string(&done)
    );
    if job.is_split() {
        let _ = write!(
            text,
            "FIRST, LAST, CHUNK = {}, {}, {}  # frames, both included, and frames of a task\n\
             RANGES = [f\"{{first}}-{{min(first + CHUNK - 1, LAST)}}\" for first in range(FIRST, LAST + 1, CHUNK)]\n",
            job.frames.frames.start(),
            job.frames.frames.end(),
            job.frames.chunk
        );
    }
    let all: Vec<String> = job.steps.iter().map(files).collect();
    let _ = writeln!(text, "\n\nrule all:\n    input: {}", all.join(", "));
    for step in &job.steps {
        write_rule(&mut text, job, step);
    }
    text
}

/// An expression for the files that say that the step is done.
fn files(step: &FarmStep) -> String {
    match step.is_split {
        true => format!("expand(DONE + \"/{}-{{range}}\", range=RANGES)", step.name),
        false => format!("DONE + \"/{}\"", step.name),
    }
}

/// Writes the rule of a step.
fn write_rule(text: &mut String, job: &FarmJob, step: &FarmStep) {
    let _ = write!(text, "\n\nrule {}:\n", step.name);
    if let Some(before) = job.before(step) {
        let _ = writeln!(text, "    input: {}", files(before));
    } else if step.is_split {
        *text += "    input: lambda wildcards: [f\"{STORE}/frames/{frame:06}.parquet\" for frame in \
                  range(int(wildcards.first), int(wildcards.last) + 1)]\n";
    }
    let file = if step.is_split { "-{first}-{last}" } else { "" };
    let _ = writeln!(text, "    output: touch(DONE + \"/{}{file}\")", step.name);
    if let Some(cores) = job.cores {
        let _ = writeln!(text, "    threads: {cores}");
    }
    let named = FarmJob {
        program: "{CULLET:q}".to_owned(),
        store: "{STORE:q}".to_owned(),
        ..job.clone()
    };
    let mut words = step.words(&named, PERCENT);
    if step.is_split {
        words.push("{wildcards.first}-{wildcards.last}".to_owned());
    }
    let words: Vec<String> = words.iter().map(|word| placeholder_or(word)).collect();
    let _ = writeln!(
        text,
        "    retries: {RETRIES}\n    shell: {}",
        string(&words.join(" "))
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
            "rule export_usd:\n    input: expand(DONE + \"/reconstruct-{range}\", range=RANGES)",
            "rule reconstruct:\n    input: DONE + \"/simulate\"",
            "output: touch(DONE + \"/reconstruct-{first}-{last}\")",
            "{CULLET:q} --progress percent --threads 4 reconstruct {STORE:q} --frames {wildcards.first}-{wildcards.last}",
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
