//! Options of a replay, which the scenario leaves open.

use super::report::Count;
use super::window::Window;
use crate::coordinator::{Control, Settings};
use crate::player::FeedKind;
use crate::schedule::ScheduleMode;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Options of a replay.
#[derive(Clone, Debug)]
pub struct Options {
    /// Folder that `{bin}` stands for.
    pub bin: PathBuf,
    /// Output folder, not there or empty.
    pub out: PathBuf,
    /// Whether one process runs at a time, or all of a step.
    pub mode: ScheduleMode,
    /// Deliver only inputs of this purpose.
    pub only: Option<FeedKind>,
    /// Queries of this first part of the replay only.
    pub queries: Option<Duration>,
    /// Replay only this first part.
    pub duration: Option<Duration>,
    /// Measure only a window of the recording, and what it needs before it.
    pub window: Option<Window>,
    /// Of an input by its name, or of all of a kind (`state`, `query`), one of so many is
    /// delivered; later entries override earlier ones, and all the scenario's.
    pub thin: Vec<(String, u64)>,
    /// Method of counting instructions.
    pub count: Count,
    /// Whether programs with the recorder record, into `rings` of the output folder, in
    /// spite of the scenario.
    pub record: bool,
    /// Environment of every process, in addition to the scenario's.
    pub environment: Vec<(String, String)>,
    /// Ends the replay early when it becomes true; the report has the measurements until then.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Whether each process's heap is counted, which its other figures include the cost of.
    pub heap: bool,
    /// Libraries that are loaded into every process after the replay's own, as an allocator.
    pub preload: Vec<PathBuf>,
    /// Orders to pause, to step and to go on.
    pub control: Option<Control>,
    /// Whether it is paused when it begins.
    pub paused: bool,
    /// Virtual time by real time, at most; as fast as it can without.
    pub pace: Option<f64>,
    /// Real time that a process may run without waiting; a hundred times as long under Callgrind.
    pub run_max: Duration,
    /// Limit of real time for the whole replay, as it is counted; the report of one that exceeds it
    /// has the measurements until then.
    pub limit: Option<Duration>,
}

impl Options {
    /// A serialised replay of everything, counted by the processor.
    #[must_use]
    pub fn new(bin: &Path, out: &Path) -> Self {
        Self {
            bin: bin.to_owned(),
            out: out.to_owned(),
            mode: ScheduleMode::Serial,
            only: None,
            queries: None,
            duration: None,
            window: None,
            thin: Vec::new(),
            count: Count::default(),
            record: false,
            environment: Vec::new(),
            interrupt: None,
            heap: false,
            preload: Vec::new(),
            control: None,
            paused: false,
            pace: None,
            run_max: Settings::default().run_max,
            limit: None,
        }
    }
}
