//! Live upgrade: another program takes the place of this one, with the same process id, the same
//! ports and the same clients.
//!
//! ```text
//! pause all workers ─▶ save ─▶ liveupgrade.json ─▶ exec ─▶ restore ─▶ liveupgrade.json.old
//! ```
//!
//! Sockets are handed over by their descriptors, which the file lists; octets received meanwhile
//! wait in the kernel. If no program can be executed, this program continues.
//!
//! Version rule of the file: fields are only added, each with a default: an upgrade works from any
//! earlier version. A changed meaning of a number gets another `format`.

use super::os;
use super::plan::{Inherited, Plan, PortError};
use super::running::{Bound, Handle, Restored, Running, protocol_of, tell_ports};
use super::threads::{Log, Saved};
use crate::clock::now;
use crate::config::Config;
use crate::engine::{ClientState, ConnId, Identity, LogLevel, Server, ServerState};
use nix::unistd::execv;
use serde::{Deserialize, Serialize};
use socket2::Socket;
use std::collections::HashMap;
use std::ffi::{CString, OsString};
use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file, in the run folder. aprsc's name, which its operators' scripts wait for.
const FILE: &str = "liveupgrade.json";

/// The file once it was read.
const FILE_OLD: &str = "liveupgrade.json.old";

/// Version of the meaning of the file's numbers.
const FORMAT: u32 = 1;

/// Largest file that is written and read: 30,000 clients at 8 KiB.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Reasons why a live upgrade failed.
#[derive(Debug, thiserror::Error)]
pub enum UpgradeError {
    /// There is no run folder for the file.
    #[error("a live upgrade needs RunDir in the configuration")]
    NoRunDir,
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The file has another content than expected.
    #[error("{}: {source}", path.display())]
    Content {
        /// Path of the file.
        path: PathBuf,
        /// Fault and its position.
        source: serde_json::Error,
    },
    /// The file was written by another process, or by a program that is too new.
    #[error(
        "{}: written by process {process} in format {format}: this process cannot read it",
        path.display()
    )]
    Foreign {
        /// Path of the file.
        path: PathBuf,
        /// Process that wrote it.
        process: u32,
        /// Format of the file.
        format: u32,
    },
    /// No program could be executed.
    #[error("{program} cannot be executed: {source}")]
    Execute {
        /// The last one that was tried.
        program: String,
        /// Error of the system.
        source: io::Error,
    },
    /// A worker did not return its state.
    #[error("worker {0} does not answer")]
    Worker(usize),
    /// A socket cannot be kept open, or taken.
    #[error("descriptor {fd}: {source}")]
    Descriptor {
        /// File descriptor of the socket.
        fd: RawFd,
        /// Error of the system.
        source: io::Error,
    },
    /// The file would be larger than the next program reads.
    #[error("{}: more than {bytes_max} octets", path.display())]
    TooLarge {
        /// Path of the file.
        path: PathBuf,
        /// The most that it may have.
        bytes_max: u64,
    },
    /// The next program could not serve these ports.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Ports(Vec<PortError>),
    /// Threads cannot be started.
    #[error("threads cannot be started: {0}")]
    Threads(#[source] io::Error),
}

/// Content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct File {
    format: u32,
    /// Process whose sockets these are.
    process: u32,
    ports: Vec<OpenPort>,
    connections: Vec<Connection>,
    clients: Vec<ClientState>,
    server: ServerState,
    /// State that the program keeps for itself, as JSON.
    extra: serde_json::Value,
}

/// A port that stays open.
#[derive(Debug, Serialize, Deserialize)]
struct OpenPort {
    name: String,
    protocol: String,
    /// Address as configured.
    address: SocketAddr,
    fd: RawFd,
}

/// A connection that stays open.
#[derive(Debug, Serialize, Deserialize)]
struct Connection {
    conn: ConnId,
    protocol: String,
    fd: RawFd,
}

/// Program and arguments to execute, recorded at the start, while relative names still mean what
/// they meant to the caller.
#[derive(Clone, Debug)]
pub struct Program {
    candidates: Vec<OsString>,
    arguments: Vec<OsString>,
}

impl Program {
    /// The current program, with `flag` added to its arguments.
    pub fn current(flag: &str) -> Self {
        let mut arguments: Vec<OsString> = std::env::args_os().collect();
        if !arguments.iter().skip(1).any(|argument| argument == flag) {
            arguments.insert(1.min(arguments.len()), flag.into());
        }
        // The path first, because a new version lies there; then the name by which it was called,
        // which counts in a chroot; then the running file, even if it was deleted.
        let mut candidates: Vec<OsString> =
            std::env::current_exe().map(PathBuf::into_os_string).into_iter().collect();
        candidates.extend(
            arguments.first().filter(|name| name.as_encoded_bytes().contains(&b'/')).cloned(),
        );
        candidates.push("/proc/self/exe".into());
        Self { candidates, arguments }
    }

