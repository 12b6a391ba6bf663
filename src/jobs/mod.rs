//! Jobs for render farms: stages of a shot in the languages of farm managers. Some stages are split into chunks of
//! frames.
//!
//! A [`FarmJob`] is a list of steps, which wait for earlier ones. To add a farm manager, add one file here, a
//! value of [`FarmManager`] and its line in [`fn@write`].

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

/// Refuses what cannot be written for this farm manager, with the reason.
pub fn check(job: &FarmJob, manager: FarmManager) -> Result<(), String> {
    job.check()?;
    match manager == FarmManager::Snakemake && job.store.contains(['{', '}']) {
        true => Err(format!(
            "store {:?}: Snakemake takes braces in paths for wildcards",
            job.store
        )),
        false => Ok(()),
    }
}

/// What a farm manager may refuse in the job, for a note to the user.
pub fn doubts(job: &FarmJob, manager: FarmManager) -> Option<String> {
    let tasks = if job.is_split() {
        job.frames.tasks()
    } else {
        0
    };
    match manager {
        FarmManager::Slurm if tasks > slurm::USUAL_TASKS => Some(format!(
            "{tasks} tasks: Slurm allows {} in an array unless MaxArraySize is raised; choose a larger --chunk",
            slurm::USUAL_TASKS
        )),
        FarmManager::OpenCue if job.user == "root" => {
            Some("OpenCue refuses jobs of root; give another --user".to_owned())
        }
        FarmManager::OpenJd
            if job.name.chars().count() > openjd::LONGEST_NAME || job.name.contains("{{") =>
        {
            Some(format!(
                "OpenJD refuses the name: at most {} characters and no {{{{; give another --name",
                openjd::LONGEST_NAME
            ))
        }
        _ => None,
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
