//! Cost of a program: instructions, branches, cycles, and the kernel's counts.
//!
//! The processor's counters are used where they exist (see [`Method::best`]), else Callgrind's
//! exact count of instructions: in containers, and on virtual machines that hide the counters.
//! Address space randomisation is off, the environment is fixed, the first run is a warm-up. Runs
//! whose counters contradict each other are discarded, repeated and counted.
//!
//! [`beyond`] counts further costs of a run: its heap by a preload library, its system calls by a
//! tracer. Both would slow the counted run, so they have runs of their own. Where Callgrind is the
//! method, its own figures of them are kept.

mod beyond;
mod beyond_error;
mod calibrate;
mod check;
mod counts;
pub mod heap;
mod perf;
mod program;
mod stacks;
pub mod syscalls;
mod width;

pub use counts::{Counts, Run};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::callgrind::{self, Graph, GraphError, Limits, Profile, SetError};
pub use beyond::{Beyond, ExtraRun, beyond};
pub use beyond_error::BeyondError;
pub use calibrate::{Calibration, calibrate};
pub use check::Corruption;
pub use chronoscope_replay::counters::{Counter, Reading};
pub use program::{Program, RunError, Usage};
pub use stacks::{SampleError, sample};

/// Factor by which a time limit is extended under Callgrind, which slows a program about fifty
/// times.
pub(crate) const CALLGRIND_SLOWER: u32 = 50;

/// Method of counting instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The processor's counters.
    Hardware,
    /// Callgrind, because the processor's counters are not available.
    Callgrind {
        /// The reason: the system's error.
        because: String,
    },
}

impl Method {
    /// The best that this machine has, found out by trying.
    pub fn best() -> Method {
        match calibrate::calibrate() {
            Ok(_) => Method::Hardware,
            Err(error) => Method::Callgrind { because: error.to_string() },
        }
    }
}

/// Number of runs, and tolerance of their check.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Runs that are wanted.
    pub runs: usize,
    /// Runs before them that only fill caches.
    pub warm_ups: usize,
    /// Largest relative distance of instructions per branch from the usual: 1e-5 for a program that
    /// does the same each time, more for one with threads.
    pub tolerance: f64,
    /// Runs that may be discarded before it is given up.
    pub discards_max: usize,
    /// Count heap and system calls too: two executions more for each run.
    pub beyond: bool,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan { runs: 1, warm_ups: 1, tolerance: 1e-5, discards_max: 5, beyond: false }
    }
}

/// Runs of one program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Series {
    /// Method of counting.
    pub method: Method,
    /// Runs whose counters are plausible.
    pub runs: Vec<Run>,
    /// Discarded runs, with the reason.
    pub discarded: Vec<(Run, Corruption)>,
}

/// Reason why there is no series.
#[derive(Debug, thiserror::Error)]
pub enum CountError {
    /// The program did not run to its end.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Too many runs had counters that contradict each other.
    #[error("{discarded} runs were discarded, the last because {last}; {kept} were kept")]
    Corrupted {
        /// Number of discarded runs.
        discarded: usize,
        /// Reason of the last one.
        last: Corruption,
        /// Number of plausible runs.
        kept: usize,
    },
    /// The folder for Callgrind's profiles cannot be created.
    #[error("a folder for profiles: {0}")]
    Folder(#[source] io::Error),
    /// Callgrind's profile is none.
    #[error(transparent)]
    Profile(#[from] SetError),
    /// Callgrind's profile lacks the requested event.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// Callgrind left no profile.
    #[error(
        "Callgrind left no profile of {0}: it is statically linked, or it changed its working \
         folder"
    )]
    NoProfile(PathBuf),
}

/// Runs a program as often as the plan asks.
///
/// # Errors
/// [`CountError`] when it does not run to its end, or its counts are not plausible.
pub fn measure(program: &Program, method: &Method, plan: &Plan) -> Result<Series, CountError> {
    Ok(interleaved(std::slice::from_ref(program), method, plan, &mut |_, _| {})?.remove(0))
}

/// Runs several programs as often as the plan asks, in turns: a disturbance affects neighbouring
/// runs too. `keep` receives each profile that Callgrind wrote, with the program's index.
///
/// A series is shorter than planned when it was stopped ([`Program::stop`]) after at least one run
/// of each.
///
/// # Errors
/// [`CountError`] when one does not run to its end, or its counts are not plausible.
pub fn interleaved(
    programs: &[Program],
    method: &Method,
    plan: &Plan,
    keep: &mut dyn FnMut(usize, Profile),
) -> Result<Vec<Series>, CountError> {
    let none = || Series { method: method.clone(), runs: Vec::new(), discarded: Vec::new() };
    let mut all: Vec<Series> = programs.iter().map(|_| none()).collect();
    for program in programs.iter().flat_map(|program| vec![program; plan.warm_ups]) {
        program::run(program, &[])?;
    }
    loop {
        while all.iter().any(|series| series.runs.len() < plan.runs) {
            for (index, program) in programs.iter().enumerate() {
                if all[index].runs.len() >= plan.runs {
                    continue;
                }
                let mut run = match one(program, method, &mut |profile| keep(index, profile)) {
                    Err(CountError::Run(RunError::Stopped { .. }))
                        if all.iter().all(|series| !series.runs.is_empty()) =>
                    {
                        return Ok(all);
                    }
                    run => run?,
                };
                let why = check::alone(&run);
                run.beyond = (plan.beyond && why.is_none()).then(|| beyond(program));
                all[index].take(run, why, plan)?;
            }
        }
        let mut again = false;
        for series in &mut all {
            again |= series.believe(plan)?;
        }
        if !again {
            return Ok(all);
        }
    }
}

