//! Counts of runs in a file to which each is appended as it is made.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Failure;
use super::counts::Counts;

/// A run: a line, so that one which was cut short is not there at all.
#[derive(Serialize, Deserialize)]
struct Line {
    build: u64,
    round: usize,
    version: usize,
    counts: Counts,
}

/// Counts of this build so far.
pub(crate) struct Results {
    file: File,
    build: u64,
    counts: HashMap<(usize, usize), Counts>,
}

impl Results {
    /// Takes up what is there of the same build; the last line may have been cut short.
    pub(crate) fn open(path: PathBuf, build: u64, rounds: usize) -> Result<Results, Failure> {
        let said = |error: std::io::Error| format!("{}: {error}", path.display());
        let before = if path.exists() {
            std::fs::read_to_string(&path).map_err(said)?
        } else {
            String::new()
        };
        let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(said)?;
        let (mut counts, mut others) = (HashMap::new(), 0);
        for line in before.lines() {
            match serde_json::from_str::<Line>(line) {
                Ok(line) if line.build == build => {
                    counts.insert((line.round, line.version), line.counts);
                }
                _ => others += 1,
            }
        }
        if !before.is_empty() && !before.ends_with('\n') {
            writeln!(file).map_err(said)?;
        }
        let name = path.display();
        eprintln!(
            "proof: {} runs of {rounds} rounds are in {name} already, {others} lines of another build",
            counts.len()
        );
        Ok(Results { file, build, counts })
    }

    pub(crate) fn get(&self, round: usize, version: usize) -> Option<&Counts> {
        self.counts.get(&(round, version))
    }

    pub(crate) fn add(&mut self, round: usize, version: usize, run: Counts) -> Result<(), Failure> {
        let line = Line { build: self.build, round, version, counts: run };
        let text = serde_json::to_string(&line)?;
        self.file.write_all(format!("{text}\n").as_bytes())?;
        self.counts.insert((round, version), line.counts);
        Ok(())
    }
}
