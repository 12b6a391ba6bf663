//! A shell script that submits each step to Slurm, frames as an array of jobs.
//!
//! Slurm queues a task again that is preempted, or whose machine fails. A task whose time ends queues itself again as
//! often as it takes. One that ends with an exit code other than 0 and 2 does so a few times: 1 and 137 may be a full
//! disk or lack of memory on that machine.

use std::fmt::Write;

use super::job::{FarmJob, FarmStep, PERCENT};
use super::quote::{shell, shell_words};

/// Times that a failed task queues itself again.
const RETRIES: u32 = 3;
/// Seconds before the end of its time at which a task gets the signal USR1: enough for a frame and its state.
const NOTICE: u32 = 120;
/// Tasks of an array, unless a Slurm allows more.
pub const USUAL_TASKS: u32 = 1001;

/// The script.
pub fn write(job: &FarmJob) -> String {
    let mut text = format!(
        "#!/bin/sh\n\
         # {}: submits stages of cullet to Slurm. sh FILE [OPTIONS OF SBATCH], such as --partition=render --time=60\n\
         # Each stage gets the options; those of --dependency hold for stages that wait for no other.\n\
         set -eu\nsubmitted=\n\
         trap '[ $? -eq 0 ] || [ -z \"$submitted\" ] || scancel $submitted' EXIT\n",
        job.name
    );
    for step in &job.steps {
        write_step(&mut text, job, step);
    }
    text
}

/// Writes the submission of a step. The numbers of jobs are in variables with the names of the steps.
fn write_step(text: &mut String, job: &FarmJob, step: &FarmStep) {
    let name = shell(&format!("{} {}", job.name, step.name));
    let mut usual =
        format!("--job-name={name} --requeue --open-mode=append --signal=B:USR1@{NOTICE}");
    if let Some(cores) = job.cores {
        let _ = write!(usual, " --cpus-per-task={cores}");
    }
    // Options after those of the user, which must not replace them.
    let mut fixed = String::new();
    if step.is_split {
        let _ = write!(fixed, " --array=0-{}", job.frames.tasks() - 1);
    }
    if let Some(before) = job.before(step) {
        let _ = write!(
            fixed,
            " --dependency=\"afterok:${}\" --kill-on-invalid-dep=yes",
            before.name
        );
    }
    let variable = &step.name;
    let _ = write!(
        text,
        "\n{variable}=$(sbatch --parsable {usual} \"$@\"{fixed} <<'END'\n#!/bin/sh\n"
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
    let range = if step.is_split {
        " \"$first-$last\""
    } else {
        ""
    };
    // The SLURM_JOB_ID of one task of an array is that of the array: to queue it again would queue all again.
    let itself = match step.is_split {
        true => "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID",
        false => "$SLURM_JOB_ID",
    };
    let command = shell_words(&step.words(job, PERCENT));
    let _ = write!(
        text,
        r#"{command}{range} &
task=$!
out_of_time=
cancelled=
trap 'out_of_time=1; kill -TERM "$task"' USR1
trap 'cancelled=1' TERM # of scancel, or for a task of higher priority: Slurm tells the program as well
code=0
wait "$task" || code=$?
# A signal ends the first wait, not the task.
while kill -0 "$task" 2>/dev/null; do code=0; wait "$task" || code=$?; done
itself={itself}
failures="${{SLURM_SUBMIT_DIR:-.}}/slurm-$itself.failures"
if [ "$code" -eq 0 ]; then
    rm -f "$failures"
elif [ -n "$cancelled" ] || [ "$code" -eq 2 ]; then
    exit "$code"
elif [ -n "$out_of_time" ]; then
    scontrol requeue "$itself"
elif echo "$code" >>"$failures" && [ "$(wc -l <"$failures")" -le {RETRIES} ]; then
    scontrol requeue "$itself"
fi
exit "$code"
END
)
{variable}=${{{variable}%%;*}} # without the name of the cluster
submitted="$submitted ${variable}"
echo "{variable} ${variable}"
"#
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
            "--cpus-per-task=4 \"$@\" --array=0-3 --dependency=\"afterok:$simulate\"",
            "first=$((0 + SLURM_ARRAY_TASK_ID * 10))\nlast=$((first + 9))\nif [ \"$last\" -gt 36 ]; then last=36; fi\n",
            "--frames \"$first-$last\" &",
            "export_usd=$(sbatch",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
