//! Folder of the runs, and method of counting instructions.

use crate::args::track::{Method as Choice, Runs};
use crate::environment;
use crate::usage::{Usage, joined};
use anyhow::{Context, Result, bail};
use chronoscope_track::counters::{Calibration, Method, calibrate};
use chronoscope_track::run::{Folder, Record};
use chronoscope_track::suite::Suite;
use chronoscope_track::system::System;
use std::path::PathBuf;

/// The given folder, else that of the suite.
pub(super) fn folder(args: &Runs) -> Result<PathBuf> {
    match &args.runs {
        Some(folder) => Ok(folder.clone()),
        None => {
            let suite = Suite::read(&args.suite)
                .context(
                    "the folder of runs is missing: give --runs DIR, or the --suite FILE of \
                     the runs",
                )
                .map_err(|error| Usage::new(joined(&error)))?;
            Ok(of(&suite))
        }
    }
}

/// A suite's own folder.
pub(super) fn of(suite: &Suite) -> PathBuf {
    environment::data_dir().join("runs").join(&suite.name)
}

/// All readable runs; reports the unreadable ones.
pub(super) fn all(folder: &Folder) -> Result<Vec<Record>> {
    let found = folder.all()?;
    for error in &found.unreadable {
        say!("left out: {error}");
    }
    Ok(found.records)
}

/// The chosen method, after a trial.
pub(super) fn method(choice: Choice) -> Result<(Method, Option<Calibration>)> {
    let because = if choice == Choice::Callgrind {
        "it was asked for".to_owned()
    } else {
        match calibrate() {
            Ok(calibration) => return Ok((Method::Hardware, Some(calibration))),
            Err(error) if choice == Choice::Counters => {
                return Err(error).context("this machine has no hardware counters");
            }
            Err(error) => error.to_string(),
        }
    };
    if System::here().valgrind.is_none() {
        bail!(
            "this machine has no hardware counters ({because}), and valgrind, which counts without \
             them, is missing: install it (Debian: apt-get install valgrind)"
        );
    }
    Ok((Method::Callgrind { because }, None))
}
