//! The folders of one replay: fresh, and the same every time.

use super::Report;
use super::description::Scenario;
use super::error::ScenarioError;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The output folder and its parts.
#[derive(Debug)]
pub(super) struct OutputFolders {
    pub(super) out: PathBuf,
    /// The coordinator's page and socket; a short path of always the same length, removed at the
    /// end.
    pub(super) time: TimeFolder,
}

#[derive(Debug)]
pub(super) struct TimeFolder(pub(super) PathBuf);

impl Drop for TimeFolder {
    fn drop(&mut self) {
        // An error about a folder for temporary files helps no user.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl OutputFolders {
    /// Makes them, and copies each process's state.
    pub(super) fn make(scenario: &Scenario, out: &Path) -> Result<Self, ScenarioError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |error| ScenarioError::Io { path, error }
        };
        std::fs::create_dir_all(out).map_err(at(out))?;
        if std::fs::read_dir(out).map_err(at(out))?.next().is_some() {
            return Err(ScenarioError::NotFresh { path: out.to_owned() });
        }
        let out = out.canonicalize().map_err(at(out))?;
        let answers = out.join("answers");
        std::fs::create_dir(&answers).map_err(at(&answers))?;
        // The recorder puts no ring where others than its user may write.
        let rings = out.join(Report::RINGS);
        std::fs::DirBuilder::new().mode(0o700).create(&rings).map_err(at(&rings))?;
        for process in &scenario.processes {
            let folder = out.join(&process.name);
            std::fs::create_dir(&folder).map_err(at(&folder))?;
            if let Some(state) = &process.state {
                let state = scenario.folder.join(state);
                copy(&state, &folder).map_err(at(&state))?;
            }
        }
        let time = time_folder().map_err(at(&std::env::temp_dir()))?;
        Ok(Self { out, time })
    }
}

fn time_folder() -> io::Result<TimeFolder> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed) % 1000;
        let name = format!("chronoscope-{:010}-{number:03}", std::process::id());
        let path = std::env::temp_dir().join(name);
        match std::fs::create_dir(&path) {
            Ok(()) => return Ok(TimeFolder(path)),
            // Left by a process of the same number that was killed, or of another thread.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 999 => {}
            Err(error) => return Err(error),
        }
    }
}

/// Copies the content of `from` into `to`, in the order of the names.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut entries = std::fs::read_dir(from)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            std::fs::create_dir(&target)?;
            copy(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(entry.path())?, &target)?;
        } else {
            std::fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
