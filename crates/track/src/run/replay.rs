//! A replay of a suite: what each of its processes executed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use chronoscope_replay::scenario::{Count, Options, ProcessReport, Report, Scenario};
use chronoscope_replay::schedule;

use super::profile_file::keep_profile;
use super::record::{ItemKind, Measured, Process, Record};
use super::request::{Request, Version};
use super::{Figures, figures};
use crate::callgrind::{self, Limits, Profile};
use crate::counters::{CALLGRIND_SLOWER, Method};
use crate::suite::{ReplayMode, ReplayPart, SuiteItem};

/// Replays a scenario for each version, in turns; what came of each.
pub(super) fn replays(
    request: &Request,
    item: &SuiteItem,
    (scenario, mode, part): (&Path, ReplayMode, &ReplayPart),
    versions: &[Version],
    records: &[Record],
) -> Vec<Measured> {
    let usual = if request.method == Method::Hardware { 3 } else { 1 };
    let mut all: Vec<Measured> = versions.iter().map(|_| empty(item)).collect();
    for _ in 0..request.runs.unwrap_or(usual).max(1) {
        for (index, version) in versions.iter().enumerate() {
            let measured = &mut all[index];
            if measured.failure.is_some() {
                continue;
            }
            let file = version.suite.join(scenario);
            let work = Work { scenario: &file, mode, part, limit: item.limit };
            match once(request, work, &version.bin, Pass::Counted, |report, out| {
                take(measured, report, out, &records[index].folder)
            }) {
                Ok(None) => {}
                Ok(Some(failure)) | Err(failure) => measured.failure = Some(failure),
            }
        }
    }
    for (measured, version) in all.iter_mut().zip(versions) {
        if request.beyond && measured.failure.is_none() {
            let file = version.suite.join(scenario);
            let work = Work { scenario: &file, mode, part, limit: item.limit };
            heaps(request, work, &version.bin, measured);
        }
    }
    all
}

/// A replay as the suite has it.
#[derive(Clone, Copy, Debug)]
struct Work<'a> {
    scenario: &'a Path,
    mode: ReplayMode,
    part: &'a ReplayPart,
    limit: Duration,
}

/// What a replay is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    /// Counts of the processes as they are.
    Counted,
    /// Heaps, whose counting would change those.
    Heap,
}

/// Counts the heaps in one more replay and adds them to every execution: they repeat. Why they
/// could not be counted is a remark, as the rest of the measurement stands.
fn heaps(request: &Request, work: Work<'_>, bin: &Path, measured: &mut Measured) {
    let mut heaps: Vec<(String, Figures)> = Vec::new();
    let mut whole = Figures::new();
    let done = once(request, work, bin, Pass::Heap, |report, out| {
        let mut names = Vec::new();
        for process in &report.processes {
            let name = name_of(process, out, &names);
            names.push(name.clone());
            heaps.extend(figures::heap_of_replayed(process).map(|heap| (name, heap)));
        }
        whole = figures::heap_of_whole(report);
        Ok(())
    });
    if let Ok(Some(why)) | Err(why) = done {
        return measured.remarks.push(format!("heaps were not counted: {why}"));
    }
    for (name, heap) in heaps {
        let process = measured.processes.iter_mut().find(|process| process.name == name);
        for run in process.into_iter().flat_map(|process| &mut process.runs) {
            run.extend(heap.clone());
        }
    }
    measured.whole.iter_mut().for_each(|run| run.extend(whole.clone()));
}

fn empty(item: &SuiteItem) -> Measured {
    Measured {
        name: item.name.clone(),
        kind: ItemKind::Replay,
        exactness: item.exactness,
        processes: Vec::new(),
        discarded: Vec::new(),
        outputs: BTreeMap::new(),
        whole: Vec::new(),
        remarks: Vec::new(),
        failure: None,
    }
}

