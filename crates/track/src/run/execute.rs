//! Measures a suite and stores the record after each item.

use super::profile_file::{keep_profile, keep_stacks};
use super::request::{Request, Version};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use std::sync::atomic::Ordering;

use chronoscope_clock as clock;

use super::record::{Commit, Discarded, ItemKind, Measured, Process, Record, RecordError, VERSION};
use super::surroundings::Surroundings;
use super::{Figures, figures, replay};
use crate::callgrind::Profile;
use crate::compare::Exactness;
use crate::counters::{self, Corruption, Method, Plan, Program, Run, Series};
use crate::suite::{ItemWork, SuiteItem};
use crate::system::{Load, System};

/// Progress of a measurement.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// An item begins.
    Begin {
        /// Number of the item, from 1.
        number: usize,
        /// Number of items.
        of: usize,
        /// Name of the item.
        name: &'a str,
    },
    /// An execution under Callgrind is over.
    Profiled {
        /// The item's name.
        name: &'a str,
        /// Number of the execution, from 1.
        run: usize,
    },
    /// An item is over.
    End(&'a Measured),
}

/// Reason why nothing is measured.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// A folder cannot be used.
    #[error("{path}: {source}")]
    Folder {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The run cannot be kept.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// No item has this name.
    #[error("the suite {suite} has no entry {name:?}: its entries are {items}")]
    NoItem {
        /// The suite's name.
        suite: String,
        /// The requested name.
        name: String,
        /// The available names.
        items: String,
    },
}

