//! A job of OpenCue, as XML of its job specification (cjsl-1.12.dtd).
//!
//! Frames of a chunk are `#FRAME_START#` and `#FRAME_END#`, which OpenCue replaces. Steps are layers.

use std::fmt::Write;

use super::job::{FarmJob, FarmStep, PERCENT};
use super::quote::{shell_words, xml};

/// Times that OpenCue tries a failed frame again.
const RETRIES: u32 = 3;

/// The specification.
pub fn write(job: &FarmJob) -> String {
    let name = token(&job.name);
    let mut text = format!(
        "<?xml version=\"1.0\"?>\n\
         <!DOCTYPE spec PUBLIC \"SPI Cue Specification Language\" \"http://localhost:8080/spcue/dtd/cjsl-1.12.dtd\">\n\
         <spec>\n  <facility>local</facility>\n  <show>{}</show>\n  <shot>{name}</shot>\n  <user>{}</user>\n  \
         <job name=\"cullet\">\n    <paused>False</paused>\n    <maxretries>{RETRIES}</maxretries>\n    \
         <autoeat>False</autoeat>\n    <env/>\n    <layers>\n",
        xml(&token(&job.show)),
        xml(&job.user)
    );
    for step in &job.steps {
        write_layer(&mut text, job, step);
    }
    text += "    </layers>\n  </job>\n";
    let depends: Vec<String> = job
        .steps
        .iter()
        .filter_map(|step| depend(job, step))
        .collect();
    if !depends.is_empty() {
        let _ = write!(text, "  <depends>\n{}  </depends>\n", depends.concat());
    }
    text + "</spec>\n"
}

/// The dependency of a step on the one that it waits for.
fn depend(job: &FarmJob, step: &FarmStep) -> Option<String> {
    let before = job.before(step)?;
    Some(format!(
        "    <depend type=\"LAYER_ON_LAYER\" anyframe=\"False\">\n      <depjob>cullet</depjob>\n      \
         <deplayer>{}</deplayer>\n      <onjob>cullet</onjob>\n      <onlayer>{}</onlayer>\n    </depend>\n",
        step.name, before.name
    ))
}

/// A name of letters, digits and `_`, of at least three characters, as OpenCue requires.
fn token(name: &str) -> String {
    let keep = |letter: char| match letter.is_ascii_alphanumeric() {
        true => letter,
        false => '_',
    };
    let name: String = name.chars().map(keep).collect();
    format!("{name:_<3}")
}

/// Writes the layer of a step. OpenCue reserves one core for it unless the layer says otherwise.
fn write_layer(text: &mut String, job: &FarmJob, step: &FarmStep) {
    let cores = job.cores.unwrap_or(1);
    let job = &FarmJob {
        cores: Some(cores),
        ..job.clone()
    };
    let mut words = step.words(job, PERCENT);
    let (mut frames, mut chunk) = ("1-1".to_owned(), 1);
    if step.is_split {
        // OpenCue replaces these, also in quotes.
        words.push("#FRAME_START#-#FRAME_END#".to_owned());
        frames = format!("{}-{}", job.frames.frames.start(), job.frames.frames.end());
        chunk = job.frames.chunk;
    }
    let command = shell_words(&words);
    let _ = write!(
        text,
        "      <layer name=\"{}\" type=\"Render\">\n        <cmd>{}</cmd>\n        <range>{frames}</range>\n        \
         <chunk>{chunk}</chunk>\n        <cores>{cores}.0</cores>\n        <env/>\n        \
         <services><service>shell</service></services>\n      </layer>\n",
        step.name,
        xml(&command)
    );
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn steps_are_layers_that_wait_for_each_other() {
        let text = write(&fixture::job());
        for part in [
            "<range>0-36</range>\n        <chunk>10</chunk>\n        <cores>4.0</cores>",
            "--frames '#FRAME_START#-#FRAME_END#'</cmd>",
            "<layer name=\"export_usd\" type=\"Render\">",
            "<deplayer>reconstruct</deplayer>\n      <onjob>cullet</onjob>\n      <onlayer>simulate</onlayer>",
            "{wild} &lt;b&gt;&amp;amp;",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn names_are_what_opencue_takes() {
        assert_eq!(token("a b-c"), "a_b_c");
        assert_eq!(token("x"), "x__");
    }
}
