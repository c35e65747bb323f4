//! The hosts of a test bed: network namespaces with names, addresses and wrong clocks, or this one.

use super::program::Program;
use anyhow::Result;
use chronoscope_lab::{Element, Lab, LabError, Plan};
use serde::Serialize;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The first host: the centre, whose clock is the reference.
pub const CENTRE: usize = 0;
/// Errors that are given to clocks, one host after the other, in ms.
const CLOCK_ERRORS_MS: [i64; 8] = [6, -9, 0, 12, -4, 3, 0, -15];

/// A host of the test bed.
#[derive(Clone, Debug, Serialize)]
pub struct Host {
    /// Name of the host, which is stored with its recordings.
    pub name: String,
    /// Address of the host.
    pub address: Ipv4Addr,
    /// Error set on its clock, in nanoseconds.
    pub clock_error_ns: i64,
}

/// Hosts that are up.
#[derive(Debug)]
pub struct Hosts {
    hosts: Vec<Host>,
    lab: Option<Lab>,
    rings: TempDir,
}

impl Hosts {
    /// Makes hosts of these names, the centre first; all of them are this host if `one_host` is
    /// set, or if the right to make namespaces is missing, which is then reported.
    ///
    /// # Errors
    /// When the network cannot be made for another reason than missing rights.
    pub fn new(names: &[String], one_host: bool, wrong_clocks: bool) -> Result<Self> {
        // In memory if possible: recording must not wait for a disk.
        let rings = tempfile::Builder::new().prefix("radar-testbed.").tempdir_in("/dev/shm");
        let rings = rings.or_else(|_| tempfile::tempdir())?;
        let lab = if one_host { None } else { network(names.len())? };
        let wrong = wrong_clocks && lab.is_some();
        let hosts = names.iter().enumerate().map(|(index, name)| Host {
            name: name.clone(),
            address: if lab.is_some() { address(index) } else { Ipv4Addr::LOCALHOST },
            clock_error_ns: if wrong && index != CENTRE {
                CLOCK_ERRORS_MS[(index - 1) % CLOCK_ERRORS_MS.len()] * 1_000_000
            } else {
                0
            },
        });
        Ok(Self { hosts: hosts.collect(), lab, rings })
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> &[Host] {
        &self.hosts
    }

    /// Whether each is a host of its own.
    #[must_use]
    pub fn are_apart(&self) -> bool {
        self.lab.is_some()
    }

    /// Packets that the network has carried, and lost.
    #[must_use]
    pub fn carried(&self) -> Option<[u64; 2]> {
        self.lab.as_ref().map(Lab::carried).map(|carried| [carried.packets, carried.lost])
    }

    /// Folder in which the programs of a host record.
    #[must_use]
    pub fn rings(&self, host: usize) -> PathBuf {
        let name = if self.lab.is_some() { self.hosts[host].name.as_str() } else { "one" };
        self.rings.path().join(name)
    }

    /// Starts a program on a host.
    ///
    /// # Errors
    /// When it cannot be started there.
    pub fn start(
        &self,
        host: usize,
        folder: &Path,
        name: &str,
        command: &mut Command,
    ) -> Result<Program> {
        let about = &self.hosts[host];
        let rings = self.rings(host);
        std::fs::create_dir_all(&rings)?;
        command.env("CHRONOSCOPE_DIR", rings);
        for theirs in ["CHRONOSCOPE_DATA", "CHRONOSCOPE_STORE", "CHRONOSCOPE_TOKEN"] {
            command.env_remove(theirs);
        }
        match about.clock_error_ns {
            0 => command.env_remove("CHRONOSCOPE_CLOCK_OFFSET_NS"),
            error_ns => command.env("CHRONOSCOPE_CLOCK_OFFSET_NS", error_ns.to_string()),
        };
        match self.lab.as_ref().and_then(|lab| lab.hosts().get(host)) {
            None => Program::start(folder, name, command),
            Some(space) => space.run_as(&about.name, || Program::start(folder, name, command))?,
        }
    }
}

/// Address of the host with this index.
fn address(index: usize) -> Ipv4Addr {
    let [high, low] = u16::try_from(index + 1).unwrap_or(u16::MAX).to_be_bytes();
    Ipv4Addr::new(10, 9, high, low)
}

/// A network of hosts on one link without delay; `None` without the right to make one.
fn network(count: usize) -> Result<Option<Lab>> {
    let hosts = (0..count).map(|index| (address(index), 0)).collect();
    match Lab::new(Plan { segments: vec![Element::default()], joints: Vec::new(), hosts }) {
        Ok(lab) => Ok(Some(lab)),
        Err(error @ LabError::Forbidden { .. }) => {
            eprintln!("radar-testbed: ALL ON ONE HOST, with one clock: {error}");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
