//! A job type of Flamenco: a script for the folder `scripts` of its Manager.
//!
//! The ranges are made here and not by Flamenco's `frameChunker`, which writes two frames as `8,9`.

use super::job::{FarmJob, FarmStep, PERCENT};
use super::quote::{string, strings};

/// The script.
pub fn write(job: &FarmJob) -> String {
    let step = |step: &FarmStep| {
        let (name, words) = (string(&step.name), step.words(job, PERCENT));
        let arguments = strings(&words[1..]);
        let after = step.waits_for.as_ref();
        let after = after.map_or("null".to_owned(), |name| string(name));
        format!(
            "    {{ name: {name}, after: {after}, split: {}, args: {arguments} }},\n",
            step.is_split
        )
    };
    let steps: Vec<String> = job.steps.iter().map(step).collect();
    format!(
        r#"// {comment}: stages of cullet as a job type. Copy it into the folder `scripts` of Flamenco Manager.

const FIRST = {first}, LAST = {last}, CHUNK = {chunk}; // frames, both included, and frames of a task

const STEPS = [
{steps}];

const JOB_TYPE = {{
    label: {label},
    settings: [
        {{ key: "program", type: "string", required: true, default: {program}, description: "The program cullet" }},
    ]
}};

// A step waits for all tasks of the step named in `after`.
function compileJob(job) {{
    const made = {{}};
    for (const step of STEPS) {{
        const tasks = [];
        for (const range of step.split ? ranges() : [""]) {{
            const task = author.Task(range ? `${{step.name}}-${{range}}` : step.name, "misc");
            task.addCommand(author.Command("exec", {{
                exe: job.settings.program,
                args: range ? step.args.concat([range]) : step.args,
            }}));
            for (const other of made[step.after] || []) {{
                task.addDependency(other);
            }}
            job.addTask(task);
            tasks.push(task);
        }}
        made[step.name] = tasks;
    }}
}}

// Ranges A-B of frames, both included.
function ranges() {{
    const all = [];
    for (let first = FIRST; first <= LAST; first += CHUNK) {{
        all.push(`${{first}}-${{Math.min(first + CHUNK - 1, LAST)}}`);
    }}
    return all;
}}
"#,
        comment = job.name,
        first = job.frames.frames.start(),
        last = job.frames.frames.end(),
        chunk = job.frames.chunk,
        steps = steps.concat(),
        label = string(&format!("cullet: {}", job.name)),
        program = string(&job.program)
    )
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn steps_have_their_frames() {
        let text = write(&fixture::job());
        for part in [
            "{ name: \"simulate\", after: null, split: false, args: [\"--progress\", \"percent\", \"--threads\", \"4\", \"simulate\", ",
            "FIRST = 0, LAST = 36, CHUNK = 10;",
            "after: \"simulate\", split: true, ",
            "\"--frames\"] },",
            "default: \"/opt/cullet\"",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
