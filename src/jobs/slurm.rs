//! A shell script that submits each step to Slurm, frames as an array of jobs.
//!
//! A task that is preempted, or whose machine fails, is queued again by Slurm. One that ends with an exit code other
//! than 0 and 2 queues itself again, a few times: 1 and 137 may be a full disk or lack of memory on that machine, 130 is
//! a simulation that was told to stop and continues.

use std::fmt::Write;

use super::job::{FarmJob, FarmStep, PERCENT};
use super::quote::{shell, shell_words};

/// Times that a failed task queues itself again.
const RETRIES: u32 = 3;
/// Seconds before the end of its time at which a task is told to stop: enough for a frame and its state.
const NOTICE: u32 = 120;

/// The script.
pub fn write(job: &FarmJob) -> String {
    let mut text = format!(
        "#!/bin/sh\n\
         # {}: submits stages of cullet to Slurm. sh FILE [OPTIONS OF SBATCH], such as --partition=render --time=60\n\
         set -eu\n",
        job.title()
    );
    for step in &job.steps {
        write_step(&mut text, job, step);
    }
    text
}

/// Writes the submission of a step. The numbers of jobs are in variables with the names
/// of the steps.
fn write_step(text: &mut String, job: &FarmJob, step: &FarmStep) {
    let name = shell(&format!("{} {}", job.name, step.name));
    let mut options = format!(
        "--parsable --job-name={name} --requeue --open-mode=append --signal=B:TERM@{NOTICE}"
    );
    if step.is_split {
        let _ = write!(options, " --array=0-{}", job.frames.tasks() - 1);
    }
    if let Some(cores) = job.cores {
        let _ = write!(options, " --cpus-per-task={cores}");
    }
    if let Some(before) = job.before(step) {
        let _ = write!(
            options,
            " --dependency=\"afterok:${}\" --kill-on-invalid-dep=yes",
            before.name
        );
    }
    let range = if step.is_split {
        " \"$first-$last\""
    } else {
        ""
    };
    let variable = &step.name;
    let _ = write!(
        text,
        "\n{variable}=$(sbatch {options} \"$@\" <<'END'\n#!/bin/sh\n"
    );
    if step.is_split {
        let (first, last) = (job.frames.frames.start(), job.frames.frames.end());
        let _ = write!(
            text,
            "first=$(({first} + SLURM_ARRAY_TASK_ID * {chunk}))\nlast=$((first + {less}))\n\
             if [ \"$last\" -gt {last} ]; then last={last}; fi\n",
            chunk = job.frames.chunk,
            less = job.frames.chunk - 1
        );
    }
    let _ = write!(
        text,
        "{command}{range} &\ntask=$!\n\
         trap 'kill -TERM \"$task\"' TERM\n\
         code=0\nwait \"$task\" || code=$?\n\
         # A signal ends the first wait, not the task.\n\
         while kill -0 \"$task\" 2>/dev/null; do code=0; wait \"$task\" || code=$?; done\n\
         if [ \"$code\" -ne 0 ] && [ \"$code\" -ne 2 ] && [ \"${{SLURM_RESTART_COUNT:-0}}\" -lt {RETRIES} ]; then\n    \
         scontrol requeue \"{itself}\"\nfi\nexit \"$code\"\nEND\n)\n\
         {variable}=${{{variable}%%;*}} # of a cluster: without its name\n\
         echo \"{variable} ${variable}\"\n",
        // One of the tasks has the number of the whole array as its own.
        itself = match step.is_split {
            true => "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID",
            false => "$SLURM_JOB_ID",
        },
        command = shell_words(&step.words(job, PERCENT)),
    );
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn steps_are_arrays_that_wait_for_each_other() {
        let text = write(&fixture::job());
        for part in [
            "--array=0-3 --cpus-per-task=4 --dependency=\"afterok:$simulate\"",
            "first=$((0 + SLURM_ARRAY_TASK_ID * 10))\nlast=$((first + 9))\nif [ \"$last\" -gt 36 ]; then last=36; fi\n",
            "--frames \"$first-$last\" &",
            "export_usd=$(sbatch",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
