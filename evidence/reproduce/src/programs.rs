//! Paths of the measured programs.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The programs of one build.
#[derive(Clone, Debug)]
pub struct Programs {
    folder: PathBuf,
    /// Programs named by cargo's messages: only these have the paths of benches.
    told: BTreeMap<String, PathBuf>,
}

/// A line of `cargo build --message-format=json`; other lines have no executable.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
    target: Option<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

impl Programs {
    /// Programs in a folder, and those named by cargo's messages.
    ///
    /// # Errors
    /// When the messages cannot be read.
    pub fn new(folder: &Path, messages: Option<&Path>) -> Result<Self> {
        let folder = folder.canonicalize().with_context(|| folder.display().to_string())?;
        let mut told = BTreeMap::new();
        if let Some(path) = messages {
            let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
            for line in text.lines() {
                let message: Message = serde_json::from_str(line)
                    .with_context(|| format!("{}: not a message of cargo", path.display()))?;
                if let (Some(executable), Some(target)) = (message.executable, message.target) {
                    told.insert(target.name, executable);
                }
            }
        }
        Ok(Self { folder, told })
    }

    /// The folder of those that are no benches.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Path of a program.
    ///
    /// # Errors
    /// When it was not built.
    pub fn path(&self, name: &str) -> Result<PathBuf> {
        let path = self.told.get(name).cloned().unwrap_or_else(|| self.folder.join(name));
        if !path.is_file() {
            bail!("the program {name} is not built (tools/reproduce builds all)");
        }
        Ok(path)
    }

    /// Key of a build: size and time of change of each program.
    ///
    /// # Errors
    /// When a program was not built.
    pub fn key(&self, names: &[&str]) -> Result<String> {
        let mut key = String::new();
        for name in names {
            let about = std::fs::metadata(self.path(name)?)?;
            let changed = about.modified()?.duration_since(UNIX_EPOCH)?;
            // Writing into a string cannot fail.
            let _ = write!(key, "{name} {} {};", about.len(), changed.as_nanos());
        }
        Ok(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bench_is_found_by_what_cargo_says() {
        let folder = tempfile::tempdir().unwrap();
        let bench = folder.path().join("day-0123");
        std::fs::write(&bench, "").unwrap();
        std::fs::write(folder.path().join("chronoscope"), "").unwrap();
        let messages = folder.path().join("messages");
        let line = serde_json::json!({
            "reason": "compiler-artifact", "executable": bench, "target": {"name": "day"},
        });
        std::fs::write(&messages, format!("{line}\n{{\"reason\":\"build-finished\"}}\n")).unwrap();
        let programs = Programs::new(folder.path(), Some(&messages)).unwrap();
        assert_eq!(programs.path("day").unwrap(), bench);
        assert!(programs.path("chronoscope").unwrap().ends_with("chronoscope"));
        let missing = programs.path("proof").unwrap_err().to_string();
        assert!(missing.contains("proof is not built"), "{missing}");
        assert_ne!(programs.key(&["day"]).unwrap(), "");
    }
}
