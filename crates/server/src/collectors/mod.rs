//! This collector among all that work before one cluster: heartbeats, who of them notifies and who
//! links, and what all have published of now.
//!
//! `docs/clickhouse.md`, "Many collectors", has the tables and the times.

mod everybody;
mod lease;

pub(crate) use everybody::{Everybody, is_alive};

use crate::log::LogLine;
use chronoscope_clickhouse::{ClickHouseError, Cluster, CollectorRow, Published};
use chronoscope_clock as clock;
use chronoscope_collect::Ingest;
use lease::{Duty, Lease};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Interval of heartbeats.
const EVERY: Duration = Duration::from_secs(1);
/// Greatest age of what all have published, when it is asked for.
const RECENT_NS: u64 = 1_000_000_000;

/// Whether a server's collector is the one that links the chains of its cluster. Of all that live one
/// is, from six seconds after the start of the first; another one takes over when it is silent for ten
/// seconds or has ended.
#[derive(Clone, Debug)]
pub struct LinkingLease(pub(crate) Weak<Collectors>);

impl LinkingLease {
    /// Whether it is, now. Linking that began before it ended does no harm: of two publications the
    /// cluster takes one.
    pub fn is_held(&self) -> bool {
        self.0.upgrade().is_some_and(|collectors| collectors.links())
    }
}

/// This collector among all before a cluster.
#[derive(Debug)]
pub(crate) struct Collectors {
    cluster: Cluster,
    /// Its heartbeat, without what changes.
    own: CollectorRow,
    ingest: Option<Ingest>,
    lease: Mutex<Lease>,
    /// Whether it has given the lead up for good.
    ended: AtomicBool,
    /// Number of what it published last.
    round: AtomicU64,
    /// When the last heartbeat was written: monotonic nanoseconds.
    beaten_ns: AtomicU64,
    /// What all have published, and when that was read: monotonic nanoseconds.
    recent: Mutex<Option<(u64, Arc<Everybody>)>>,
}

impl Collectors {
    /// Begins to send heartbeats. `address`: where this collector listens, as a URL; `rules`: the
    /// number of its rules.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub(crate) fn start(
        cluster: Cluster,
        ingest: Option<Ingest>,
        (address, rules): (String, usize),
    ) -> std::io::Result<Arc<Self>> {
        let mut id = [0; 8];
        getrandom::fill(&mut id).map_err(|error| std::io::Error::other(error.to_string()))?;
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let own = CollectorRow {
            id: u64::from_le_bytes(id),
            started_ns: clock::utc_now_ns(),
            host: host.trim().to_owned(),
            pid: std::process::id(),
            program: concat!("chronoscope ", env!("CARGO_PKG_VERSION")).to_owned(),
            address,
            rules: rules as u64,
            ..CollectorRow::default()
        };
        let collectors = Arc::new(Self {
            cluster,
            own,
            ingest,
            lease: Mutex::default(),
            ended: AtomicBool::new(false),
            round: AtomicU64::new(0),
            beaten_ns: AtomicU64::new(0),
            recent: Mutex::default(),
        });
        let beating = Arc::downgrade(&collectors);
        let thread = std::thread::Builder::new().name("heartbeat".to_owned());
        thread.spawn(move || beat(&beating))?;
        Ok(collectors)
    }

    /// Its number.
    pub(crate) const fn id(&self) -> u64 {
        self.own.id
    }

    /// The cluster.
    pub(crate) const fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Since when this collector is the one that notifies (monotonic nanoseconds); `None` where it
    /// is not.
    pub(crate) fn leads_since(&self) -> Option<u64> {
        self.lease().leads_since(Duty::Notify, clock::monotonic_ns())
    }

    /// Whether this collector is the one that links chains.
    pub(crate) fn links(&self) -> bool {
        self.lease().leads_since(Duty::Link, clock::monotonic_ns()).is_some()
    }

    /// Whether the cluster takes its heartbeats.
    pub(crate) fn is_beating(&self) -> bool {
        let beaten_ns = self.beaten_ns.load(Ordering::Relaxed);
        beaten_ns > 0
            && clock::monotonic_ns().saturating_sub(beaten_ns) < lease::DEAD_NS.unsigned_abs()
    }

    /// Whether another collector notifies.
    pub(crate) fn has_other_leader(&self) -> bool {
        self.lease().has_other(Duty::Notify)
    }

    /// Publishes, for all collectors.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub(crate) fn publish(&self, published: &Published) -> Result<(), ClickHouseError> {
        let round = self.round.load(Ordering::Relaxed) + 1;
        self.cluster.publish(self.own.id, round, published)?;
        self.round.store(round, Ordering::Relaxed);
        Ok(())
    }

    /// What all collectors have published, at most a second ago.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub(crate) fn everybody(&self) -> Result<Arc<Everybody>, ClickHouseError> {
        // Held while it is read: those who come meanwhile want the same.
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let now_ns = clock::monotonic_ns();
        if let Some((read_ns, everybody)) = &*recent
            && now_ns.saturating_sub(*read_ns) < RECENT_NS
        {
            return Ok(everybody.clone());
        }
        let everybody = Arc::new(Everybody::read(&self.cluster)?);
        *recent = Some((now_ns, everybody.clone()));
        Ok(everybody)
    }

    /// Gives its duties up, so that another collector need not wait for this one's silence.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        self.lease().end();
        // A heartbeat that is under way has a lower number.
        let last = CollectorRow { beat: lease::LAST_BEAT, ..self.own.clone() };
        let ended = self.cluster.beat(&CollectorRow { rules: 0, ..last });
        // Without it the others find out by its silence.
        let _ = ended.inspect_err(|error| LogLine::warn("no_heartbeat").with("error", error).say());
    }

    /// Writes a heartbeat, and sees who else lives.
    fn beat(&self, beat: u64) -> Result<(), ClickHouseError> {
        let began_ns = clock::monotonic_ns();
        let age = self.lease().age(began_ns);
        let since_ns = match age {
            Some(since_ns) => since_ns,
            None => self.cluster.shard_time_ns()?,
        };
        let row = CollectorRow {
            beat,
            since_ns,
            has_spans: self.ingest.as_ref().is_some_and(Ingest::has_spans),
            round: self.round.load(Ordering::Relaxed),
            ..self.own.clone()
        };
        self.cluster.beat(&row)?;
        let written_ns = clock::monotonic_ns();
        self.beaten_ns.store(written_ns, Ordering::Relaxed);
        let seen = self.cluster.collectors()?;
        let own = (self.own.id, since_ns);
        if self.ended.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.lease().beaten((began_ns, written_ns), own, &seen);
        Ok(())
    }

    fn lease(&self) -> MutexGuard<'_, Lease> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends heartbeats until the collector ends.
fn beat(collectors: &Weak<Collectors>) {
    let mut failed = false;
    for number in 1.. {
        let Some(beating) = collectors.upgrade() else { return };
        if beating.ended.load(Ordering::Relaxed) {
            return;
        }
        let result = beating.beat(number);
        match &result {
            Ok(()) if failed => LogLine::info("heartbeat_again").say(),
            Err(error) if !failed => LogLine::warn("no_heartbeat").with("error", error).say(),
            _ => {}
        }
        failed = result.is_err();
        drop(beating);
        clock::sleep(EVERY);
    }
}
