//! From a command line to a process that may serve: in the background if wanted, in its chroot, as
//! its user, with its limits, its log open and its configuration read.
//!
//! [`start`] does all of it in aprsc's order, before any thread exists. Its result tells when the
//! server is ready, and the configuration is read again when [`Signals`] ask for it.

mod background;
mod limits;
mod pid_file;
mod privileges;
mod signals;

pub use background::Ready;
pub use pid_file::{PidFile, PidFileError};
pub use privileges::PrivilegeError;
pub use signals::{Signal, Signals};

use crate::args::{Args, Destination};
use crate::config::{self, Config, ConfigErrors};
use crate::engine::LogLevel;
use crate::log::{Log, LogError};
use privileges::Privileges;
use std::io;
use std::net::ToSocketAddrs;

/// Lowest port that anybody may listen on.
const LOW_PORTS: std::ops::Range<u16> = 1..1024;

/// A process that may serve.
#[derive(Debug)]
pub struct Started {
    /// Configuration of the server.
    pub config: Config,
    /// The open log.
    pub log: Log,
    /// To be called when everything is bound.
    pub ready: Ready,
    /// Locked as long as this lives; `None` when there is none.
    pub pid_file: Option<PidFile>,
    /// Files that may be open at a time, sockets included.
    pub files_max: u64,
}

/// Reasons why a process may not serve.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The log cannot be opened.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The configuration has faults.
    #[error("{0}")]
    Config(#[from] ConfigErrors),
    /// User or chroot cannot be changed.
    #[error(transparent)]
    Privilege(#[from] PrivilegeError),
    /// The pid file.
    #[error(transparent)]
    PidFile(#[from] PidFileError),
    /// Going to the background.
    #[error("cannot go to the background: {0}")]
    Fork(#[source] io::Error),
}

/// Prepares the process as the command line asks, up to the configuration. With `--check`, only the
/// configuration is read, and there is neither log nor pid file. With `--fork`, only the child
/// returns; its parent exits when the child is [`Ready`] or has ended.
///
/// # Errors
/// Any [`StartError`].
pub fn start(args: &Args) -> Result<Started, StartError> {
    let log = Log::new(&args.instance(), args.log_level);
    start_with(args, log.clone()).inspect_err(|error| {
        // The caller reports on standard error, which may have no reader: after a live upgrade, for
        // one.
        log.set_stderr(false);
        for line in error.to_string().lines() {
            log.write(LogLevel::Critical, format_args!("{line}"));
        }
    })
}

fn start_with(args: &Args, log: Log) -> Result<Started, StartError> {
    let privileges = Privileges::find(args)?;
    let serve = !args.check;
    if serve && args.log_destination == Destination::Syslog {
        log.open_syslog()?;
    }
    let ready = match args.fork && serve && !args.live_upgrade {
        true => background::fork().map_err(StartError::Fork)?,
        false => Ready::foreground(),
    };
    let files_max = limits::raise_to_most();
    if privileges.changes_root() {
        load_resolver();
        privileges.change_root()?;
    }
    privileges.act_as_user()?;
    if serve && args.log_destination == Destination::File {
        let folder = args.log_folder().unwrap_or_default();
        log.open_file(&folder)?;
    }
    let mut config = config::read(&args.config_path())?;
    if let Some(workers) = args.workers {
        config.workers = usize::from(workers);
    }
    log.set_rotation(config.log_rotate);
    privileges.act_as_root()?;
    let files_max = match config.file_limit {
        Some(limit) if serve && !args.live_upgrade => limits::set(limit, files_max),
        _ => files_max,
    };
    let low_ports = wants_low_ports(&config);
    let ports_bound = privileges.become_user(low_ports)?;
    privileges::refuse_root(args)?;
    let pid_file = match args.pid_path().filter(|_| serve) {
        Some(path) => Some(PidFile::write(&path)?),
        None => None,
    };
    if serve {
        log.set_stderr(args.log_destination == Destination::Stderr);
        report(args, &config, &log, files_max);
        if low_ports && !ports_bound {
            log.write(
                LogLevel::Warning,
                format_args!(
                    "ports below 1024 may not be bound: start as root with -u, or give the \
                     program the capability by: setcap cap_net_bind_service+ep PROGRAM"
                ),
            );
        }
    }
    let ready = ready.closing_stderr(args.log_destination != Destination::Stderr);
    Ok(Started { config, log, ready, pid_file, files_max })
}

/// Reads the configuration again. Settings that cannot change in a running server stay as they are,
/// and that is logged: its callsign, its run folder, its workers, its file limit.
///
/// # Errors
/// The faults of the file, which are logged as well.
pub fn reread(args: &Args, running: &Config, log: &Log) -> Result<Config, ConfigErrors> {
    let mut config = match config::read(&args.config_path()) {
        Ok(config) => config,
        Err(errors) => {
            for error in &errors.0 {
                log.write(LogLevel::Error, format_args!("{error}"));
            }
            let text = format_args!("the new configuration has faults: the old one stays");
            log.write(LogLevel::Error, text);
            return Err(errors);
        }
    };
    if args.workers.is_some() {
        config.workers = running.workers;
    }
    let fixed = [
        ("ServerId", config.server_id != running.server_id),
        ("RunDir", config.run_dir != running.run_dir),
        ("WorkerThreads", config.workers != running.workers),
        ("FileLimit", config.file_limit != running.file_limit),
    ];
    for (directive, _) in fixed.iter().filter(|(_, changed)| *changed) {
        let text = format_args!("{directive} does not change while the server runs: restart it");
        log.write(LogLevel::Error, text);
    }
    config.server_id = running.server_id;
    config.run_dir.clone_from(&running.run_dir);
    config.workers = running.workers;
    config.file_limit = running.file_limit;
    for warning in &config.warnings {
        log.write(LogLevel::Warning, format_args!("{warning}"));
    }
    log.set_rotation(config.log_rotate);
    log.write(LogLevel::Info, format_args!("the new configuration is read"));
    Ok(config)
}

fn wants_low_ports(config: &Config) -> bool {
    let listeners = config.listeners.iter().map(|listener| listener.address);
    let http = config.http_status.iter().chain(&config.http_upload).copied();
    listeners.chain(http).any(|address| LOW_PORTS.contains(&address.port()))
}

/// Has the C library load its name resolution modules now: a chroot may not contain them.
fn load_resolver() {
    // Whether there is such a name does not matter.
    let _ = ("localhost", 0).to_socket_addrs();
}

fn report(args: &Args, config: &Config, log: &Log, files_max: u64) {
    let how = if args.live_upgrade { " (live upgrade)" } else { "" };
    let version = env!("CARGO_PKG_VERSION");
    log.write(LogLevel::Info, format_args!("starting version {version}{how}"));
    for option in args.without_effect() {
        log.write(LogLevel::Warning, format_args!("option {option} has no effect here"));
    }
    for warning in &config.warnings {
        log.write(LogLevel::Warning, format_args!("{warning}"));
    }
    let clients_max = config.clients_max;
    let text = format_args!("FileLimit is {files_max}, MaxClients is {clients_max}");
    log.write(LogLevel::Info, text);
    if config.file_limit.is_some_and(|limit| limit > files_max) {
        let text = format_args!("FileLimit could not be raised: that takes root at the start");
        log.write(LogLevel::Warning, text);
    }
    if files_max < clients_max as u64 + 50 {
        let text = format_args!(
            "{files_max} files are too few for {clients_max} clients and what the server itself \
             needs: raise FileLimit, or lower MaxClients"
        );
        log.write(LogLevel::Error, text);
    }
}
