//! `chronoscope replay`.

use crate::text::parse_duration;
use chronoscope_replay::moment::Moment;
use chronoscope_replay::player::FeedKind;
use chronoscope_replay::scenario::Count;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Replay a recorded day through the real programs, under a virtual clock
///
/// A scenario (a TOML file, docs/formats/scenario.md) lists the programs, their initial state and
/// their input: captures of tcpdump or Wireshark, or recordings of `chronoscope record`. The clock
/// stands while a program works and jumps over idle time, so that a day takes as long as its work.
/// The programs' output, their replies and the measurements (report.json) are in the output folder
/// afterwards; measurements are kept even when a program fails, spins or is interrupted (Ctrl-C).
///
/// --from and --until measure a window anywhere in the recording. What the window needs before it,
/// the lead-in, is replayed and not measured.
///
/// --control pauses the replay and steps it by one input or to a time; --pace 1 lets its clock go no
/// faster than real time.
///
/// --data turns recording on and stores what programs record, for comparison with operations.
///
/// --serial (the default) runs one process at a time: two replays of the same programs give the
/// same output, octet for octet, and instruction counts within 10 ppm; --verify checks that.
/// --parallel lets all processes of a step work at once.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// The scenario's file; with --real-time or --factor a capture, a journal, or a folder of them
    #[arg(value_name = "SCENARIO")]
    pub(crate) scenario: PathBuf,
    /// Folder of the programs to replay, the value of {bin} in the scenario
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) bin: PathBuf,
    /// Output folder, which must be new or empty; with --real-time or --factor it is optional and
    /// receives the replies
    #[arg(long, value_name = "DIR", required_unless_present_any = ["real_time", "factor"])]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) play: super::play::Play,
    /// Store what the programs record in this folder, which must not hold transactions yet
    ///
    /// Recording is then on, whatever the scenario sets, and times are those of the virtual clock:
    /// `chronoscope track profile --store file:DIR --against URL` compares the replayed day with
    /// operations, and all other questions can be asked of it too. Not with --verify, nor with
    /// --count callgrind.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["verify", "real_time", "factor"])]
    pub(crate) data: Option<PathBuf>,
    /// Run one process at a time, for the same result every time (the default)
    #[arg(long, conflicts_with = "parallel")]
    pub(crate) serial: bool,
    /// Deliver all inputs of a step at once, to processes in parallel
    #[arg(long)]
    pub(crate) parallel: bool,
    /// Deliver only inputs of this kind, to reduce the load
    #[arg(long, value_name = "KIND", value_enum)]
    pub(crate) only: Option<OnlyKind>,
    /// Deliver queries only during this first part of the recording, or of the window: 1h
    #[arg(long, value_name = "SPAN", value_parser = parse_duration)]
    pub(crate) queries: Option<Duration>,
    /// Replay only this first part of the recording: 1h
    #[arg(long, value_name = "SPAN", value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,
    #[command(flatten)]
    pub(crate) window: Window,
    /// Deliver one of N inputs of an input by its name, or of all of a kind (state, query); may be
    /// given several times
    ///
    /// One of N datagrams, of connections, or of lines where the scenario says login_lines. Which
    /// one of each N is drawn from the scenario's seed: the same ones every time, and the same ones
    /// in a window as in the whole day. How many were left out is in the table.
    #[arg(long, value_name = "NAME=N", value_parser = thin)]
    pub(crate) thin: Vec<(String, u64)>,
    /// Count each process's heap: allocations, the most at once, what it holds at the end
    ///
    /// The counting is part of the other figures then: of CPU time, instructions and calls.
    #[arg(long, conflicts_with_all = ["real_time", "factor"])]
    pub(crate) heap: bool,
    /// Load this library into every process, after the replay's own: an allocator (may be given
    /// several times)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["real_time", "factor"])]
    pub(crate) preload: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) watch: Watch,
    /// Method of counting each process's instructions
    #[arg(long, value_name = "HOW", value_enum, default_value = "counters")]
    pub(crate) count: CountHow,
    /// Replay twice and compare: every octet written and every count must be the same
    #[arg(long)]
    pub(crate) verify: bool,
    /// Real time after which a process that does not block ends the replay with an error; 100 times
    /// as long under Callgrind
    #[arg(long, value_name = "SPAN", value_parser = parse_duration, default_value = "20s")]
    pub(crate) patience: Duration,
    /// Print the report as JSON on stdout; with --verify both reports and their differences
    #[arg(long)]
    pub(crate) json: bool,
}