    /// Looks for it within this folder first, which is to become the root of the file system: it
    /// may have been started by its path from outside.
    #[must_use]
    pub fn within(mut self, root: Option<&Path>) -> Self {
        let Some(root) = root else { return self };
        // Inside the chroot, where a second upgrade starts, this path names nothing.
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let inside = |path: &OsString| {
            let rest = Path::new(path).strip_prefix(&root).ok()?;
            Some(Path::new("/").join(rest).into_os_string())
        };
        let seen: Vec<OsString> = self.candidates.iter().filter_map(inside).collect();
        self.candidates.splice(0..0, seen);
        self
    }

    /// Executes it: returns only where that failed.
    fn execute(&self) -> UpgradeError {
        let mut failed = UpgradeError::Execute {
            program: "no program".to_owned(),
            source: io::ErrorKind::NotFound.into(),
        };
        let c_string = |text: &OsString| CString::new(text.clone().into_vec());
        let Ok(arguments) = self.arguments.iter().map(c_string).collect::<Result<Vec<_>, _>>()
        else {
            return failed;
        };
        for candidate in &self.candidates {
            let Ok(path) = c_string(candidate) else { continue };
            let Err(errno) = execv(&path, &arguments);
            failed = UpgradeError::Execute {
                program: candidate.to_string_lossy().into_owned(),
                source: errno.into(),
            };
        }
        failed
    }
}

impl Running {
    /// Hands everything to the program at the path of this one. `next` is the configuration that it
    /// will read, `extra` is given to it unchanged. Returns only on failure: then this program
    /// continues, though connections that cannot be handed over may have been cut. Ports that the
    /// next program could not serve are detected before any connection is cut.
    pub fn upgrade(
        &self,
        program: &Program,
        next: &Arc<Config>,
        extra: serde_json::Value,
    ) -> UpgradeError {
        let handle = self.handle();
        if let Err(error) = try_plan(&handle, next) {
            return error;
        }
        let Some(run_dir) = handle.server().config().run_dir.clone() else {
            return UpgradeError::NoRunDir;
        };
        let path = run_dir.join(FILE);
        // Before anything is given up: whether there can be a file at all.
        if let Err(source) = create(&path) {
            return UpgradeError::File { path, source };
        }
        let paused = handle.pause();
        let mut kept = Vec::new();
        let failed = save(&paused.save(), &handle, extra, &path, &mut kept);
        let error = match failed {
            Ok(()) => program.execute(),
            Err(error) => error,
        };
        for fd in kept {
            // It was open a moment ago, and still is.
            drop(os::keep_across_exec(&fd, false));
        }
        // The next upgrade writes its own.
        drop(fs::remove_file(&path));
        error
    }
}

/// Binds the ports of the next program's configuration as it will, with the sockets that it gets,
/// and closes them again.
fn try_plan(handle: &Handle, next: &Arc<Config>) -> Result<(), UpgradeError> {
    let mut inherited = Vec::new();
    for (name, protocol, address, port) in handle.open_ports() {
        let fd = port.socket.as_raw_fd();
        let socket =
            port.socket.try_clone().map_err(|source| UpgradeError::Descriptor { fd, source })?;
        inherited.push(Inherited { protocol: protocol.to_owned(), address, name, socket });
    }
    let (_, errors) = Plan::new(Arc::clone(next), None, &mut inherited);
    if errors.is_empty() { Ok(()) } else { Err(UpgradeError::Ports(errors)) }
}

/// Writes the file, and has descriptors stay open: those in `kept` then do.
fn save(
    workers: &[Option<Saved>],
    handle: &Handle,
    extra: serde_json::Value,
    path: &Path,
    kept: &mut Vec<RawFd>,
) -> Result<(), UpgradeError> {
    let mut file = File {
        format: FORMAT,
        process: std::process::id(),
        server: handle.server().save(now()),
        extra,
        ..File::default()
    };
    for (name, protocol, address, port) in handle.open_ports() {
        let fd = port.socket.as_raw_fd();
        file.ports.push(OpenPort { name, protocol: protocol.to_owned(), address, fd });
    }
    for (index, saved) in workers.iter().enumerate() {
        let saved = saved.as_ref().ok_or(UpgradeError::Worker(index))?;
        for (conn, fd, protocol) in &saved.clients {
            let protocol = super::plan::protocol_name(*protocol).to_owned();
            file.connections.push(Connection { conn: *conn, protocol, fd: *fd });
        }
        file.clients.extend(saved.state.clients.iter().cloned());
    }
    let mut written = write(path, &file, FILE_BYTES_MAX);
    if let (Err(UpgradeError::TooLarge { .. }), Some(dupes)) = (&written, &mut file.server.dupes) {
        // Some packets that come twice are better than no upgrade.
        let forms = dupes.forget_forms();
        let line = format_args!("live upgrade: no room for {forms} forms of the duplicate check");
        handle.log(LogLevel::Warning, line);
        written = write(path, &file, FILE_BYTES_MAX);
    }
    written?;
    let ports = file.ports.iter().map(|port| port.fd);
    for fd in ports.chain(file.connections.iter().map(|connection| connection.fd)) {
        os::keep_across_exec(&fd, true)
            .map_err(|source| UpgradeError::Descriptor { fd, source })?;
        kept.push(fd);
    }
    Ok(())
}

