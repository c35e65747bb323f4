//! The measured system, in versions: a server, or a replay of a scenario.

use chronoscope_track::compare::Exactness;
use chronoscope_track::counters::Method;

use super::Failure;
use super::counts::Counts;
use super::replay::Replay;
use super::server::Server;

/// The measured system. Versions 0 and 1 are unchanged, the others are changed.
pub(crate) enum System {
    Server(Server),
    Replay(Box<Replay>),
}

impl System {
    /// Names of the versions except the first.
    pub(crate) fn changes(&self) -> Vec<String> {
        match self {
            System::Server(_) => ["none", "+0.1 %", "+0.3 %", "+1 %"].map(str::to_owned).to_vec(),
            System::Replay(replay) => replay.changes(),
        }
    }

    /// Short description of the measured system.
    pub(crate) fn title(&self) -> String {
        match self {
            System::Server(_) => "a server with threads".to_owned(),
            System::Replay(replay) => format!("a serialised replay of {}", replay.name()),
        }
    }

    /// Exactness with which its counts repeat.
    pub(crate) fn exactness(&self) -> Exactness {
        match self {
            System::Server(_) => Exactness::Threaded,
            System::Replay(_) => Exactness::Serialised,
        }
    }

    /// Whether a change of this count is to be found in versions that are changed; of others none
    /// may be.
    pub(crate) fn is_changed(&self, count: &str) -> bool {
        match self {
            System::Server(_) => true,
            System::Replay(replay) => replay.is_changed(count),
        }
    }

    /// Stands for what was built: results of another build are not mixed in.
    pub(crate) fn build_id(&self) -> u64 {
        match self {
            System::Server(server) => server.build_id(),
            System::Replay(replay) => replay.build_id(),
        }
    }

    /// Runs a version once.
    pub(crate) fn run(&self, version: usize, method: &Method) -> Result<Counts, Failure> {
        match self {
            System::Server(server) => server.run(version, method),
            System::Replay(replay) => replay.run(version, method),
        }
    }
}
