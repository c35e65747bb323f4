//! `chronoscope replay`.

use crate::text::parse_duration;
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
    /// Deliver queries only during this first part of the recording: 1h
    #[arg(long, value_name = "SPAN", value_parser = parse_duration)]
    pub(crate) queries: Option<Duration>,
    /// Replay only this first part of the recording: 1h
    #[arg(long, value_name = "SPAN", value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,
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
