//! Stacks of a program, sampled by `perf`.

use super::program::{self, Program, RunError};
use crate::flame::{SampledEvent, StacksError, read_perf_script};
use std::ffi::OsString;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

/// Samples each second of CPU time. A prime number, so that it does not beat with loops.
const RATE_HZ: &str = "499";
/// Octets of stack that each sample keeps, to find callers without frame pointers.
const STACK_BYTES: &str = "dwarf,8192";
/// Octets of `perf script`'s error text that are kept.
const SAID_MAX: u64 = 2000;

/// Reason why a program has no sampled stacks.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// `perf record` is missing, is not allowed, or the program failed.
    #[error("perf record: {0}")]
    Record(#[source] RunError),
    /// `perf script` could not be run.
    #[error("perf script: {0}")]
    Io(#[source] io::Error),
    /// `perf script` failed.
    #[error("perf script ended with {status}: {said}")]
    Script {
        /// Exit status.
        status: std::process::ExitStatus,
        /// What it said.
        said: String,
    },
    /// Its text cannot be read.
    #[error("text of perf script: {0}")]
    Stacks(#[from] StacksError),
}

/// Runs a program and its children once under `perf record` and reads the sampled stacks: 499 a
/// second of CPU time, by the processor's cycles, or by its clock where cycles are not counted.
///
/// # Errors
/// [`SampleError`] where `perf` is missing or forbidden (`kernel.perf_event_paranoid`), where the
/// program fails, and where no sample was taken.
pub fn sample(program: &Program) -> Result<Vec<SampledEvent>, SampleError> {
    let folder = tempfile::tempdir().map_err(SampleError::Io)?;
    let file = folder.path().join("perf.data");
    let mut arguments: Vec<OsString> =
        ["record", "-q", "-F", RATE_HZ, "--call-graph", STACK_BYTES, "-o"].map(Into::into).into();
    arguments.extend([file.clone().into(), "--".into()]);
    program::run(&program.under("perf", arguments), &[]).map_err(SampleError::Record)?;
    script(&file)
}

/// The samples of a file that `perf record` wrote.
fn script(file: &Path) -> Result<Vec<SampledEvent>, SampleError> {
    let mut perf = Command::new("perf");
    perf.args(["script", "--no-inline", "-i"]).arg(file).env("LC_ALL", "C");
    // Its warnings go to a file: a pipe that nobody reads would block it.
    let mut said = tempfile::tempfile().map_err(SampleError::Io)?;
    perf.stdin(Stdio::null()).stdout(Stdio::piped());
    perf.stderr(said.try_clone().map_err(SampleError::Io)?);
    let mut child = perf.spawn().map_err(SampleError::Io)?;
    let read = match child.stdout.take() {
        Some(text) => read_perf_script(BufReader::new(text)),
        None => Err(StacksError::NoSamples), // it was piped
    };
    if read.is_err() {
        let _ = child.kill(); // it may have ended
    }
    let status = child.wait().map_err(SampleError::Io)?;
    if !status.success() && read.is_ok() {
        let mut text = String::new();
        io::Seek::rewind(&mut said).map_err(SampleError::Io)?;
        let _ = said.take(SAID_MAX).read_to_string(&mut text); // words for people
        return Err(SampleError::Script { status, said: text.trim().to_owned() });
    }
    Ok(read?)
}
