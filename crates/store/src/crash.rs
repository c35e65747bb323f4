//! Crashes at every step, for tests.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Lets the machine crash at the `at`th change of a file. All changes after it fail as well.
#[derive(Debug)]
pub(crate) struct Crash {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    steps: u64,
    at: u64,
    /// Bytes of the interrupted write that reach the file.
    torn: usize,
    /// Whether only one step fails, as an error that passes.
    passing: Option<i32>,
    /// Bytes of files that were synced.
    synced: HashMap<PathBuf, u64>,
    /// Changes of names that were not synced, oldest first.
    names: Vec<NameChange>,
}

#[derive(Debug)]
enum NameChange {
    Created(PathBuf),
    Renamed { from: PathBuf, to: PathBuf, content: Vec<u8>, replaced: Option<Vec<u8>> },
    Removed { path: PathBuf, content: Vec<u8> },
}

/// The steps to crash at, of `count`: each; or some `CRASH_STEPS` of them, the last one included, where each
/// takes long (tools/test-aarch64).
pub(crate) fn steps_of(count: u64) -> impl Iterator<Item = u64> {
    let wanted = std::env::var("CRASH_STEPS").map_or(count, |steps| steps.parse().unwrap());
    let mut every = count.div_ceil(wanted.max(1)).max(1);
    // Neither even nor a multiple of three: so each way to tear a write comes with each loss of power.
    while every > 1 && (every.is_multiple_of(2) || every.is_multiple_of(3)) {
        every += 1;
    }
    (0..count).rev().step_by(usize::try_from(every).unwrap())
}

impl Crash {
    /// Crashes at step `at`, counted from 0; a write is interrupted after `torn` bytes.
    pub(crate) fn at(at: u64, torn: usize) -> Self {
        Self { state: Mutex::new(State { at, torn, ..State::default() }) }
    }

    /// Fails step `at` only, with the operating system's error `code`.
    pub(crate) fn passing(at: u64, torn: usize, code: i32) -> Self {
        let state = State { at, torn, passing: Some(code), ..State::default() };
        Self { state: Mutex::new(state) }
    }

    /// Steps so far.
    pub(crate) fn steps(&self) -> u64 {
        self.state.lock().unwrap().steps
    }

    pub(crate) fn step(&self) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.steps += 1;
        match state.passing {
            Some(code) if state.steps == state.at + 1 => Err(io::Error::from_raw_os_error(code)),
            Some(_) => Ok(()),
            None if state.steps > state.at => Err(io::Error::other("simulated crash")),
            None => Ok(()),
        }
    }

    pub(crate) fn write(&self, mut file: &File, slices: &[IoSlice<'_>]) -> io::Result<()> {
        let result = self.step();
        let state = self.state.lock().unwrap();
        if result.is_err() && state.steps == state.at + 1 {
            let all: Vec<u8> = slices.iter().flat_map(|slice| slice.iter().copied()).collect();
            file.write_all(&all[..state.torn.min(all.len())])?;
        }
        result
    }

    pub(crate) fn synced(&self, path: &Path) {
        let len = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        self.state.lock().unwrap().synced.insert(path.to_owned(), len);
    }

    pub(crate) fn synced_dir(&self, dir: &Path) {
        let elsewhere = |path: &Path| path.parent() != Some(dir);
        self.state.lock().unwrap().names.retain(|change| match change {
            NameChange::Created(path) | NameChange::Removed { path, .. } => elsewhere(path),
            NameChange::Renamed { to, .. } => elsewhere(to),
        });
    }

    pub(crate) fn created(&self, path: &Path) {
        let mut state = self.state.lock().unwrap();
        state.synced.insert(path.to_owned(), 0);
        state.names.push(NameChange::Created(path.to_owned()));
    }

    pub(crate) fn renaming(&self, from: &Path, to: &Path) {
        let mut state = self.state.lock().unwrap();
        let len = state.synced.remove(from).unwrap_or(0);
        state.synced.insert(to.to_owned(), len);
        let content = std::fs::read(from).unwrap_or_default();
        let replaced = std::fs::read(to).ok();
        let (from, to) = (from.to_owned(), to.to_owned());
        state.names.push(NameChange::Renamed { from, to, content, replaced });
    }

    pub(crate) fn removing(&self, path: &Path) {
        let Ok(content) = std::fs::read(path) else { return };
        let mut state = self.state.lock().unwrap();
        state.names.push(NameChange::Removed { path: path.to_owned(), content });
    }

    /// Brings the directory into the state after a power failure: unsynced names are undone
    /// (`undo`), and files have only the
    /// bytes that were synced, or those and some more (`keep` of what is beyond).
    pub(crate) fn lose_power(&self, undo: bool, keep: f64) {
        let mut state = self.state.lock().unwrap();
        let names = std::mem::take(&mut state.names);
        for change in names.into_iter().rev().filter(|_| undo) {
            match change {
                NameChange::Created(path) => drop(std::fs::remove_file(path)),
                NameChange::Removed { path, content } => std::fs::write(path, content).unwrap(),
                NameChange::Renamed { from, to, content, replaced } => {
                    match replaced {
                        Some(bytes) => std::fs::write(&to, bytes).unwrap(),
                        None => drop(std::fs::remove_file(&to)),
                    }
                    std::fs::write(from, content).unwrap();
                    state.synced.remove(&to);
                }
            }
        }
        for (path, synced) in &state.synced {
            let Ok(metadata) = std::fs::metadata(path) else { continue };
            let beyond = metadata.len().saturating_sub(*synced);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let kept = synced + (beyond as f64 * keep) as u64;
            File::options().write(true).open(path).unwrap().set_len(kept).unwrap();
        }
    }
}
