//! The agent: rings of this host into a spool on its disk, and from there to a collector.
//!
//! Rows that the collector has not acknowledged stay in the spool, whatever happens to the
//! connection or to either side. Rings are read whether or not there is a collector; a spool that
//! is full
//! drops its oldest rows and counts them. Of several collectors before one store the first that
//! answers is delivered to; the agent comes back to an earlier one when that answers again. A measured program never waits for the delivery. On the
//! same connection the collector may ask what the rings have at this moment.

mod connect;
mod delivery_state;
mod link;
mod link_error;
mod offset;
mod questions;
mod rows;
mod session;
mod target;
mod way_back;

pub use target::{Target, TargetError};

use crate::intake::{self, Rings};
use crate::ring_destination::RingDestination;
use crate::status::Status;
use chronoscope_clock as clock;
use chronoscope_store::{Spool, SpoolOptions, StoreError};
use delivery_state::DeliveryState;
use link::Link;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Options of an agent.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    /// The folder where programs put their rings.
    pub ring_dir: PathBuf,
    /// Directory of the spool.
    pub spool_dir: PathBuf,
    /// Size limits of the spool.
    pub spool: SpoolOptions,
    /// The collector.
    pub to: Target,
    /// Further collectors of the same store, tried in this order while those before are away.
    pub others: Vec<Target>,
    /// Interval at which rows are made durable in the spool. Default: 25 ms.
    pub sync_every: Duration,
    /// Interval at which the status is reported and written. Default: 1 s.
    pub tell_every: Duration,
    /// Time limit for delivering waiting rows at a stop; rows not delivered by then stay in the
    /// spool. Default: 5 s.
    pub stop_within: Duration,
}

impl AgentOptions {
    /// The defaults, from `ring_dir` through `spool_dir` to a collector.
    pub fn new(ring_dir: PathBuf, spool_dir: PathBuf, to: Target) -> Self {
        Self {
            ring_dir,
            spool_dir,
            spool: SpoolOptions::default(),
            to,
            others: Vec::new(),
            sync_every: Duration::from_millis(25),
            tell_every: Duration::from_secs(1),
            stop_within: Duration::from_secs(5),
        }
    }
}

/// Why an agent cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The spool cannot be written.
    #[error(transparent)]
    Spool(#[from] StoreError),
    /// The system gives no thread.
    #[error("the connection's thread cannot start: {0}")]
    Thread(io::Error),
}

/// Reads rings into a spool and delivers them.
#[derive(Debug)]
pub struct Agent {
    options: AgentOptions,
    spool: Arc<Spool>,
}

impl Agent {
    /// Opens the spool and recovers what a crash left.
    ///
    /// # Errors
    /// As [`Spool::open`]: most often that another agent is at work there.
    pub fn new(options: AgentOptions) -> Result<Self, AgentError> {
        let spool = Spool::open(&options.spool_dir, options.spool, clock::utc_now_ns())?;
        Ok(Self { options, spool: Arc::new(spool) })
    }

    /// The spool.
    pub fn spool(&self) -> &Spool {
        &self.spool
    }

    /// Collects and delivers until `stop` is set; then reads what is in the rings, delivers what
    /// it can in [`AgentOptions::stop_within`], and returns the last status. `tell` is called
    /// about once a second.
    ///
    /// Nothing ends it but `stop`: what goes wrong meanwhile is told in [`Status::error`] and
    /// [`Status::delivery`] and tried again.
    ///
    /// # Errors
    /// [`AgentError::Thread`], before anything was read.
    pub fn run(
        &self,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&Status),
    ) -> Result<Status, AgentError> {
        let options = &self.options;
        let rings = Rings {
            ring_dir: options.ring_dir.clone(),
            dir: options.spool_dir.clone(),
            sync_every: options.sync_every,
            tell_every: options.tell_every,
            remove_rings: true,
            application: None,
        };
        let shared = Arc::new(DeliveryState::default());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(AgentError::Thread)?;
        let targets = std::iter::once(&options.to).chain(&options.others).cloned().collect();
        let ring_dir = options.ring_dir.clone();
        let link = Link::new(self.spool.clone(), targets, ring_dir, shared.clone());
        let thread = std::thread::Builder::new().name("delivery".to_owned());
        let thread = thread.spawn(move || runtime.block_on(connect::run(link)));
        let thread = thread.map_err(AgentError::Thread)?;
        let destination = RingDestination::Spool(self.spool.clone());
        let add = |status: &mut Status| shared.fill(status);
        let status = intake::run(&destination, &rings, stop, &add, tell, || {
            shared.end_by(
                clock::monotonic_ns().saturating_add(crate::duration::nanos(options.stop_within)),
            );
            let _ = thread.join(); // a panic there was printed there
        });
        Ok(status)
    }
}
