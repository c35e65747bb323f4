//! Files through which the programs of a chain on one host find each other, and the options that
//! name them: for those who start the programs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A folder with the files of one chain.
#[derive(Clone, Debug)]
pub struct PortFiles {
    folder: PathBuf,
}

/// An address on which a program of the chain receives or is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainPort {
    /// The tracker receives plots by UDP.
    Plots,
    /// The tracker sends tracks to those who connect by TCP.
    Tracks,
    /// The message server sends updates to displays.
    Updates,
}

impl PortFiles {
    /// The files of a chain in `folder`, which has to be there.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// The file of an address.
    #[must_use]
    pub fn path(&self, port: ChainPort) -> PathBuf {
        self.folder.join(match port {
            ChainPort::Plots => "plots",
            ChainPort::Tracks => "tracks",
            ChainPort::Updates => "updates",
        })
    }

    /// The flight plans, which the generator writes before it sends anything.
    #[must_use]
    pub fn flight_plans(&self) -> PathBuf {
        self.folder.join("plans.csv")
    }

    /// An address; `None` until its program listens.
    #[must_use]
    pub fn address(&self, port: ChainPort) -> Option<String> {
        // The file is written whole (`write_port_file`): one that is there can be read.
        std::fs::read_to_string(self.path(port)).ok().map(|text| text.trim().to_owned())
    }

    /// Options of `radar-tracker`.
    #[must_use]
    pub fn tracker(&self) -> [OsString; 4] {
        let (plots, tracks) = (self.path(ChainPort::Plots), self.path(ChainPort::Tracks));
        ["--plots-port-file".into(), plots.into(), "--port-file".into(), tracks.into()]
    }

    /// Options of `radar-generator`, which sends to the tracker's address for plots.
    #[must_use]
    pub fn generator(&self, plots: &str) -> [OsString; 4] {
        ["--to".into(), plots.into(), "--flight-plans".into(), self.flight_plans().into()]
    }

    /// Options of `radar-messages`, which connects to the tracker's address for tracks.
    #[must_use]
    pub fn messages(&self, tracks: &str) -> [OsString; 6] {
        let updates = self.path(ChainPort::Updates).into();
        let plans = self.flight_plans().into();
        let (tracker, file) = ("--tracker".into(), "--port-file".into());
        [tracker, tracks.into(), file, updates, "--flight-plans".into(), plans]
    }

    /// Options of `radar-display`, which connects to the message server's address.
    #[must_use]
    pub fn display(&self, updates: &str) -> [OsString; 2] {
        ["--messages".into(), updates.into()]
    }
}
