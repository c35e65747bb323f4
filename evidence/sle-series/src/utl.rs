//! The Java peer: the SLE User Test Library, by `tools/utl`.

use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::Command;

/// Command of the peer: program and arguments before the role.
#[derive(Clone, Debug)]
pub(crate) struct Utl(Vec<String>);

impl Utl {
    /// Builds it, or finds it built; the error says what is missing.
    pub(crate) fn find() -> Result<Self> {
        let tool = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tools/utl");
        let output =
            Command::new(&tool).arg("build").output().with_context(|| format!("{tool:?}"))?;
        if !output.status.success() {
            bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let line = String::from_utf8(output.stdout)?;
        Ok(Self(line.split_whitespace().map(str::to_owned).collect()))
    }

    /// The program for a role (`user`, `provider`) and a service (`fcltu`, `raf`).
    pub(crate) fn command(
        &self,
        role: &str,
        service: &str,
        settings: &[(&str, String)],
    ) -> Command {
        let mut command = Command::new(&self.0[0]);
        command.args(&self.0[1..]).arg(role).arg(service);
        command.args(settings.iter().map(|(name, value)| format!("{name}={value}")));
        command
    }
}