/// Measures one version.
///
/// # Errors
/// [`ExecuteError`] when nothing can be measured or kept. What fails in an item is in the record.
pub fn execute(
    request: &Request,
    version: &Version,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Record, ExecuteError> {
    Ok(execute_together(request, std::slice::from_ref(version), progress)?.remove(0))
}

/// Measures several versions, executions of each item in turns, so that a disturbance affects all
/// of them; returns a record for each.
///
/// # Errors
/// As [`execute`].
pub fn execute_together(
    request: &Request,
    versions: &[Version],
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<Record>, ExecuteError> {
    let items = wanted(request)?;
    let folder = |path: &Path| {
        let path = path.to_owned();
        move |source| ExecuteError::Folder { path, source }
    };
    let places = versions.iter().map(|version| {
        Surroundings::new(&version.bin, &version.suite).map_err(folder(&version.bin))
    });
    let places = places.collect::<Result<Vec<_>, _>>()?;
    let records = versions.iter().map(|version| begin(request, version));
    let mut records = records.collect::<Result<Vec<_>, _>>()?;
    for (index, item) in items.iter().enumerate() {
        if request.stop.load(Ordering::Relaxed) {
            break;
        }
        progress(Progress::Begin { number: index + 1, of: items.len(), name: &item.name });
        let measured = match &item.work {
            ItemWork::Unit { .. } => unit(request, item, &places, &records, progress),
            ItemWork::Replay { scenario, mode, part } => {
                replay::replays(request, item, (scenario, *mode, part), versions, &records)
            }
        };
        for (record, measured) in records.iter_mut().zip(measured) {
            progress(Progress::End(&measured));
            record.items.push(measured);
            record.load_after = Load::now();
            record.write()?;
        }
    }
    for record in &mut records {
        record.complete = !request.stop.load(Ordering::Relaxed);
        record.write()?;
    }
    Ok(records)
}

fn wanted(request: &Request) -> Result<Vec<&SuiteItem>, ExecuteError> {
    let items = &request.suite.items;
    if let Some(name) = request.only.iter().find(|name| items.iter().all(|i| i.name != **name)) {
        let names: Vec<_> = items.iter().map(|item| item.name.as_str()).collect();
        let (suite, items) = (request.suite.name.clone(), names.join(", "));
        return Err(ExecuteError::NoItem { suite, name: name.clone(), items });
    }
    let wanted = |item: &&SuiteItem| request.only.is_empty() || request.only.contains(&item.name);
    Ok(items.iter().filter(wanted).collect())
}

/// An empty record in a folder of its own.
fn begin(request: &Request, version: &Version) -> Result<Record, ExecuteError> {
    let started_ns = clock::utc_now_ns();
    let (id, folder) = place(&request.folder, started_ns, version.commit.as_ref())
        .map_err(|source| ExecuteError::Folder { path: request.folder.clone(), source })?;
    let load = Load::now();
    let record = Record {
        version: VERSION,
        id,
        suite: request.suite.name.clone(),
        started_ns,
        commit: version.commit.clone(),
        system: System::here(),
        method: request.method.clone(),
        calibration: request.calibration,
        load_before: load,
        load_after: load,
        complete: false,
        items: Vec::new(),
        bin: absolute(&version.bin),
        suite_folder: absolute(&version.suite),
        folder,
    };
    record.write()?;
    Ok(record)
}

fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// A new folder, named by time and version.
fn place(runs: &Path, at_ns: i64, commit: Option<&Commit>) -> io::Result<(String, PathBuf)> {
    fs::create_dir_all(runs)?;
    let time = jiff::Timestamp::from_nanosecond(at_ns.into()).map_err(io::Error::other)?;
    let mut name = time.strftime("%Y%m%d-%H%M%S").to_string();
    if let Some(commit) = commit {
        let tame = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        name.push('-');
        name.extend(commit.short().trim_end_matches('+').chars().take(40).map(tame));
    }
    for number in 1..=1000 {
        let id = if number == 1 { name.clone() } else { format!("{name}-{number}") };
        match fs::create_dir(runs.join(&id)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| (id.clone(), runs.join(id))),
        }
    }
    Err(io::Error::other(format!("a thousand runs have the name {name}")))
}

/// Measures a unit of each version.
fn unit(
    request: &Request,
    item: &SuiteItem,
    places: &[Surroundings],
    records: &[Record],
    progress: &mut dyn FnMut(Progress<'_>),
) -> Vec<Measured> {
    let ItemWork::Unit { command, environment, folder } = &item.work else { return Vec::new() };
    let (command, environment, folder) = (command.clone(), environment.clone(), folder.clone());
    let what = Process { command, environment, folder, ..Process::default() };
    let units = places.iter().map(|place| place.unit(&what, item.limit, &request.stop));
    let (programs, mut processes): (Vec<Program>, Vec<Process>) = units.unzip();
    let (mut kept, mut trouble, mut runs) = (vec![None; places.len()], None, 0);
    let mut keep = |index: usize, profile: Profile| {
        runs += 1;
        progress(Progress::Profiled { name: &item.name, run: runs });
        if kept[index].is_none() {
            match keep_profile(&records[index].folder, &item.name, &profile) {
                Ok(path) => kept[index] = Some(path),
                Err(error) => trouble = Some(format!("its profile was not kept: {error}")),
            }
        }
    };
    let done = counters::interleaved(&programs, &request.method, &plan(request, item), &mut keep);
    // Heap and system calls repeat: once is enough, and so is any error of the counted run.
    let beyond = programs.iter().map(|program| match (&done, request.beyond) {
        (Ok(_), true) => figures::beyond(&counters::beyond(program)),
        _ => Figures::new(),
    });
    let beyond: Vec<Figures> = beyond.collect();
    let failure = match &done {
        Err(error) => Some(error.to_string()),
        Ok(_) => trouble,
    };
    for (process, profile) in processes.iter_mut().zip(kept) {
        process.profile = profile;
    }
    let mut remarks = vec![Vec::new(); places.len()];
    if request.stacks && done.is_ok() {
        for (index, program) in programs.iter().enumerate() {
            match stacks(program, item, &records[index].folder) {
                Ok(path) => processes[index].stacks = Some(path),
                Err(why) => remarks[index].push(places[index].real(&why)),
            }
        }
    }
    let mut series = done.unwrap_or_default().into_iter();
    let all = places.iter().zip(processes).zip(beyond).zip(remarks);
    let measured = all.map(|(((place, process), beyond), remarks)| {
        let failure = failure.as_deref().map(|failure| place.real(failure));
        Measured { remarks, ..measured(item, process, series.next(), &beyond, failure) }
    });
    measured.collect()
}

/// Samples the stacks of a unit and keeps them; else the reason why not.
fn stacks(program: &Program, item: &SuiteItem, folder: &Path) -> Result<PathBuf, String> {
    let samples =
        counters::sample(program).map_err(|error| format!("no sampled stacks: {error}"))?;
    keep_stacks(folder, &item.name, &samples)
        .map_err(|error| format!("its stacks were not kept: {error}"))
}

/// Stored form of a measured unit.
fn measured(
    item: &SuiteItem,
    mut process: Process,
    series: Option<Series>,
    beyond: &Figures,
    failure: Option<String>,
) -> Measured {
    let (runs, discarded) =
        series.map(|series| (series.runs, series.discarded)).unwrap_or_default();
    process.runs = runs.iter().map(figures::of).collect();
    // These counts repeat, and are the program's own: Callgrind's include Callgrind itself.
    process.runs.iter_mut().for_each(|run| run.extend(beyond.clone()));
    let why = |(run, why): &(Run, Corruption)| Discarded {
        why: why.to_string(),
        figures: figures::of(run),
    };
    Measured {
        name: item.name.clone(),
        kind: ItemKind::Unit,
        exactness: item.exactness,
        processes: vec![process],
        discarded: discarded.iter().map(why).collect(),
        outputs: BTreeMap::new(),
        whole: Vec::new(),
        remarks: Vec::new(),
        failure,
    }
}

fn plan(request: &Request, item: &SuiteItem) -> Plan {
    let usual = match request.method {
        Method::Hardware => 6,
        Method::Callgrind { .. } => 1,
    };
    let tolerance = match item.exactness {
        Exactness::Serialised => 1e-5,
        Exactness::Threaded => 1e-3,
    };
    Plan { runs: request.runs.unwrap_or(usual).max(1), tolerance, ..Plan::default() }
}