fn create(path: &Path) -> io::Result<fs::File> {
    fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

fn write(path: &Path, content: &File, bytes_max: u64) -> Result<(), UpgradeError> {
    let in_file = |source| UpgradeError::File { path: path.to_owned(), source };
    let file = create(path).map_err(in_file)?;
    let mut file = AtMost { file: io::BufWriter::new(file), left: bytes_max, is_over: false };
    let written = serde_json::to_writer(&mut file, content).map_err(io::Error::from);
    if file.is_over {
        return Err(UpgradeError::TooLarge { path: path.to_owned(), bytes_max });
    }
    written.and_then(|()| file.flush()).map_err(in_file)
}

/// A writer with a limit of size.
struct AtMost<W> {
    file: W,
    left: u64,
    is_over: bool,
}

impl<W: Write> Write for AtMost<W> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        if octets.len() as u64 > self.left {
            self.is_over = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let written = self.file.write(octets)?;
        self.left -= written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// State that an earlier program left for this one.
#[derive(Debug)]
pub struct Legacy {
    path: PathBuf,
    file: File,
}

impl Legacy {
    /// Reads what the earlier program of this process wrote.
    ///
    /// # Errors
    /// When there is nothing, or something else.
    pub fn read(config: &Config) -> Result<Self, UpgradeError> {
        let path = config.run_dir.as_ref().ok_or(UpgradeError::NoRunDir)?.join(FILE);
        let in_file = |source| UpgradeError::File { path: path.clone(), source };
        let opened = fs::File::open(&path).map_err(in_file)?;
        if opened.metadata().map_err(in_file)?.len() > FILE_BYTES_MAX {
            return Err(in_file(io::ErrorKind::FileTooLarge.into()));
        }
        let file: File = serde_json::from_reader(io::BufReader::new(opened))
            .map_err(|source| UpgradeError::Content { path: path.clone(), source })?;
        // Descriptors of another process would be whatever is open here.
        if file.process != std::process::id() || file.format != FORMAT {
            let (process, format) = (file.process, file.format);
            return Err(UpgradeError::Foreign { path, process, format });
        }
        Ok(Self { path, file })
    }

    /// State that the earlier program kept for itself.
    pub fn extra(&self) -> &serde_json::Value {
        &self.file.extra
    }

    /// Goes on where the earlier program stopped: its ports where the configuration has them, its
    /// clients, its counters. Which ports are served is returned as well: those that cannot be are
    /// left out, logged, and a fault on the status page, because the clients of all others are to
    /// stay.
    ///
    /// # Errors
    /// When a descriptor is not open, or there are no threads.
    pub fn resume(
        mut self,
        config: &Arc<Config>,
        seed: u64,
        identity: Identity,
        log: Log,
    ) -> Result<(Running, Bound), UpgradeError> {
        let mut inherited = Vec::new();
        for port in std::mem::take(&mut self.file.ports) {
            let socket = take(port.fd)?;
            let OpenPort { name, protocol, address, .. } = port;
            inherited.push(Inherited { protocol, address, name, socket });
        }
        let mut sockets = HashMap::new();
        for connection in std::mem::take(&mut self.file.connections) {
            let socket = take(connection.fd)?;
            if let Some(protocol) = protocol_of(&connection.protocol) {
                sockets.insert(connection.conn, (socket, protocol));
            }
        }
        let (bound, errors) = Bound::with_inherited(Arc::clone(config), inherited);
        let server = Server::new(Arc::clone(config), seed, identity, now());
        server.restore(&self.file.server, now());
        let restored = deal(&mut self.file, sockets, server.workers());
        tell_ports(&server, &log, &errors);
        let running = Running::with_restored(Arc::clone(&server), bound.clone(), log, restored)
            .map_err(UpgradeError::Threads)?;
        let old = self.path.with_file_name(FILE_OLD);
        if let Err(source) = fs::rename(&self.path, &old) {
            // Who waits for its name waits in vain, but everybody is served.
            let text = UpgradeError::File { path: old, source }.to_string();
            running.handle().log(LogLevel::Error, format_args!("live upgrade: {text}"));
            server.fault("live_upgrade_file", &text, now());
        }
        Ok((running, bound))
    }
}

fn take(fd: RawFd) -> Result<Socket, UpgradeError> {
    let socket = os::inherited(fd).map_err(|source| UpgradeError::Descriptor { fd, source })?;
    Ok(Socket::from(socket))
}

/// Distributes the clients to the workers, whose number may have changed.
fn deal(
    file: &mut File,
    mut sockets: HashMap<ConnId, (Socket, crate::config::Protocol)>,
    workers: usize,
) -> Restored {
    let mut dealt: Restored = (0..workers).map(|_| Default::default()).collect();
    for (index, client) in std::mem::take(&mut file.clients).into_iter().enumerate() {
        // One without a socket was cut, and its state does not go on.
        let Some((socket, protocol)) = sockets.remove(&client.conn) else { continue };
        let (connections, state) = &mut dealt[index % workers];
        connections.push((client.conn, socket, protocol));
        state.clients.push(client);
    }
    dealt
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callsign::Callsign;

    fn with_run_dir(dir: &Path) -> Config {
        let mut config = Config::new(Callsign::new(b"TESTING").unwrap());
        config.run_dir = Some(dir.to_owned());
        config
    }

    #[test]
    fn a_file_of_another_process_or_format_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let config = with_run_dir(dir.path());
        let path = dir.path().join(FILE);
        let mut file = File { format: FORMAT, process: std::process::id() + 1, ..File::default() };
        write(&path, &file, FILE_BYTES_MAX).unwrap();
        assert!(matches!(Legacy::read(&config), Err(UpgradeError::Foreign { .. })));
        file.process -= 1;
        file.format += 1;
        write(&path, &file, FILE_BYTES_MAX).unwrap();
        assert!(matches!(Legacy::read(&config), Err(UpgradeError::Foreign { .. })));
        file.format -= 1;
        write(&path, &file, FILE_BYTES_MAX).unwrap();
        assert!(Legacy::read(&config).is_ok());
        fs::write(&path, "{\"format\":1,").unwrap();
        assert!(matches!(Legacy::read(&config), Err(UpgradeError::Content { .. })));
        fs::remove_file(&path).unwrap();
        assert!(matches!(Legacy::read(&config), Err(UpgradeError::File { .. })));
    }

    #[test]
    fn fields_of_later_versions_are_passed_over_and_missing_ones_are_empty() {
        let dir = tempfile::tempdir().unwrap();
        let text = format!("{{\"format\":1,\"process\":{},\"later\":[1]}}", std::process::id());
        fs::write(dir.path().join(FILE), text).unwrap();
        let legacy = Legacy::read(&with_run_dir(dir.path())).unwrap();
        assert!(legacy.file.clients.is_empty() && legacy.extra().is_null());
    }
    #[test]
    fn a_file_that_nobody_would_read_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        let extra = serde_json::Value::String("x".repeat(1000));
        let file = File { extra, ..File::default() };
        write(&path, &file, FILE_BYTES_MAX).unwrap();
        let bytes = fs::metadata(&path).unwrap().len();
        write(&path, &file, bytes).unwrap();
        let refused = write(&path, &file, bytes - 1);
        assert!(matches!(refused, Err(UpgradeError::TooLarge { .. })), "{refused:?}");
    }

    #[test]
    fn a_port_that_cannot_be_bound_is_left_out_of_a_resume_and_is_a_fault() {
        let dir = tempfile::tempdir().unwrap();
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut config = with_run_dir(dir.path());
        config.workers = 1;
        config.http_status = vec![taken.local_addr().unwrap(), ([127, 0, 0, 1], 0).into()];
        let file = File { format: FORMAT, process: std::process::id(), ..File::default() };
        write(&dir.path().join(FILE), &file, FILE_BYTES_MAX).unwrap();
        let legacy = Legacy::read(&config).unwrap();
        let identity = Identity { software: "aprs-server".into(), version: "1".into() };
        let log: Log = Arc::new(|_, _| {});
        let (running, bound) = legacy.resume(&Arc::new(config), 1, identity, log).unwrap();
        assert_eq!(bound.addresses().len(), 1, "{:?}", bound.addresses());
        let faults = running.handle().server().status(now()).faults;
        assert!(faults.iter().any(|fault| fault.name == "ports_not_served"), "{faults:?}");
        running.stop();
    }
}
