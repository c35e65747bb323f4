//! The server under load: a process of its own.

use crate::process::Usage;
use anyhow::{Context, Result, bail};
use chronoscope_clock as clock;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Settings of a server.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Number of worker threads.
    pub(crate) workers: usize,
    /// Value of the directive `Batching`.
    pub(crate) batching: String,
    /// Whether its transactions are recorded.
    pub(crate) record: bool,
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    ports: HashMap<String, SocketAddr>,
    _dir: tempfile::TempDir,
}

impl Server {
    /// Starts the `aprs-server` that was built beside this program.
    pub(crate) fn start(settings: &Settings) -> Result<Self> {
        let program = program()?;
        let dir = tempfile::tempdir()?;
        // The server gives up root's rights where it has them, and writes here afterwards.
        open_to_all(dir.path())?;
        let config = dir.path().join("aprs-server.conf");
        std::fs::write(&config, configuration(settings))?;
        let ports_file = dir.path().join("ports");
        let mut command = Command::new(&program);
        command.arg("-c").arg(&config).arg("-o").arg("file").arg("-r").arg(dir.path());
        command.arg("--ports").arg(&ports_file).stdin(Stdio::null());
        if root() {
            command.args(["-u", "nobody"]);
        }
        if settings.record {
            command.env("CHRONOSCOPE_DIR", dir.path().join("rings"));
        } else {
            command.env("CHRONOSCOPE_RECORD", "off");
        }
        let mut child =
            command.spawn().with_context(|| format!("starting {}", program.display()))?;
        let ports = wait_for_ports(&mut child, &ports_file, dir.path())?;
        Ok(Self { child, ports, _dir: dir })
    }

    /// Address on which a port of the configuration listens.
    pub(crate) fn port(&self, name: &str) -> Result<SocketAddr> {
        self.ports.get(name).copied().with_context(|| format!("the server has no port {name:?}"))
    }

    /// Process number of the server.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Resources used by the process.
    pub(crate) fn usage(&self) -> Result<Usage> {
        Usage::of(self.process())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process is ours, and is no longer needed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

fn open_to_all(dir: &Path) -> Result<()> {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(dir, mode).context("opening the run folder to the server's user")
}

fn program() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let program = own.with_file_name("aprs-server");
    if !program.exists() {
        bail!("{} is missing: cargo build --release -p chronoscope-aprs first", program.display());
    }
    Ok(program)
}

fn configuration(settings: &Settings) -> String {
    let Settings { workers, batching, .. } = settings;
    format!(
        "ServerId BENCH\nPassCode {}\nMyAdmin \"Load, BENCH\"\nMyEmail load@example.org\n\
         WorkerThreads {workers}\nBatching {batching}\nMaxClients 19000\nFileLimit 20000\n\
         Listen full fullfeed tcp 127.0.0.1 0 maxclients 19000\n\
         Listen igate igate tcp 127.0.0.1 0 maxclients 19000\n\
         Listen submit udpsubmit udp 127.0.0.1 0\nHTTPStatus 127.0.0.1 0\n",
        crate::passcode::passcode("BENCH")
    )
}

fn wait_for_ports(
    child: &mut Child,
    file: &Path,
    dir: &Path,
) -> Result<HashMap<String, SocketAddr>> {
    for _ in 0..2000 {
        if let Ok(text) = std::fs::read_to_string(file)
            && text.ends_with('\n')
        {
            return Ok(text.lines().filter_map(port).collect());
        }
        if let Some(status) = child.try_wait()? {
            let logs = std::fs::read_dir(dir)?.filter_map(Result::ok).map(|entry| entry.path());
            let log = logs.filter(|path| path.extension().is_some_and(|end| end == "log"));
            let said: String = log.filter_map(|path| std::fs::read_to_string(path).ok()).collect();
            bail!("the server ended at once ({status}):\n{said}");
        }
        clock::sleep(Duration::from_millis(5));
    }
    bail!("the server printed no ports within 10 s")
}

/// `NAME PROTOCOL ADDRESS`.
fn port(line: &str) -> Option<(String, SocketAddr)> {
    let mut words = line.rsplitn(3, ' ');
    let address = words.next()?.parse().ok()?;
    let _protocol = words.next()?;
    Some((words.next()?.trim_matches('"').to_owned(), address))
}
