//! A job template of Open Job Description, version 2023-09, as YAML.
//!
//! Frames are chunks (`CHUNK[INT]`), whose ranges `A-B` include B, as `--frames` reads them.

use std::fmt::Write;

use super::job::{FarmJob, FarmStep};
use super::quote::{string, strings};

/// Seconds from the signal to finish until a task is killed: time for a frame and its state.
const NOTICE: u32 = 120;
/// Characters that the name of a job may have.
pub const LONGEST_NAME: usize = 128;
/// Frames that a chunk may have.
const LARGEST_CHUNK: u32 = 150;

/// The template.
pub fn write(job: &FarmJob) -> String {
    let mut text = format!(
        "# {}: stages of cullet as a job. Try it with `openjd run FILE`.\n\
         specificationVersion: jobtemplate-2023-09\n",
        job.name
    );
    if job.is_split() {
        text += "extensions: [TASK_CHUNKING]\n";
    }
    let _ = write!(
        text,
        "name: {}\nparameterDefinitions:\n  \
         - {{name: Cullet, type: STRING, default: {}, description: The program.}}\n  \
         - {{name: Store, type: STRING, default: {}, description: Folder of the frame store.}}\n",
        string(&job.name),
        string(&job.program),
        string(&job.store)
    );
    if job.is_split() {
        let (first, last) = (job.frames.frames.start(), job.frames.frames.end());
        let _ = write!(
            text,
            "  - {{name: Frames, type: STRING, default: \"{first}-{last}\", description: Frames.}}\n  \
             - {{name: Chunk, type: INT, default: {}, minValue: 1, maxValue: {LARGEST_CHUNK}, description: Frames of a task.}}\n",
            job.frames.chunk.min(LARGEST_CHUNK)
        );
    }
    text += "steps:\n";
    for step in &job.steps {
        write_step(&mut text, job, step);
    }
    text
}

/// Writes a step.
fn write_step(text: &mut String, job: &FarmJob, step: &FarmStep) {
    let _ = writeln!(text, "  - name: {}", step.name);
    if let Some(before) = job.before(step) {
        let _ = writeln!(text, "    dependencies: [{{dependsOn: {}}}]", before.name);
    }
    if let Some(cores) = job.cores {
        let _ = writeln!(
            text,
            "    hostRequirements: {{amounts: [{{name: amount.worker.vcpu, min: {cores}}}]}}"
        );
    }
    let named = FarmJob {
        store: "{{Param.Store}}".to_owned(),
        ..job.clone()
    };
    let mut words = step.words(&named, "openjd");
    if step.is_split {
        *text += "    parameterSpace:\n      taskParameterDefinitions:\n        \
                  - name: Frame\n          type: CHUNK[INT]\n          range: \"{{Param.Frames}}\"\n          \
                  chunks: {defaultTaskCount: \"{{Param.Chunk}}\", rangeConstraint: CONTIGUOUS}\n";
        words.push("{{Task.Param.Frame}}".to_owned());
    }
    let _ = write!(
        text,
        "    script:\n      actions:\n        onRun:\n          command: \"{{{{Param.Cullet}}}}\"\n          \
         args: {}\n          \
         cancelation: {{mode: NOTIFY_THEN_TERMINATE, notifyPeriodInSeconds: {NOTICE}}}\n",
        strings(&words[1..])
    );
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn steps_wait_for_each_other_and_frames_are_chunks() {
        let text = write(&fixture::job());
        for part in [
            "extensions: [TASK_CHUNKING]",
            "default: \"0-36\"",
            "dependencies: [{dependsOn: simulate}]",
            "dependencies: [{dependsOn: reconstruct}]",
            "\"--progress\", \"openjd\", \"--threads\", \"4\", \"reconstruct\", \"{{Param.Store}}\", \"--frames\", \"{{Task.Param.Frame}}\"]",
            "amount.worker.vcpu, min: 4",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert_eq!(text.matches("CHUNK[INT]").count(), 1);
    }
}
