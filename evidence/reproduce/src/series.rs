//! Runs experiments one after the other, and stores each outcome.

use crate::machine::load;
use crate::outcome::{Machine, Outcome, VERSION};
use crate::plan::Experiment;
use crate::programs::Programs;
use crate::progress::{Progress, length};
use crate::run::{Interrupted, LOG, Run, end_leftovers};
use anyhow::{Context, Result};
use chronoscope_clock::{monotonic_ns, utc_now_ns};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// File with the outcome in an experiment's folder.
const KEPT: &str = "outcome.json";

/// Settings of a series.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The short form.
    pub quick: bool,
    /// Measure again even if the same programs were measured before.
    pub again: bool,
    /// Each has a folder in it.
    pub out: PathBuf,
    /// The root of the repository.
    pub root: PathBuf,
    /// Commit of the measured version.
    pub commit: String,
}

/// End of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All that were asked for have found something.
    Whole,
    /// Some experiments failed; the report has the reasons.
    Failed,
    /// A signal interrupted it.
    Interrupted,
}

impl Settings {
    fn folder(&self, experiment: &Experiment) -> PathBuf {
        self.out.join(experiment.id)
    }

    fn expected_s(&self, experiment: &Experiment) -> f64 {
        experiment.expected_s[usize::from(!self.quick)]
    }

    fn key(&self, experiment: &Experiment, programs: &Programs) -> Result<String> {
        let form = if self.quick { "quick" } else { "whole" };
        Ok(format!("{form};{}", programs.key(experiment.programs)?))
    }

    /// Stored outcome of an experiment, of any version of the programs.
    #[must_use]
    pub fn kept(&self, experiment: &Experiment) -> Option<Outcome> {
        let text = std::fs::read_to_string(self.folder(experiment).join(KEPT)).ok()?;
        let outcome: Outcome = serde_json::from_str(&text).ok()?;
        (outcome.version == VERSION).then_some(outcome)
    }

    /// Whether it would be measured: nothing was kept, it failed, or it is of other programs or the
    /// other form. The whole stands for the short form.
    #[must_use]
    pub fn is_due(&self, experiment: &Experiment, programs: &Programs) -> bool {
        let Some(kept) = self.kept(experiment) else { return true };
        let Ok(key) = self.key(experiment, programs) else { return true };
        let whole = key.replacen("quick", "whole", 1);
        self.again || kept.failure.is_some() || (kept.key != key && kept.key != whole)
    }
}

/// Runs those of the experiments that are due.
///
/// # Errors
/// When a folder cannot be written. An experiment that fails is kept as such.
pub fn run(
    settings: &Settings,
    experiments: &[&Experiment],
    programs: &Programs,
    stop: &Arc<AtomicBool>,
) -> Result<Ended> {
    let (due, kept): (Vec<&&Experiment>, Vec<_>) =
        experiments.iter().partition(|experiment| settings.is_due(experiment, programs));
    for experiment in &kept {
        eprintln!("kept: {}", experiment.title);
    }
    let mut left_s: f64 = due.iter().map(|experiment| settings.expected_s(experiment)).sum();
    if !due.is_empty() {
        eprintln!("{} experiments, about {}", due.len(), length(left_s));
    }
    let mut ended = Ended::Whole;
    for (index, experiment) in due.iter().enumerate() {
        let expected_s = settings.expected_s(experiment);
        left_s -= expected_s;
        let at = [index + 1, due.len()];
        let progress = Progress::begin(experiment.title, at, expected_s, left_s);
        match one(settings, experiment, programs, stop, &progress) {
            Ok(outcome) => match &outcome.failure {
                None => progress.end("done"),
                Some(why) => {
                    progress.end(&format!("FAILED: {why}"));
                    ended = Ended::Failed;
                }
            },
            Err(error) if error.is::<Interrupted>() => {
                progress.end("interrupted");
                return Ok(Ended::Interrupted);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(ended)
}

/// Runs one experiment, and stores its outcome.
fn one(
    settings: &Settings,
    experiment: &Experiment,
    programs: &Programs,
    stop: &Arc<AtomicBool>,
    progress: &Progress,
) -> Result<Outcome> {
    let folder = settings.folder(experiment);
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let folder = folder.canonicalize()?;
    end_leftovers(&folder);
    if settings.again {
        // What programs keep there of their own they would go on with.
        std::fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
        std::fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
    }
    let log = folder.join(LOG);
    std::fs::write(&log, "").with_context(|| log.display().to_string())?;
    let expected_s = settings.expected_s(experiment);
    let (began_utc_ns, before_ns, load_before) = (utc_now_ns(), monotonic_ns(), load());
    let mut run = Run::new(
        settings.quick,
        folder.clone(),
        &settings.root,
        programs,
        Arc::clone(stop),
        progress,
        expected_s,
    )?;
    let found =
        settings.key(experiment, programs).and_then(|key| Ok((key, (experiment.run)(&mut run)?)));
    let (key, found, failure) = match found {
        Ok((key, found)) => (key, found, None),
        Err(error) if error.is::<Interrupted>() => return Err(error),
        Err(error) => (String::new(), Vec::new(), Some(format!("{error:#}"))),
    };
    let outcome = Outcome {
        version: VERSION,
        experiment: experiment.id.to_owned(),
        key,
        commit: settings.commit.clone(),
        quick: settings.quick,
        scale: experiment.scale[usize::from(!settings.quick)].to_owned(),
        machine: Machine::this(),
        load: [load_before, load()],
        began_utc_ns,
        took_s: (monotonic_ns() - before_ns) as f64 / 1e9,
        commands: run.commands().to_vec(),
        failure,
        found,
    };
    keep(&folder, &outcome)?;
    Ok(outcome)
}

/// Whole or not at all.
fn keep(folder: &Path, outcome: &Outcome) -> Result<()> {
    let (path, new) = (folder.join(KEPT), folder.join("outcome.new"));
    std::fs::write(&new, serde_json::to_string_pretty(outcome)?)
        .with_context(|| new.display().to_string())?;
    std::fs::rename(&new, &path).with_context(|| path.display().to_string())
}
