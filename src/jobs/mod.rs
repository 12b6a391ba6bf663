//! Jobs for render farms: stages of a shot in the languages of farm managers, some of them split into chunks of frames.
//!
//! A [`FarmJob`] is a list of steps, which wait for earlier ones. To add a farm manager, add one file here, a
//! value of [`FarmManager`] and its line in [`write`].

#[cfg(test)]
mod fixture;
mod flamenco;
mod job;
mod opencue;
mod openjd;
mod quote;
mod slurm;
mod snakemake;

pub use job::{FarmJob, FarmStep, FrameChunks};

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