impl Series {
    /// Keeps a run, or discards it.
    fn take(&mut self, run: Run, why: Option<Corruption>, plan: &Plan) -> Result<(), CountError> {
        match why {
            Some(why) => self.discard(run, why, plan),
            None => {
                self.runs.push(run);
                Ok(())
            }
        }
    }

    /// Discards what contradicts the other runs; whether there was any.
    fn believe(&mut self, plan: &Plan) -> Result<bool, CountError> {
        let found = check::together(&self.runs, plan.tolerance);
        let any = found.iter().any(Option::is_some);
        for (run, why) in std::mem::take(&mut self.runs).into_iter().zip(found) {
            self.take(run, why, plan)?;
        }
        Ok(any)
    }

    fn discard(&mut self, run: Run, why: Corruption, plan: &Plan) -> Result<(), CountError> {
        let (discarded, kept) = (self.discarded.len() + 1, self.runs.len());
        if discarded > plan.discards_max {
            return Err(CountError::Corrupted { discarded, last: why, kept });
        }
        self.discarded.push((run, why));
        Ok(())
    }
}

fn one(
    program: &Program,
    method: &Method,
    keep: &mut dyn FnMut(Profile),
) -> Result<Run, CountError> {
    match method {
        Method::Hardware => {
            let (usage, readings) = program::run(program, &perf::HARDWARE)?;
            let [instructions, branches, cycles] = readings[..] else {
                unreachable!("as many readings as counters");
            };
            Ok(Run {
                usage,
                counts: Counts::Hardware { instructions, branches, cycles },
                beyond: None,
            })
        }
        Method::Callgrind { .. } => {
            // Once without Valgrind, since under it times and page faults are Valgrind's.
            let (usage, _) = program::run(program, &[])?;
            let profile = profile(program)?;
            let counts = Counts::Callgrind {
                instructions: profile.total("Ir").unwrap_or(0),
                allocations: allocations(&profile)?,
                syscalls: profile.total("sysCount").unwrap_or(0),
                syscalls_cpu_ns: profile.total("sysCpuTime").unwrap_or(0),
            };
            keep(profile);
            Ok(Run { usage, counts, beyond: None })
        }
    }
}

/// Counts events that the kernel has on any machine, for one run.
///
/// # Errors
/// [`RunError`] when it does not run to its end, or the counter cannot be had.
pub fn count(program: &Program, counter: Counter) -> Result<(Usage, Reading), RunError> {
    let (usage, readings) = program::run(program, &[counter])?;
    Ok((usage, readings[0]))
}

/// Runs a program and its children once under Callgrind, their profiles summed. It takes some
/// fifty times as long; the program's limit is stretched by that.
///
/// # Errors
/// [`CountError`] when it does not run to its end there, or leaves no profile.
pub fn profile(program: &Program) -> Result<Profile, CountError> {
    let folder = tempfile::tempdir().map_err(CountError::Folder)?;
    let mut file = OsString::from("--callgrind-out-file=");
    file.push(folder.path());
    file.push("/profile.%p");
    let flags = ["--tool=callgrind", "-q", "--trace-children=yes", "--fair-sched=yes"];
    let mut arguments: Vec<OsString> = flags.map(OsString::from).into();
    arguments.extend(["--collect-systime=nsec".into(), file]);
    let mut under = program.under("valgrind", arguments);
    under.limit = program.limit.saturating_mul(CALLGRIND_SLOWER);
    program::run(&under, &[])?;
    let mut sum = Profile::default();
    let entries = std::fs::read_dir(folder.path()).map_err(CountError::Folder)?;
    for entry in entries {
        let path = entry.map_err(CountError::Folder)?.path();
        let file = File::open(&path).map_err(CountError::Folder)?;
        let profile = callgrind::read(BufReader::new(file), Limits::default())
            .map_err(|source| SetError::Read { path: path.clone(), source })?;
        sum.add(&profile).ok_or(SetError::Overflow { path })?;
    }
    if sum.parts.is_empty() {
        return Err(CountError::NoProfile(program.path.clone()));
    }
    Ok(sum)
}

/// Calls of the functions that give memory. Those that a program has within itself, statically
/// linked, have their own names and are not known.
fn allocations(profile: &Profile) -> Result<u64, GraphError> {
    const GIVE: [&str; 6] =
        ["malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign"];
    let graph = Graph::of(profile, "Ir")?;
    let given = graph.nodes.iter().filter(|node| GIVE.contains(&&*node.name));
    Ok(given.map(|node| node.calls).sum())
}
