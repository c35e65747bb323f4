//! The server in its versions.

use std::path::PathBuf;
use std::process::Command;

use chronoscope_track::counters::{Counts as Counted, Method, Plan, Program, measure};
use tempfile::TempDir;

use super::Failure;
use super::build_id::BuildId;
use super::counts::Counts;

const FEATURES: [&str; 5] = ["as-it-is", "as-it-is", "slower-1", "slower-3", "slower-10"];
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/server.rs");

/// All versions as executables.
pub(crate) struct Server {
    folder: TempDir,
    build_id: u64,
}

impl Server {
    /// Builds each in a folder of its own, as a version that comes later would be.
    pub(crate) fn build() -> Result<Server, Failure> {
        let folder = tempfile::tempdir()?;
        let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
        // What it is built of and by: the executables have the names of their folders in them.
        let mut build_id = BuildId::new();
        build_id.add(&std::fs::read(SOURCE)?);
        build_id.add(&Command::new(&rustc).arg("-vV").output()?.stdout);
        for (version, feature) in FEATURES.iter().enumerate() {
            let to = folder.path().join(version.to_string());
            std::fs::create_dir(&to)?;
            let output = Command::new(&rustc)
                .args(["--edition=2024", "-O", "-g", "-Awarnings", "--cfg"])
                .arg(format!("feature=\"{feature}\""))
                .args(["-o", "server", SOURCE])
                .current_dir(&to)
                .output()?;
            if !output.status.success() {
                return Err(String::from_utf8_lossy(&output.stderr).into());
            }
        }
        Ok(Server { folder, build_id: build_id.0 })
    }

    pub(crate) fn build_id(&self) -> u64 {
        self.build_id
    }

    fn path(&self, version: usize) -> PathBuf {
        self.folder.path().join(version.to_string()).join("server")
    }

    /// Runs a version once.
    pub(crate) fn run(&self, version: usize, method: &Method) -> Result<Counts, Failure> {
        let plan = Plan { warm_ups: 0, tolerance: 1e-2, ..Plan::default() };
        let series = measure(&Program::new(self.path(version)), method, &plan)?;
        let run = &series.runs[0];
        let mut counts = Counts::from([("instructions".to_owned(), run.instructions())]);
        if let Counted::Hardware { .. } = run.counts {
            counts.insert("corrected".to_owned(), run.corrected());
        }
        Ok(counts)
    }
}
