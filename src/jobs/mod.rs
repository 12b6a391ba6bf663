//! Jobs for render farms: stages of a shot, some of them split into chunks of frames, in the languages of farm managers.
//!
//! A [`FarmJob`] is a list of steps, which wait for earlier ones. To add a farm manager, add one file here, a
//! value of [`FarmManager`] and its line in [`write`].

mod flamenco;
mod opencue;
mod openjd;
mod quote;
mod slurm;
mod snakemake;

use std::ops::RangeInclusive;

/// Program that runs jobs on many machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FarmManager {
    /// Open Job Description, which AWS Deadline Cloud and `openjd run` take.
    #[value(name = "openjd")]
    OpenJd,
    /// Slurm: a shell script that submits one array of jobs for each stage.
    Slurm,
    /// Snakemake: a Snakefile.
    Snakemake,
    /// OpenCue: the XML of a job.
    #[value(name = "opencue")]
    OpenCue,
    /// Flamenco: a job type.
    Flamenco,
}

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
    /// Options of the command, without `--frames`.
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
const PERCENT: &str = "percent";

impl FarmStep {
    /// The command line: the program, then its arguments. That of a step that is split ends with `--frames`, to which
    /// each farm manager adds a range in its own way.
    fn words(&self, job: &FarmJob, progress: &str) -> Vec<String> {
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
    fn before(&self, step: &FarmStep) -> Option<&FarmStep> {
        let name = step.waits_for.as_ref()?;
        self.steps.iter().find(|other| other.name == *name)
    }

    /// Whether any step is split.
    fn is_split(&self) -> bool {
        self.steps.iter().any(|step| step.is_split)
    }

    /// The name on one line, for comments.
    fn title(&self) -> String {
        self.name.replace(['\n', '\r'], " ")
    }
}

impl FrameChunks {
    /// Number of tasks.
    pub fn tasks(&self) -> u32 {
        let frames = self.frames.end() - self.frames.start() + 1;
        frames.div_ceil(self.chunk)
    }
}

/// The job in the language of this farm manager.
pub fn write(job: &FarmJob, manager: FarmManager) -> String {
    match manager {
        FarmManager::OpenJd => openjd::write(job),
        FarmManager::Slurm => slurm::write(job),
        FarmManager::Snakemake => snakemake::write(job),
        FarmManager::OpenCue => opencue::write(job),
        FarmManager::Flamenco => flamenco::write(job),
    }
}

#[cfg(test)]
mod fixture {
    use super::*;

    /// A simulation, then surfaces in chunks of ten frames, then two exports; with a name that every language must quote.
    pub fn job() -> FarmJob {
        FarmJob {
            name: "bunny".to_owned(),
            program: "/opt/cullet".to_owned(),
            store: EVIL.to_owned(),
            cores: Some(4),
            show: "testing".to_owned(),
            frames: FrameChunks {
                frames: 0..=36,
                chunk: 10,
            },
            steps: vec![
                step("simulate", "simulate", &["--resume"], None),
                FarmStep {
                    is_split: true,
                    ..step("reconstruct", "reconstruct", &[], Some("simulate"))
                },
                step(
                    "export_usd",
                    "export",
                    &["--format", "usd"],
                    Some("reconstruct"),
                ),
                step(
                    "export_glb",
                    "export",
                    &["--format", "glb"],
                    Some("reconstruct"),
                ),
            ],
        }
    }

    fn step(name: &str, command: &str, options: &[&str], waits_for: Option<&str>) -> FarmStep {
        FarmStep {
            name: name.to_owned(),
            command: command.to_owned(),
            options: options.iter().map(|&word| word.to_owned()).collect(),
            is_split: false,
            waits_for: waits_for.map(str::to_owned),
        }
    }

    /// The name of a folder with what shells and other languages give a meaning to.
    pub const EVIL: &str = "/shots/it's \"5 $HOME\" {wild} <b>&amp; \\n `ls` %d";
}

#[cfg(test)]
mod tests {
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
        let store = fixture::EVIL;
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
