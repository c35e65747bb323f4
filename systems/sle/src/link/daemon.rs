//! All links of a configuration, kept up until a signal; the configuration is read again on another one.

use super::control::utc;
use super::keeper::{KeptLink, fingerprint, schedule};
use crate::config::{Config, ConfigError, Finding};
use crate::provider::ProviderLog;
use crate::time::Now;
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Interval of the looks at signals and schedules.
const LOOK: Duration = Duration::from_millis(50);
/// Interval of the writes of the status, in ns.
const STATUS_NS: u64 = 1_000_000_000;
/// Version of the status. Within a version keys are only added.
const FORMAT: u32 = 1;

/// Why the links do not start.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The file is no configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The configuration has errors: the findings of [`Config::check`].
    #[error(
        "the configuration has errors:\n{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    )]
    Wrong(Vec<Finding>),
    /// There is nothing to keep up.
    #[error("the configuration has no [[link]]: docs/sle-station.md has an example")]
    NoLink,
    /// A socket, a journal or a store is not available.
    #[error("link {link}: {error}")]
    Start {
        /// Name of the link.
        link: String,
        /// What is not available.
        error: io::Error,
    },
}

/// Requests from signals.
#[derive(Clone, Debug, Default)]
pub struct LinkSignals {
    /// End all links in order.
    pub ends: Arc<AtomicBool>,
    /// Read the configuration again.
    pub reload: Arc<AtomicBool>,
}

/// The links of a configuration.
pub struct LinkDaemon {
    path: PathBuf,
    log: ProviderLog,
    status: Option<PathBuf>,
    links: Vec<KeptLink>,
    /// Names of links that could not be started again, and why.
    failed: Vec<(String, String)>,
    /// When the configuration was read last, UTC in nanoseconds since 1970.
    read_utc_ns: u64,
    /// The status could not be written, and it was said.
    status_failed: bool,
}

impl std::fmt::Debug for LinkDaemon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LinkDaemon").field("path", &self.path).finish_non_exhaustive()
    }
}

fn checked(path: &Path) -> Result<Config, LinkError> {
    let config = Config::load(path)?;
    let wrong: Vec<Finding> = config.check().into_iter().filter(Finding::is_wrong).collect();
    if !wrong.is_empty() {
        return Err(LinkError::Wrong(wrong));
    }
    if config.link.is_empty() { Err(LinkError::NoLink) } else { Ok(config) }
}

impl LinkDaemon {
    /// Starts all links of a file.
    ///
    /// # Errors
    /// [`LinkError`]; no link runs then.
    pub fn start(path: &Path, log: ProviderLog) -> Result<Self, LinkError> {
        let config = checked(path)?;
        let mut daemon = Self {
            path: path.to_owned(),
            log,
            status: config.links.status.clone(),
            links: Vec::new(),
            failed: Vec::new(),
            read_utc_ns: Now::read().utc_ns,
            status_failed: false,
        };
        for link in config.link.iter().map(toml::Spanned::get_ref) {
            match KeptLink::start(&config, link, &daemon.log) {
                Ok(kept) => daemon.links.push(kept),
                Err(error) => {
                    daemon.end();
                    return Err(LinkError::Start { link: link.name().to_owned(), error });
                }
            }
        }
        Ok(daemon)
    }

    /// Names of the links, each with an address where programs can connect.
    #[must_use]
    pub fn addresses(&self) -> Vec<(String, String)> {
        let named = |link: &KeptLink| {
            let name = link.control.name.clone();
            link.addresses().into_iter().map(move |address| (name.clone(), address))
        };
        self.links.iter().flat_map(named).collect()
    }

    /// Keeps the links up until a signal says that they are to end, and ends them in order.
    pub fn run(&mut self, signals: &LinkSignals) {
        let mut written_ns = 0;
        while !signals.ends.load(Ordering::Acquire) {
            if signals.reload.swap(false, Ordering::AcqRel) {
                self.reload();
            }
            self.tick();
            let now_ns = Now::read().monotonic_ns;
            if now_ns.saturating_sub(written_ns) >= STATUS_NS {
                written_ns = now_ns;
                self.write_status();
            }
            chronoscope_clock::sleep(LOOK);
        }
        self.end();
        self.write_status();
    }

    fn tick(&self) {
        self.links.iter().for_each(KeptLink::tick);
    }

    /// Ends all links in order.
    fn end(&mut self) {
        self.links.iter().for_each(|link| link.control.end());
        while self.links.iter().any(|link| !link.is_finished()) {
            self.tick();
            chronoscope_clock::sleep(LOOK);
        }
        for link in self.links.drain(..) {
            link.finish();
        }
    }

    /// Reads the configuration again. Faults in it change nothing. A link that has only other passes
    /// keeps its association; one with other settings is ended in order and started again.
    fn reload(&mut self) {
        let config = match checked(&self.path) {
            Ok(config) => config,
            Err(error) => {
                let text = format!("{}: {error}; nothing has changed", self.path.display());
                text.lines().for_each(|line| self.log.say(line));
                return;
            }
        };
        self.read_utc_ns = Now::read().utc_ns;
        self.status = config.links.status.clone();
        self.failed.clear();
        let wanted: Vec<_> = config.link.iter().map(toml::Spanned::get_ref).collect();
        let prints: Vec<String> = wanted.iter().map(|link| fingerprint(&config, link)).collect();
        let (kept, leaving): (Vec<_>, Vec<_>) =
            self.links.drain(..).partition(|link| prints.contains(&link.fingerprint));
        self.links = kept;
        leaving.iter().for_each(|link| link.control.end());
        for link in leaving {
            while !link.is_finished() {
                self.tick();
                chronoscope_clock::sleep(LOOK);
            }
            link.control.say("ended: the configuration has changed");
            link.finish();
        }
        for (link, print) in wanted.iter().zip(prints) {
            if let Some(kept) = self.links.iter().find(|kept| kept.fingerprint == print) {
                kept.control.set_schedule(schedule(link));
                continue;
            }
            match KeptLink::start(&config, link, &self.log) {
                Ok(started) => {
                    for address in started.addresses() {
                        started.control.say(&format!("listening {address}"));
                    }
                    self.links.push(started);
                }
                Err(error) => {
                    self.log.say(&format!("link {}: {error}", link.name()));
                    self.failed.push((link.name().to_owned(), error.to_string()));
                }
            }
        }
        self.log.say(&format!("{}: read again, {} links", self.path.display(), self.links.len()));
    }

    /// State of all links, as JSON.
    #[must_use]
    pub fn status(&self) -> Value {
        let mut links: Vec<Value> = self.links.iter().map(KeptLink::status).collect();
        let failed = self
            .failed
            .iter()
            .map(|(name, why)| json!({ "name": name, "state": "failed", "reason": why }));
        links.extend(failed);
        json!({
            "format": FORMAT,
            "pid": std::process::id(),
            "written": utc(Now::read().utc_ns),
            "configuration_read": utc(self.read_utc_ns),
            "links": links,
        })
    }

    /// Replaces the file of the status: a reader finds a whole one at any time.
    fn write_status(&mut self) {
        let Some(path) = &self.status else { return };
        let mut next = path.clone().into_os_string();
        next.push(".next");
        let text = format!("{:#}\n", self.status());
        let written = fs::write(&next, text).and_then(|()| fs::rename(&next, path));
        if let Err(error) = &written
            && !self.status_failed
        {
            self.log.say(&format!("status {}: {error}", path.display()));
        }
        self.status_failed = written.is_err();
    }
}
