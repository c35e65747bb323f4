//! A scenario, replayed with the programs of several folders.

use std::path::{Path, PathBuf};

use chronoscope_replay::scenario::{Count, Options, Scenario};
use chronoscope_track::counters::Method;
use tempfile::TempDir;

use super::Failure;
use super::build_id::BuildId;
use super::counts::Counts;

/// A scenario, and a folder of programs for each version.
pub(crate) struct Replay {
    scenario: Scenario,
    changed: String,
    names: Vec<String>,
    /// Has a link to the programs of each version: the path of a program is in its memory, and
    /// its length moves counts.
    links: TempDir,
    build_id: u64,
}

impl Replay {
    /// `folders`: with the programs as they are, and changed; `changed` is the process whose
    /// program they differ in.
    pub(crate) fn new(file: &Path, changed: &str, folders: &[PathBuf]) -> Result<Replay, Failure> {
        let scenario = Scenario::read(file)?;
        let links = tempfile::tempdir()?;
        let mut build_id = BuildId::new();
        build_id.add_folder(file.parent().unwrap_or(Path::new(".")))?;
        build_id.add(scenario.name.as_bytes());
        for folder in folders {
            build_id.add_folder(folder)?;
        }
        let as_it_is = folders.first().ok_or("a replay needs --bin")?;
        for (version, folder) in std::iter::once(as_it_is).chain(folders).enumerate() {
            let link = links.path().join(version.to_string());
            std::os::unix::fs::symlink(folder.canonicalize()?, link)?;
        }
        let name = |folder: &PathBuf| {
            folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned()
        };
        let names = folders.iter().map(name).collect();
        let (changed, build_id) = (format!("{changed} "), build_id.0);
        Ok(Replay { scenario, changed, names, links, build_id })
    }

    pub(crate) fn name(&self) -> &str {
        &self.scenario.name
    }

    pub(crate) fn changes(&self) -> Vec<String> {
        let changed = self.names.iter().skip(1).cloned();
        std::iter::once("none".to_owned()).chain(changed).collect()
    }

    pub(crate) fn is_changed(&self, count: &str) -> bool {
        count.starts_with(&self.changed)
    }

    pub(crate) fn build_id(&self) -> u64 {
        self.build_id
    }

    /// Replays a version once.
    pub(crate) fn run(&self, version: usize, method: &Method) -> Result<Counts, Failure> {
        let out = tempfile::tempdir()?; // its path is as long every time
        let bin = self.links.path().join(version.to_string());
        let mut options = Options::new(&bin, &out.path().join("out"));
        options.count = match method {
            Method::Hardware => Count::Counters,
            Method::Callgrind { .. } => Count::Callgrind,
        };
        let report = self.scenario.run(&options, &mut |_| {})?;
        if let Some(failure) = report.failure {
            return Err(format!("the replay ended early: {failure}").into());
        }
        let mut counts = Counts::new();
        for process in &report.processes {
            // As `track run` keeps them: of Callgrind those outside of the preload library.
            let counted = match method {
                Method::Hardware => {
                    [("instructions", process.instructions), ("corrected", process.corrected)]
                }
                Method::Callgrind { .. } => {
                    [("instructions", process.comparable_instructions()), ("", None)]
                }
            };
            let name = &process.name;
            if counted[0].1.is_none_or(|count| count == 0) {
                return Err(format!("{name} was not counted").into());
            }
            for (figure, count) in counted {
                counts.extend(count.map(|count| (format!("{name} {figure}"), count)));
            }
        }
        Ok(counts)
    }
}
