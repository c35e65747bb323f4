//! Starting a process as a replay needs it: the same environment and addresses every time.
#![allow(unsafe_code)] // what a child does between fork and exec

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A program that takes part.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// What it is called in reports.
    pub name: String,
    /// Path and arguments.
    pub command: Vec<OsString>,
    /// All of its environment, but for what the replay adds.
    pub environment: Vec<(OsString, OsString)>,
    /// Its working folder.
    pub folder: PathBuf,
    /// Where its output goes, standard and error; nowhere without.
    pub output: Option<PathBuf>,
}

/// Starts a program without address space randomisation.
///
/// # Errors
/// When there is no such program, or the output cannot be made.
pub fn start(program: &Program, preload: &Path, time: &Path) -> io::Result<Child> {
    let Some((path, arguments)) = program.command.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the command is empty"));
    };
    let mut command = Command::new(path);
    command.args(arguments).current_dir(&program.folder).stdin(Stdio::null());
    command.env_clear().envs(program.environment.iter().map(|(name, value)| (name, value)));
    command.env("LD_PRELOAD", preload).env("CHRONOSCOPE_TIME", time);
    match &program.output {
        Some(output) => {
            let file = File::create(output)?;
            command.stdout(file.try_clone()?).stderr(file);
        }
        None => {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
    }
    // SAFETY: the closure makes one system call and touches no memory of the parent's.
    unsafe { command.pre_exec(fixed_addresses) };
    command.spawn()
}

fn fixed_addresses() -> io::Result<()> {
    use nix::sys::personality::{Persona, get, set};
    set(get()? | Persona::ADDR_NO_RANDOMIZE)?;
    Ok(())
}
