//! A user as a program works with it: calls that wait for their returns, CLTUs as fast as a window
//! lets them go, frames as they come.
//!
//! ```no_run
//! use chronoscope_sle::client::{Settings, Transfer, User};
//! use chronoscope_sle::config::Config;
//! use chronoscope_sle::pdu::UnbindReason;
//!
//! let config = Config::load("sle.toml".as_ref())?;
//! let user = User::connect(Settings::of(&config, Some("cltu1"))?)?;
//! user.bind()?;
//! user.start_forward(0)?;
//! for number in 0..1000u32 {
//!     user.transfer(Transfer { data: number.to_be_bytes().repeat(4).into(), ..Transfer::default() })?;
//! }
//! user.drain()?;
//! user.stop()?;
//! user.unbind(UnbindReason::End)?;
//! println!("{:?}", user.fates());
//! # Ok::<(), anyhow::Error>(())
//! ```
//!
//! One thread drives the connection; calls may come from any thread. However the association ends,
//! what became of every CLTU that was handed over is known afterwards ([`User::fates`]).

mod call;
mod end;
pub mod frames;
mod settings;
mod sink;
mod state;
pub mod words;

pub use crate::association::Ending;
use crate::association::SendError;
pub use crate::net::Counters;
pub use crate::service::fcltu::{Cltus, Fate, Settled, Transfer};
pub use settings::{Settings, SettingsError};
pub use sink::Sink;
pub use state::{Occurrence, Statistics};

use crate::net::{Driver, SendRefused, connect};
use crate::pdu::{BindDiagnostic, Diagnostic, PeerAbortDiagnostic, Service, UnbindReason};
use crate::recording;
use crate::service::{fcltu, returns};
use crate::time::Now;
use end::{Command, UserEnd};
use state::{Phase, Shared, State};
use std::fmt;
use std::net::ToSocketAddrs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
/// How often a call that waits looks whether it was interrupted.
const INTERRUPT: Duration = Duration::from_millis(50);

