//! `--interfaces` of `serve` and `agent`: what this host's interfaces count, as rows like others'.

use crate::usage::Usage;
use anyhow::{Context, Result, ensure};
use chronoscope_clock as clock;
use chronoscope_net::rows::APPLICATION;
use chronoscope_net::scan::own::OwnHost;
use chronoscope_record::read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Shortest interval between readings of the interfaces.
const EVERY_MIN: Duration = Duration::from_millis(10);
/// Time within which the thread notices that it must end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// State that the readings need, prepared before the first.
#[derive(Debug)]
pub(crate) struct Prepared {
    every: Duration,
    host: OwnHost,
}

/// The thread that reads them; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Interfaces {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Interfaces {
    /// Checks the flag; nothing is started.
    ///
    /// # Errors
    /// When the interval is too short, or the rows would go into a ring that is not one of those in
    /// `ring_dir`.
    pub(crate) fn check(every: Duration, ring_dir: &Path) -> Result<()> {
        ensure!(
            every >= EVERY_MIN,
            Usage::new(format!("--interfaces: the shortest interval is {EVERY_MIN:?}"))
        );
        let own = read::default_folder();
        ensure!(
            own == ring_dir,
            Usage::new(format!(
                "--interfaces records into {}, which this program does not collect: set \
                 CHRONOSCOPE_DIR={} instead of --rings",
                own.display(),
                ring_dir.display()
            ))
        );
        Ok(())
    }

    /// Makes ready to read the interfaces every so often. The rows go into this process's ring.
    ///
    /// # Errors
    /// Those of [`Self::check`], and when nothing is recorded.
    pub(crate) fn prepare(every: Duration, ring_dir: &Path) -> Result<Prepared> {
        Self::check(every, ring_dir)?;
        chronoscope_record::init(APPLICATION);
        chronoscope_record::ring_path().context(
            "--interfaces needs the recorder, which CHRONOSCOPE_RECORD has switched off",
        )?;
        let host = OwnHost::new().context("--interfaces: this host has no name")?;
        Ok(Prepared { every, host })
    }
}

impl Prepared {
    /// Begins to read.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub(crate) fn start(self) -> Result<Interfaces> {
        let Self { every, mut host } = self;
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        let thread = std::thread::Builder::new().name("interfaces".to_owned());
        let thread = thread.spawn(move || watch(&mut host, every, &flag))?;
        Ok(Interfaces { stop, thread: Some(thread) })
    }
}

impl Drop for Interfaces {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there was printed there
        }
    }
}

fn watch(host: &mut OwnHost, every: Duration, stop: &AtomicBool) {
    let every_ns = u64::try_from(every.as_nanos()).unwrap_or(u64::MAX);
    let mut due_ns = clock::monotonic_ns();
    while !stop.load(Ordering::Relaxed) {
        let now_ns = clock::monotonic_ns();
        if now_ns < due_ns {
            clock::sleep(LOOK_EVERY.min(Duration::from_nanos(due_ns - now_ns)));
            continue;
        }
        host.look().record();
        // Readings missed while the host was held up are skipped.
        due_ns = due_ns.saturating_add(every_ns).max(now_ns);
    }
}
