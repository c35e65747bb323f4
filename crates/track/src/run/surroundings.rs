//! Folders in which a unit runs. Their paths always have the same length: paths are in a program's
//! memory, and their length changes counts.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::Process;
use crate::counters::Program;

/// A temporary folder, removed on drop: `bin` and `suite` in it are links to those folders, `work`
/// is empty and the current folder of a unit.
pub(super) struct Surroundings {
    folder: tempfile::TempDir,
    bin: PathBuf,
    suite: PathBuf,
}

impl Surroundings {
    pub(super) fn new(bin: &Path, suite: &Path) -> io::Result<Surroundings> {
        let (bin, suite) = (bin.canonicalize()?, suite.canonicalize()?);
        let folder = tempfile::Builder::new().prefix("chronoscope-").rand_bytes(6).tempdir()?;
        symlink(&bin, folder.path().join("bin"))?;
        symlink(&suite, folder.path().join("suite"))?;
        fs::create_dir(folder.path().join("work"))?;
        Ok(Surroundings { folder, bin, suite })
    }

    /// The program of a unit that is so described, and its description completed.
    pub(super) fn unit(
        &self,
        what: &Process,
        limit: Duration,
        stop: &Arc<AtomicBool>,
    ) -> (Program, Process) {
        let at = |word: &str| self.expand(word);
        let words: Vec<String> = what.command.iter().map(|word| at(word)).collect();
        let path = self.program(&words[0]);
        let mut program = Program::new(path);
        program.arguments = words[1..].iter().map(Into::into).collect();
        program.environment =
            what.environment.iter().map(|(name, value)| (name.into(), at(value).into())).collect();
        let work = || self.folder.path().join("work");
        program.folder = Some(what.folder.as_deref().map_or_else(work, |folder| at(folder).into()));
        program.limit = limit;
        program.stop = Some(stop.clone());
        // A bare name is looked up when it is run.
        let real = program.path.canonicalize().ok().filter(|_| program.path.is_absolute());
        let process = Process {
            name: name_of(&what.command[0]),
            program_sha256: real.as_deref().and_then(digest),
            program_path: real,
            ..what.clone()
        };
        (program, process)
    }

    /// Resolves a program: a path as it is; a bare name in the folder of programs when it is there,
    /// else by the system's search path.
    fn program(&self, word: &str) -> PathBuf {
        if word.contains('/') {
            // Relative ones are the suite's; joining an absolute path replaces the folder.
            return self.folder.path().join("suite").join(word);
        }
        let ours = self.bin.join(word);
        if ours.is_file() { self.folder.path().join("bin").join(word) } else { word.into() }
    }

    fn expand(&self, word: &str) -> String {
        let at = |name: &str| self.folder.path().join(name).to_string_lossy().into_owned();
        word.replace("{bin}", &at("bin")).replace("{suite}", &at("suite"))
    }

    /// Replaces these folders in a text by the folders that they link to.
    pub(super) fn real(&self, text: &str) -> String {
        let at = |name: &str| self.folder.path().join(name).to_string_lossy().into_owned();
        text.replace(&at("bin"), &self.bin.to_string_lossy())
            .replace(&at("suite"), &self.suite.to_string_lossy())
    }
}

/// The last part of a path.
fn name_of(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// SHA-256 of a file in hexadecimal digits; `None` when it cannot be read.
fn digest(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer).ok()? {
            0 => break,
            n => hash.update(&buffer[..n]),
        }
    }
    Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