/// Why a call did not do what it was to do.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// There is no connection.
    #[error("{address}: {error}")]
    Connect {
        /// To where.
        address: String,
        /// Why not.
        error: std::io::Error,
    },
    /// BIND was refused.
    #[error("BIND refused: {0:?}")]
    BindRefused(BindDiagnostic),
    /// The operation was refused.
    #[error("{operation} refused: {}", words::diagnostic(*service, operation, *diagnostic))]
    Refused {
        /// Which.
        operation: &'static str,
        /// Of which service.
        service: Service,
        /// Why.
        diagnostic: Diagnostic,
    },
    /// A CLTU was refused, and with it those that were sent after it.
    #[error(
        "CLTU {} refused: {}; the provider expects {expected}", cltus.first,
        words::diagnostic(Service::Fcltu, "TRANSFER-DATA", *diagnostic)
    )]
    CltuRefused {
        /// Which.
        cltus: Cltus,
        /// Why.
        diagnostic: Diagnostic,
        /// The number that comes next.
        expected: u32,
    },
    /// BIND or UNBIND was not sent.
    #[error(transparent)]
    NotSent(#[from] SendError),
    /// The state does not allow it.
    #[error("{0}")]
    Forward(#[from] fcltu::UseError),
    /// Likewise.
    #[error("{0}")]
    Return(#[from] returns::UseError),
    /// The other kind of service has that operation.
    #[error("{0} is no operation of {1:?}")]
    NotOfService(&'static str, Service),
    /// A CLTU has 1 to 65,536 octets.
    #[error("a CLTU of {0} octets: from 1 to 65536")]
    CltuLength(usize),
    /// The association is over.
    #[error("the association ended: {0}")]
    Ended(String),
    /// Whoever called wanted it no more.
    #[error("interrupted")]
    Interrupted,
}

/// A user of one service instance, with one association.
pub struct User {
    driver: Driver<UserEnd>,
    shared: Arc<Shared>,
    service: Service,
    /// Held from the making of an operation until it is handed over, so that they leave in order.
    sending: Mutex<()>,
    /// Held from an operation until its return.
    calling: Mutex<()>,
    interrupt: Arc<AtomicBool>,
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").field("service", &self.service).finish_non_exhaustive()
    }
}

impl User {
    /// Connects, and binds nothing yet. Frames are only counted.
    ///
    /// # Errors
    /// [`ClientError::Connect`].
    pub fn connect(settings: Settings) -> Result<Self, ClientError> {
        Self::connect_with(settings, Box::new(drop))
    }

    /// As [`Self::connect`]; `sink` takes frames.
    ///
    /// # Errors
    /// [`ClientError::Connect`].
    pub fn connect_with(settings: Settings, sink: Sink) -> Result<Self, ClientError> {
        let failed = |error| ClientError::Connect { address: settings.address.clone(), error };
        let mut last = std::io::Error::from(std::io::ErrorKind::NotFound);
        let mut socket = None;
        for address in settings.address.to_socket_addrs().map_err(failed)? {
            match connect(address, &settings.options, CONNECT) {
                Ok(connected) => {
                    socket = Some(connected);
                    break;
                }
                Err(error) => last = error,
            }
        }
        let socket = socket.ok_or(last).map_err(failed)?;
        let service = settings.association.service;
        let shared = Arc::new(Shared::new(service, settings.window));
        let (of_end, association) = (Arc::clone(&shared), settings.association.clone());
        let driver = Driver::spawn("sle-user", socket, &settings.options, settings.limits, |_| {
            UserEnd::new(association, of_end, sink, Now::read())
        })
        .map_err(failed)?;
        Ok(Self {
            driver,
            shared,
            service,
            sending: Mutex::default(),
            calling: Mutex::default(),
            interrupt: settings.interrupt,
        })
    }

    /// Which service.
    #[must_use]
    pub fn service(&self) -> Service {
        self.service
    }

    /// Binds; the version that is spoken from here on.
    ///
    /// # Errors
    /// [`ClientError::BindRefused`], or how the association ended.
    pub fn bind(&self) -> Result<u16, ClientError> {
        let transaction = recording::bind();
        self.command(Command::Bind)?;
        let mut state = self.shared.lock();
        let bound = loop {
            match &state.phase {
                Phase::Bound(version) => break Ok(*version),
                Phase::Refused(diagnostic) => break Err(ClientError::BindRefused(*diagnostic)),
                Phase::Ended(_) => break Err(ended(&state)),
                Phase::Unbound => {}
            }
            if let Some(error) = state.not_sent.take() {
                break Err(error.into());
            }
            state = self.wait(state)?;
        };
        transaction.stop(recording::status(bound.is_ok()));
        bound
    }

    /// Unbinds, and waits for the connection's end.
    ///
    /// # Errors
    /// How the association ended, where it did not end so.
    pub fn unbind(&self, reason: UnbindReason) -> Result<(), ClientError> {
        let transaction = recording::unbind();
        self.command(Command::Unbind(reason))?;
        let mut state = self.shared.lock();
        loop {
            if let Phase::Ended(ending) = &state.phase {
                let is_good = *ending == Ending::Closed;
                transaction.stop(recording::status(is_good));
                return if is_good { Ok(()) } else { Err(ended(&state)) };
            }
            if let Some(error) = state.not_sent.take() {
                return Err(error.into());
            }
            // Not to be interrupted: its return timer ends it.
            state = self.shared.wait(state, INTERRUPT);
        }
    }

    /// Aborts, ahead of all that waits to be sent, and waits until the association is over and the
    /// peer was told; for a second at most where he takes nothing.
    pub fn abort(&self, diagnostic: PeerAbortDiagnostic) {
        if self.driver.sender().send_first(Command::Abort(diagnostic)).is_err() {
            return; // over already
        }
        let mut state = self.shared.lock();
        while !matches!(state.phase, Phase::Ended(_)) {
            state = self.shared.wait(state, INTERRUPT);
        }
        drop(state);
        self.driver.sender().wait_finished();
    }

    /// Breaks the connection as a crash would.
    pub fn reset(&self) {
        self.driver.sender().reset();
    }

    /// How the association ended, once it has.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        match &self.shared.lock().phase {
            Phase::Ended(ending) => Some(ending.clone()),
            _ => None,
        }
    }

    /// What was done so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.shared.lock().statistics()
    }

    /// What the connection did so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.driver.sender().counters()
    }

    /// What became of CLTUs, in the order in which it was told; neighbours with one fate together.
    /// After the end of the association every CLTU that was handed over is in it: those that were
    /// not answered are unknown.
    #[must_use]
    pub fn fates(&self) -> Vec<Settled> {
        self.shared.lock().fates.clone()
    }

    /// What happened next that nobody asked for, within so long.
    #[must_use]
    pub fn next_occurrence(&self, within: Duration) -> Option<Occurrence> {
        let until_ns = chronoscope_clock::monotonic_ns()
            + u64::try_from(within.as_nanos()).unwrap_or(u64::MAX / 2);
        let mut state = self.shared.lock();
        loop {
            if let Some(occurrence) = state.occurrences.pop_front() {
                return Some(occurrence);
            }
            let left_ns = until_ns.saturating_sub(chronoscope_clock::monotonic_ns());
            if left_ns == 0 || matches!(state.phase, Phase::Ended(_)) {
                return None;
            }
            state = self.shared.wait(state, Duration::from_nanos(left_ns));
        }
    }

    fn command(&self, command: Command) -> Result<(), ClientError> {
        match self.driver.sender().send(command, 0) {
            Ok(()) => Ok(()),
            Err(SendRefused::Ended(_) | SendRefused::Full(_)) => Err(self.over()),
        }
    }

    /// That the connection takes nothing any more, once it is known how the association ended and
    /// what became of its CLTUs: the connection's thread says that a moment later.
    fn over(&self) -> ClientError {
        let mut state = self.shared.lock();
        while !matches!(state.phase, Phase::Ended(_) | Phase::Refused(_))
            && !self.driver.is_finished()
        {
            state = self.shared.wait(state, INTERRUPT);
        }
        ended(&state)
    }

    /// Waits for a change, unless interrupted.
    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> Result<MutexGuard<'a, State>, ClientError> {
        if self.interrupt.load(Ordering::Acquire) {
            return Err(ClientError::Interrupted);
        }
        Ok(self.shared.wait(state, INTERRUPT))
    }
}

/// That there is no association, and why.
fn ended(state: &State) -> ClientError {
    ClientError::Ended(match &state.phase {
        Phase::Ended(ending) => words::ending(ending),
        _ => "the connection is closed".to_owned(),
    })
}

fn lock(mutex: &Mutex<()>) -> MutexGuard<'_, ()> {
    // It guards an order, no data.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
