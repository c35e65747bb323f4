//! Results of earlier runs: used again while the programs are the same.

use chronoscope_replay::scenario::Report;
use std::error::Error;
use std::path::{Path, PathBuf};

/// Result of one step, stored in the folder of its replay.
pub(crate) struct Kept {
    path: PathBuf,
    /// Size and time of change of the programs: another build measures again.
    key: String,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct File {
    key: String,
    report: Report,
}

impl Kept {
    pub(crate) fn new(
        folder: &Path,
        name: &str,
        programs: &[&str],
    ) -> Result<Self, Box<dyn Error>> {
        let mut key = String::new();
        for program in programs {
            let about = std::fs::metadata(program)?;
            let changed = about.modified()?.duration_since(std::time::UNIX_EPOCH)?;
            key.push_str(&format!("{} {};", about.len(), changed.as_nanos()));
        }
        Ok(Self { path: folder.join(format!("{name}.json")), key })
    }

    /// `None` when there is none, or one of other programs.
    pub(crate) fn read(&self) -> Option<Report> {
        let text = std::fs::read_to_string(&self.path).ok()?;
        let file: File = serde_json::from_str(&text).ok()?;
        (file.key == self.key).then_some(file.report)
    }

    pub(crate) fn write(&self, report: &Report) -> Result<(), Box<dyn Error>> {
        let file = File { key: self.key.clone(), report: report.clone() };
        let new = self.path.with_extension("new");
        std::fs::write(&new, serde_json::to_string_pretty(&file)?)?;
        Ok(std::fs::rename(&new, &self.path)?)
    }
}
