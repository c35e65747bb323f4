//! Allocators compared over a replayed day: CPU time, memory and fragmentation of a whole system.
//!
//! Unit tests of allocators allow no conclusion: what counts is the order in which a real program
//! requests and returns blocks of its own sizes, over a day. A replay has that order every time.
//! Each allocator is preloaded into every process, behind the replay's own library; all of them
//! take turns. The heap that the processes hold at the end is counted in one more replay: it is of
//! requested octets, and the same whoever provides them.

use crate::system::{Load, System};
use chronoscope_replay::scenario::{Count, Options, ProcessReport, Report, Scenario};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Name of the allocator that is part of the C library.
pub const LIBC: &str = "C library";

/// An allocator that programs can be given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Allocator {
    /// Its name.
    pub name: String,
    /// Its library; `None` for the C library's own.
    pub library: Option<PathBuf>,
}

/// An allocator that is not installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingAllocator {
    /// Its name.
    pub name: String,
    /// Debian's package of it.
    pub package: String,
}

/// Allocators that are looked for: name, Debian's package, file names.
const KNOWN: [(&str, &str, &[&str]); 3] = [
    ("jemalloc", "libjemalloc2", &["libjemalloc.so.2"]),
    ("tcmalloc", "libtcmalloc-minimal4", &["libtcmalloc_minimal.so.4"]),
    ("mimalloc", "libmimalloc2.0", &["libmimalloc.so.3", "libmimalloc.so.2", "libmimalloc.so.2.0"]),
];

/// Folders of libraries, of Debian and of others.
const FOLDERS: [&str; 6] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib64",
    "/usr/local/lib",
];

/// The C library's allocator and those that are installed; and those that are not.
pub fn installed() -> (Vec<Allocator>, Vec<MissingAllocator>) {
    let mut found = vec![Allocator { name: LIBC.to_owned(), library: None }];
    let mut missing = Vec::new();
    for (name, package, files) in KNOWN {
        let paths = FOLDERS
            .iter()
            .flat_map(|folder| files.iter().map(move |file| Path::new(folder).join(file)));
        let library = paths.into_iter().find(|path| path.is_file());
        match library {
            Some(_) => found.push(Allocator { name: name.to_owned(), library }),
            None => {
                let (name, package) = (name.to_owned(), package.to_owned());
                missing.push(MissingAllocator { name, package });
            }
        }
    }
    (found, missing)
}

/// What is compared, and how often.
#[derive(Clone, Debug)]
pub struct AllocatorRequest {
    /// The scenario's file.
    pub scenario: PathBuf,
    /// Value of `{bin}`.
    pub bin: PathBuf,
    /// The allocators.
    pub allocators: Vec<Allocator>,
    /// Replays of each; at least one is made.
    pub repeat: usize,
    /// Only this first part of the recording.
    pub duration: Option<Duration>,
    /// Ends the comparison when it becomes true.
    pub stop: Arc<AtomicBool>,
}

/// Cost of a process, or of all of them, with one allocator.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AllocatorCost {
    /// The process's name; of all of them empty.
    pub process: String,
    /// Least CPU time of the replays, user and system, ns.
    pub cpu_ns: u64,
    /// Most CPU time of the replays, ns.
    pub cpu_ns_max: u64,
    /// Most resident memory, octets; of all processes the sum.
    pub rss_bytes_max: u64,
    /// Resident memory at the end, before the process was asked to end, octets.
    pub rss_bytes_end: u64,
    /// Live heap at that moment: requested octets that were not given back.
    pub live_bytes: u64,
}

impl AllocatorCost {
    /// Resident memory at the end by the live heap; `None` without a heap.
    pub fn fragmentation(&self) -> Option<f64> {
        (self.live_bytes > 0).then(|| self.rss_bytes_end as f64 / self.live_bytes as f64)
    }
}

/// Result of one allocator.
#[derive(Clone, Debug, Serialize)]
pub struct AllocatorResult {
    /// The allocator.
    #[serde(flatten)]
    pub allocator: Allocator,
    /// All processes together.
    pub all: AllocatorCost,
    /// Each process, in the order of the replay's report.
    pub processes: Vec<AllocatorCost>,
    /// Outputs that are not, octet for octet, those with the C library's allocator.
    pub outputs_differ: usize,
    /// Reason why there is no result, or not all of it.
    pub failure: Option<String>,
}

/// Result of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct AllocatorComparison {
    /// Version of this structure as JSON.
    pub version: u32,
    /// The scenario's name.
    pub scenario: String,
    /// The machine.
    pub system: System,
    /// Its load before.
    pub load_before: Load,
    /// Its load after.
    pub load_after: Load,
    /// Replays of each allocator.
    pub repeat: usize,
    /// Virtual time of a replay, ns.
    pub virtual_ns: u64,
    /// One for each allocator, in the order of the request.
    pub allocators: Vec<AllocatorResult>,
}