/// A part of the recording that is measured.
#[derive(Debug, Args)]
pub(crate) struct Window {
    /// Begin of the window that is measured, in UTC: 05:30, 05:30:15 or 2026-07-01T05:30 [default:
    /// the begin of the recording]
    #[arg(long, value_name = "TIME", conflicts_with = "duration")]
    pub(crate) from: Option<Moment>,
    /// End of the window, which is not in it [default: the end of the recording]
    #[arg(long, value_name = "TIME", conflicts_with = "duration")]
    pub(crate) until: Option<Moment>,
    /// Recorded time before the window whose input of kind state is replayed and not measured: 30m
    /// [default: all since the begin of the recording]
    ///
    /// As long as the programs remember. A tracker whose track numbers and corrections of radars
    /// have to be those of the whole day needs all of it; docs/replay.md has the reasons.
    #[arg(long, value_name = "SPAN", value_parser = parse_duration, requires = "from",
          conflicts_with_all = ["real_time", "factor"])]
    pub(crate) lead_in: Option<Duration>,
    /// Replay the window twice, with --lead-in and with all of the recording before it, and compare
    /// what was written in the window: exit code 1 when the lead-in is too short
    #[arg(long, requires = "lead_in", conflicts_with_all = ["verify", "data"])]
    pub(crate) check_lead_in: bool,
}

/// A replay that is being watched.
#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// Obey orders while it runs: keys of the terminal, or lines on stdin
    ///
    /// Keys: space pauses and goes on, n delivers the next input, s goes on for a second, m for a
    /// minute, q ends. Lines: pause, resume, step, step N, until TIME, for SPAN, quit. A paused replay
    /// stands as a whole: all its processes wait, and it does the same as one that never paused.
    #[arg(long, conflicts_with_all = ["real_time", "factor"])]
    pub(crate) control: bool,
    /// Begin paused
    #[arg(long, requires = "control")]
    pub(crate) paused: bool,
    /// Let the virtual clock go at most this many times as fast as real time; 1: as recorded
    #[arg(long, value_name = "N", value_parser = super::play::factor,
          conflicts_with_all = ["real_time", "factor"])]
    pub(crate) pace: Option<f64>,
}

fn thin(text: &str) -> Result<(String, u64), String> {
    let parts = text.split_once('=').and_then(|(name, n)| Some((name, n.parse().ok()?)));
    let form = || format!("{text:?}: expected NAME=N, as in query=10 for one query of ten");
    parts.filter(|(_, n)| *n > 0).map(|(name, n)| (name.to_owned(), n)).ok_or_else(form)
}

/// [`FeedKind`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OnlyKind {
    /// Input that changes the system's state
    State,
    /// Queries
    Query,
}

impl From<OnlyKind> for FeedKind {
    fn from(kind: OnlyKind) -> Self {
        match kind {
            OnlyKind::State => Self::State,
            OnlyKind::Query => Self::Query,
        }
    }
}

/// [`Count`] on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CountHow {
    /// No counting
    None,
    /// The processor's hardware counters, if the machine has them
    Counters,
    /// Callgrind: available everywhere, exact, some fifty times slower
    Callgrind,
}

impl From<CountHow> for Count {
    fn from(how: CountHow) -> Self {
        match how {
            CountHow::None => Self::None,
            CountHow::Counters => Self::Counters,
            CountHow::Callgrind => Self::Callgrind,
        }
    }
}
