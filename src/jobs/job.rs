//! What a job is: stages of a shot in their order.

use std::ops::RangeInclusive;

/// Stages of a shot, for a farm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FarmJob {
    /// Name of the job.
    pub name: String,
    /// The program cullet, as the machines of the farm find it.
    pub program: String,
    /// Folder of the frame store, as the machines of the farm find it.
    pub store: String,
    /// Processor cores of a task. `None`: what the farm gives it.
    pub cores: Option<u32>,
    /// Show that OpenCue books the job on.
    pub show: String,
    /// User of OpenCue whose job it is.
    pub user: String,
    /// Frames of the steps that are split.
    pub frames: FrameChunks,
    /// Steps in order.
    pub steps: Vec<FarmStep>,
}

/// One stage of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FarmStep {
    /// Name: letters, digits and `_`, different from those of the other steps.
    pub name: String,
    /// The command of the program.
    pub command: String,
    /// Options of the command; for a step that is split without `--frames`.
    pub options: Vec<String>,
    /// Whether its frames are spread over tasks.
    pub is_split: bool,
    /// Name of the earlier step that it waits for.
    pub waits_for: Option<String>,
}

/// Frames in chunks: each is the `--frames` of one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameChunks {
    /// First frame to last frame.
    pub frames: RangeInclusive<u32>,
    /// Largest number of frames of a task, at least 1.
    pub chunk: u32,
}

/// Form in which a task reports its progress, for `--progress`.
pub(super) const PERCENT: &str = "percent";

impl FarmStep {
    /// The command line: the program, then its arguments. That of a step that is split ends with `--frames`, to which
    /// each farm manager adds a range in its own way.
    pub(super) fn words(&self, job: &FarmJob, progress: &str) -> Vec<String> {
        let mut words = vec![job.program.clone(), "--progress".into(), progress.into()];
        if let Some(cores) = job.cores {
            words.extend(["--threads".to_owned(), cores.to_string()]);
        }
        words.extend([self.command.clone(), job.store.clone()]);
        words.extend(self.options.iter().cloned());
        if self.is_split {
            words.push("--frames".to_owned());
        }
        words
    }
}

impl FarmJob {
    /// The step that a step waits for.
    pub(super) fn before(&self, step: &FarmStep) -> Option<&FarmStep> {
        let name = step.waits_for.as_ref()?;
        self.steps.iter().find(|other| other.name == *name)
    }

    /// Whether any step is split.
    pub(super) fn is_split(&self) -> bool {
        self.steps.iter().any(|step| step.is_split)
    }

    /// Refuses texts that cannot be written, with the reason: characters that end a line or have no picture.
    pub(super) fn check(&self) -> Result<(), String> {
        let texts = [
            ("name", &self.name),
            ("program", &self.program),
            ("store", &self.store),
        ];
        let unprintable = |letter: char| letter.is_control() || "\u{2028}\u{2029}".contains(letter);
        match texts.iter().find(|(_, text)| text.contains(unprintable)) {
            Some((what, text)) => Err(format!(
                "{what} {text:?}: control characters are not allowed"
            )),
            None => Ok(()),
        }
    }
}

impl FrameChunks {
    /// Number of tasks.
    pub fn tasks(&self) -> u32 {
        let frames = self.frames.end() - self.frames.start() + 1;
        frames.div_ceil(self.chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn chunks_cover_all_frames() {
        for (frames, chunk, tasks) in [
            (0..=36, 10, 4),
            (0..=39, 10, 4),
            (7..=7, 5, 1),
            (0..=2, 1, 3),
        ] {
            assert_eq!(FrameChunks { frames, chunk }.tasks(), tasks);
        }
    }

    #[test]
    fn the_command_of_a_split_step_ends_with_the_option_for_a_range() {
        let job = fixture::job();
        let words = job.steps[1].words(&job, PERCENT);
        let store = fixture::STORE;
        let expected = [
            "/opt/cullet",
            "--progress",
            "percent",
            "--threads",
            "4",
            "reconstruct",
            store,
            "--frames",
        ];
        assert_eq!(words, expected);
    }
}
