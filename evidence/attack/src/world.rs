//! Resources shared by all attacks.

use anyhow::{Context, Result, bail};
use chronoscope_statistics::Random;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The programs under attack.
pub(crate) struct World {
    /// Folder of the release programs.
    pub(crate) bin: PathBuf,
    /// Path of this program, which also acts as a recording program.
    pub(crate) own: PathBuf,
    /// Whether to do a tenth only.
    pub(crate) short: bool,
    /// Seed of the random numbers.
    pub(crate) seed: u64,
}

/// The programs under attack.
const PROGRAMS: [&str; 4] = ["chronoscope", "radar-display", "aprs-server", "sle-provider"];

impl World {
    /// Whether all programs are there.
    ///
    /// # Errors
    /// When one is missing.
    pub(crate) fn check(&self) -> Result<()> {
        for name in PROGRAMS {
            if !self.program(name).is_file() {
                bail!("{}: no such program; `make attack` builds it", self.program(name).display());
            }
        }
        Ok(())
    }

    /// Version that `chronoscope` prints.
    ///
    /// # Errors
    /// When it does not run.
    pub(crate) fn version(&self) -> Result<String> {
        let output = self
            .chronoscope(&["--version"])
            .stdout(Stdio::piped())
            .output()
            .context("chronoscope --version")?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// A program's path.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }

    /// A command line of `chronoscope` that takes nothing from the caller's environment.
    pub(crate) fn chronoscope(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.program("chronoscope"));
        for name in ["DATA", "DIR", "STORE", "TOKEN"] {
            command.env_remove(format!("CHRONOSCOPE_{name}"));
        }
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// A program that records into a folder of rings.
    pub(crate) fn recorder(&self, rings: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.own);
        command.arg("record").args(arguments).env("CHRONOSCOPE_DIR", rings);
        command.env("CHRONOSCOPE_SLOTS", "131072");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// The number `full`, or a tenth of it in the short form.
    pub(crate) fn count(&self, full: u64) -> u64 {
        if self.short { full.div_ceil(10) } else { full }
    }

    /// Random numbers of an attack.
    pub(crate) fn random(&self) -> Random {
        Random(self.seed)
    }
}

/// Folders of an attack: on a disk for a store, in memory for rings. They go with this.
pub(crate) struct Folders {
    disk: TempDir,
    memory: TempDir,
}

impl Folders {
    /// New ones.
    ///
    /// # Errors
    /// When there is no room for them.
    pub(crate) fn new() -> Result<Self> {
        let memory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Ok(Self { disk: tempfile::tempdir()?, memory: memory? })
    }

    /// The folder of a store.
    pub(crate) fn data(&self) -> PathBuf {
        self.disk.path().join("data")
    }

    /// Another file or folder beside the store.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.disk.path().join(name)
    }

    /// The folder of rings.
    pub(crate) fn rings(&self) -> &Path {
        self.memory.path()
    }
}