/// Compares allocators. `tell` gets a line before each replay.
///
/// # Errors
/// A sentence, when the scenario cannot be read, or the heap not be counted.
pub fn compare(
    request: &AllocatorRequest,
    tell: &mut dyn FnMut(&str),
) -> Result<AllocatorComparison, String> {
    let scenario = Scenario::read(&request.scenario).map_err(|error| error.to_string())?;
    let load_before = Load::now();
    tell("counting the live heap");
    let heaps = replay(request, &scenario, None, true)?;
    if let Some(failure) = &heaps.failure {
        return Err(format!("the heap was not counted: {failure}"));
    }
    let mut reports: Vec<Vec<Result<Report, String>>> =
        request.allocators.iter().map(|_| Vec::new()).collect();
    for round in 1..=request.repeat.max(1) {
        for (allocator, reports) in request.allocators.iter().zip(&mut reports) {
            tell(&format!("{}, replay {round} of {}", allocator.name, request.repeat.max(1)));
            let report = replay(request, &scenario, allocator.library.as_deref(), false);
            reports.push(report.and_then(whole));
        }
    }
    let allocators = request.allocators.iter().zip(&reports);
    let allocators = allocators.map(|(allocator, reports)| result(allocator, reports, &heaps));
    Ok(AllocatorComparison {
        version: 1,
        scenario: heaps.scenario.clone(),
        system: System::here(),
        load_before,
        load_after: Load::now(),
        repeat: request.repeat.max(1),
        virtual_ns: heaps.virtual_ns,
        allocators: allocators.collect(),
    })
}

/// A report of a replay that came to its end.
fn whole(report: Report) -> Result<Report, String> {
    match &report.failure {
        Some(failure) => Err(failure.clone()),
        None => Ok(report),
    }
}

fn replay(
    request: &AllocatorRequest,
    scenario: &Scenario,
    library: Option<&Path>,
    heap: bool,
) -> Result<Report, String> {
    let folder = tempfile::Builder::new().prefix("chronoscope-").rand_bytes(6).tempdir();
    let folder = folder.map_err(|error| format!("a folder for the replay: {error}"))?;
    let options = Options {
        count: Count::None,
        heap,
        preload: library.map(Path::to_owned).into_iter().collect(),
        duration: request.duration,
        interrupt: Some(request.stop.clone()),
        ..Options::new(&request.bin, &folder.path().join("out"))
    };
    scenario.run(&options, &mut |_| {}).map_err(|error| error.to_string())
}

fn result(
    allocator: &Allocator,
    reports: &[Result<Report, String>],
    heaps: &Report,
) -> AllocatorResult {
    let good: Vec<&Report> = reports.iter().filter_map(|report| report.as_ref().ok()).collect();
    let failure = reports.iter().find_map(|report| report.as_ref().err().cloned());
    let processes: Vec<AllocatorCost> = heaps
        .processes
        .iter()
        .enumerate()
        .map(|(at, heap)| {
            let runs: Vec<&ProcessReport> =
                good.iter().filter_map(|report| report.processes.get(at)).collect();
            cost(heap, &runs)
        })
        .collect();
    let cpu = |report: &&Report| {
        report.processes.iter().map(|p| p.usage.user_ns + p.usage.system_ns).sum::<u64>()
    };
    let sum = |of: fn(&AllocatorCost) -> u64| processes.iter().map(of).sum();
    let all = AllocatorCost {
        process: String::new(),
        cpu_ns: good.iter().map(cpu).min().unwrap_or(0),
        cpu_ns_max: good.iter().map(cpu).max().unwrap_or(0),
        rss_bytes_max: sum(|one| one.rss_bytes_max),
        rss_bytes_end: sum(|one| one.rss_bytes_end),
        live_bytes: sum(|one| one.live_bytes),
    };
    let outputs_differ = good.first().map_or(0, |report| outputs_differ(report, heaps));
    AllocatorResult { allocator: allocator.clone(), all, processes, outputs_differ, failure }
}

/// Memory is that of the replay that had the most.
fn cost(heap: &ProcessReport, runs: &[&ProcessReport]) -> AllocatorCost {
    let cpu = |run: &&&ProcessReport| run.usage.user_ns + run.usage.system_ns;
    AllocatorCost {
        process: heap.name.clone(),
        cpu_ns: runs.iter().map(|run| cpu(&run)).min().unwrap_or(0),
        cpu_ns_max: runs.iter().map(|run| cpu(&run)).max().unwrap_or(0),
        rss_bytes_max: runs.iter().map(|run| run.usage.rss_bytes_max).max().unwrap_or(0),
        rss_bytes_end: runs.iter().filter_map(|run| run.rss_bytes_end).max().unwrap_or(0),
        live_bytes: heap.heap.map_or(0, |heap| heap.live_bytes),
    }
}

/// Files that differ; the replay of the heap was with the C library's allocator.
fn outputs_differ(report: &Report, with_libc: &Report) -> usize {
    let same = |path: &str, digest: &str| {
        with_libc.outputs.iter().any(|other| other.path == path && other.digest == digest)
    };
    report.outputs.iter().filter(|output| !same(&output.path, &output.digest)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_is_always_there_and_the_rest_is_found_or_named() {
        let (found, missing) = installed();
        assert_eq!((&*found[0].name, &found[0].library), (LIBC, &None));
        assert_eq!(found.len() + missing.len(), 1 + KNOWN.len());
        assert!(found[1..].iter().all(|one| one.library.as_ref().is_some_and(|l| l.is_file())));
        assert!(missing.iter().all(|one| one.package.starts_with("lib")), "{missing:?}");
    }

    #[test]
    fn fragmentation_is_resident_memory_by_live_heap() {
        let cost = AllocatorCost { rss_bytes_end: 30, live_bytes: 20, ..Default::default() };
        assert_eq!(cost.fragmentation(), Some(1.5));
        assert_eq!(AllocatorCost::default().fragmentation(), None);
    }
}