/// Runs one replay in a temporary folder, whose path always has the same length. Returns the reason
/// of a failure; completed measurements are kept in any case.
fn once(
    request: &Request,
    Work { scenario, mode, part, limit }: Work<'_>,
    bin: &Path,
    pass: Pass,
    take: impl FnOnce(&Report, &Path) -> io::Result<()>,
) -> Result<Option<String>, String> {
    let scenario = Scenario::read(scenario).map_err(|error| error.to_string())?;
    let folder = tempfile::Builder::new().prefix("chronoscope-").rand_bytes(6).tempdir();
    let folder = folder.map_err(|error| format!("a folder for the replay: {error}"))?;
    let out = folder.path().join("out");
    let mut options = Options::new(bin, &out);
    options.mode = match mode {
        ReplayMode::Serial => schedule::ScheduleMode::Serial,
        ReplayMode::Parallel => schedule::ScheduleMode::Parallel,
    };
    options.count = match (pass, &request.method) {
        (Pass::Heap, _) => Count::None,
        (Pass::Counted, Method::Hardware) => Count::Counters,
        (Pass::Counted, Method::Callgrind { .. }) => Count::Callgrind,
    };
    (options.window, options.thin) = (part.window, part.thin.clone());
    options.heap = pass == Pass::Heap;
    options.interrupt = Some(request.stop.clone());
    options.limit = Some(match options.count {
        Count::Callgrind => limit.saturating_mul(CALLGRIND_SLOWER),
        Count::Counters | Count::None => limit,
    });
    let report = scenario.run(&options, &mut |_| {}).map_err(|error| error.to_string())?;
    take(&report, &out).map_err(|error| format!("its profiles: {error}"))?;
    Ok(report.failure)
}

/// Adds the measurements of one replay.
fn take(measured: &mut Measured, report: &Report, out: &Path, folder: &Path) -> io::Result<()> {
    let first = measured.processes.is_empty();
    let mut names = Vec::new();
    for process in &report.processes {
        let name = name_of(process, out, &names);
        let known = measured.processes.iter().position(|known| known.name == name);
        let index = known.unwrap_or_else(|| {
            measured.processes.push(Process { name: name.clone(), ..Process::default() });
            measured.processes.len() - 1
        });
        let profile = profile_of(&out.join("callgrind"), &process.name)?;
        let mut figures = figures::of_replayed(process);
        let cpu_ns = profile.as_ref().and_then(|profile| profile.total("sysCpuTime"));
        figures.extend(cpu_ns.map(|ns| ("syscalls_cpu_ns".to_owned(), ns)));
        measured.processes[index].runs.push(figures);
        if first {
            let file = format!("{}.{}", measured.name, tame(&name));
            let kept = profile.map(|profile| keep_profile(folder, &file, &profile));
            measured.processes[index].profile = kept.transpose()?;
        }
        names.push(name);
    }
    measured.whole.push(figures::of_whole(report));
    if first {
        let outputs = report.outputs.iter();
        measured.outputs = outputs.map(|file| (file.path.clone(), file.digest.clone())).collect();
        let strangers = report.strangers.iter().map(|who| format!("a stranger: {who}"));
        measured.remarks = report.remarks.iter().cloned().chain(strangers).collect();
    }
    Ok(())
}

/// The scenario's name of a process; of a child its command line, without what differs each time,
/// and with a number when there are several.
fn name_of(process: &ProcessReport, out: &Path, before: &[String]) -> String {
    let name = process.name.replace(&*out.to_string_lossy(), "{out}");
    let numbered = (2..).map(|number| format!("{name} #{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| !before.contains(name)).unwrap_or(name)
}

/// The name with characters that are safe in a file name.
fn tame(name: &str) -> String {
    let tame = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    name.chars().take(80).map(tame).collect()
}

/// The profiles `NAME.PID` of a process and its children, summed; `None` without any.
fn profile_of(folder: &Path, name: &str) -> io::Result<Option<Profile>> {
    let mut files: Vec<PathBuf> = Vec::new();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let file = entry.file_name().to_string_lossy().into_owned();
        let rest = file.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
        // Parts and threads end in numbers too; Callgrind's messages end in `.log`.
        let number = |rest: &str| rest.bytes().all(|b| b.is_ascii_digit() || b".-".contains(&b));
        if rest.is_some_and(number) {
            files.push(entry.path());
        }
    }
    files.sort();
    let mut sum = Profile::default();
    for file in files {
        let profile = callgrind::read(BufReader::new(File::open(&file)?), Limits::default());
        let profile =
            profile.map_err(|error| io::Error::other(format!("{}: {error}", file.display())))?;
        sum.add(&profile).ok_or_else(|| io::Error::other("a sum exceeds 64 bits"))?;
    }
    Ok((!sum.parts.is_empty()).then_some(sum))
}
