//! The measured system, in versions: a server, or a replay of a scenario.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chronoscope_track::compare::Exactness;
use chronoscope_track::counters::Method;

use super::Failure;
use super::replay::Replay;
use super::server::Server;

/// Counts of a run by process and figure: all values that `chronoscope track compare` judges.
pub(crate) type Counts = BTreeMap<String, u64>;

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

/// FNV-1a, 64 bits, over pieces.
pub(crate) struct BuildId(pub(crate) u64);

impl BuildId {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn add(&mut self, octets: &[u8]) {
        let mix = |hash: u64, octet: &u8| (hash ^ u64::from(*octet)).wrapping_mul(0x0100_0000_01b3);
        self.0 = octets.iter().fold(self.0, mix);
    }

    /// The files of a folder, not of those in it: their names and what is in them.
    pub(crate) fn add_folder(&mut self, folder: &Path) -> Result<(), Failure> {
        let said = |path: &Path, error| format!("{}: {error}", path.display());
        let entries = std::fs::read_dir(folder).map_err(|error| said(folder, error))?;
        let mut files: Vec<PathBuf> =
            entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
        files.retain(|path| path.is_file());
        files.sort();
        for path in files {
            self.add(path.file_name().unwrap_or_default().as_encoded_bytes());
            self.add(&std::fs::read(&path).map_err(|error| said(&path, error))?);
        }
        Ok(())
    }
}
