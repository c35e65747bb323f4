//! A user of the Forward Frame service as a program works with it: frames as fast as the connection
//! takes them, in buffers or one by one, and the fate of each.
//!
//! ```no_run
//! use chronoscope_sle::client::frames::{FrameSettings, FrameUser};
//! use chronoscope_sle::config::Config;
//! use std::time::Duration;
//!
//! let config = Config::load("sle.toml".as_ref())?;
//! let user = FrameUser::connect(FrameSettings::of(&config, Some("ff1"))?)?;
//! user.bind()?;
//! user.start(0)?;
//! for number in 0..1000u32 {
//!     user.process(number.to_be_bytes().repeat(25).into())?;
//! }
//! user.drain(Duration::from_secs(10))?;
//! user.stop()?;
//! user.unbind()?;
//! println!("{:?}", user.fates());
//! # Ok::<(), anyhow::Error>(())
//! ```
//!
//! However the association ends, what became of every frame is known afterwards
//! ([`FrameUser::fates`]), as far as the procedure tells it: of unconfirmed frames whose completion
//! nobody asked for, only that they were sent.

mod end;
mod error;
mod settings;
mod state;

pub use crate::csts::association::Ending;
pub use crate::csts::procedure::{DataUnits, Fate, Settled, Unit};
pub use error::FrameError;
pub use settings::FrameSettings;
pub use state::{FrameStatistics, Occurrence};

use crate::csts::pdu::{DataUnitId, ListOf, Pdu, PeerAbortDiagnostic, QualifiedParameter};
use crate::csts::procedure::{ProcessingUser, UseError, UserState};
use crate::net::{Counters, Driver, SendRefused, connect};
use crate::recording::{self, PROCESS_DATA};
use crate::time::Now;
use bytes::Bytes;
use end::{Command, FrameUserEnd};
use state::{Answer, Phase, Shared, State};
use std::fmt;
use std::net::ToSocketAddrs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
/// How often a call that waits looks whether it was interrupted.
const INTERRUPT: Duration = Duration::from_millis(50);
/// How many times that it is waited for the end of a connection that takes nothing any more: longer
/// than its thread takes to close it.
const OVER_WAITS: u32 = 200;
/// Octets of an operation beside its data, about.
const OVERHEAD: usize = 96;

/// A user of one service instance, with one association.
pub struct FrameUser {
    driver: Driver<FrameUserEnd>,
    shared: Arc<Shared>,
    /// Held from the making of an operation until it is handed over, so that they leave in order.
    sending: Mutex<()>,
    /// Held from an operation until its return.
    calling: Mutex<()>,
    interrupt: Arc<AtomicBool>,
}

impl fmt::Debug for FrameUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameUser").finish_non_exhaustive()
    }
}

impl FrameUser {
    /// Connects, and binds nothing yet.
    ///
    /// # Errors
    /// [`FrameError::Connect`].
    pub fn connect(settings: FrameSettings) -> Result<Self, FrameError> {
        let failed = |error| FrameError::Connect { address: settings.address.clone(), error };
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
        let shared = Arc::new(Shared::new(&settings));
        let (of_end, association) = (Arc::clone(&shared), settings.association.clone());
        let driver =
            Driver::spawn("sle-frames", socket, &settings.options, settings.limits, |_| {
                FrameUserEnd::new(association, of_end, Now::read())
            })
            .map_err(failed)?;
        let (sending, calling) = (Mutex::default(), Mutex::default());
        Ok(Self { driver, shared, sending, calling, interrupt: settings.interrupt })
    }

    /// Binds.
    ///
    /// # Errors
    /// [`FrameError::BindRefused`], or how the association ended.
    pub fn bind(&self) -> Result<(), FrameError> {
        let transaction = recording::bind();
        self.command(Command::Bind)?;
        let mut state = self.shared.lock();
        let bound = loop {
            match &state.phase {
                Phase::Bound => break Ok(()),
                Phase::Refused(diagnostic) => {
                    break Err(FrameError::BindRefused(diagnostic.clone()));
                }
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
    pub fn unbind(&self) -> Result<(), FrameError> {
        let transaction = recording::unbind();
        self.command(Command::Unbind)?;
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

    /// Starts; the first frame will have this number.
    ///
    /// # Errors
    /// [`FrameError`].
    pub fn start(&self, first: DataUnitId) -> Result<(), FrameError> {
        self.done("START", |user| user.start(first))
    }

    /// Stops. What waits for radiation is discarded by the provider, and what waits in a forward
    /// buffer is not sent: [`Self::drain`] before.
    ///
    /// # Errors
    /// [`FrameError`].
    pub fn stop(&self) -> Result<(), FrameError> {
        self.done("STOP", ProcessingUser::stop)
    }

    /// Sequence-controlled: the directive `reset`; the next frame will have this number.
    ///
    /// # Errors
    /// [`FrameError`].
    pub fn reset(&self, first: DataUnitId) -> Result<(), FrameError> {
        self.done("EXECUTE-DIRECTIVE", |user| user.reset(first))
    }

    /// Asks for parameters.
    ///
    /// # Errors
    /// [`FrameError`].
    pub fn get(&self, parameters: ListOf) -> Result<Vec<QualifiedParameter>, FrameError> {
        match self.call(|user| user.get(parameters))? {
            Answer::Parameters(Ok(all)) => Ok(all),
            Answer::Parameters(Err(diagnostic)) | Answer::Done(Err(diagnostic)) => {
                Err(FrameError::Refused { operation: "GET", diagnostic })
            }
            Answer::Done(Ok(())) => Ok(Vec::new()),
        }
    }

    /// Hands over a frame with the next number; waits while the window, or the connection, is full.
    ///
    /// # Errors
    /// [`FrameError::FrameRefused`] once after one was refused, when all that was sent with it is
    /// answered: this one was not sent, and the next will have the number that is expected.
    pub fn process(&self, data: Bytes) -> Result<DataUnitId, FrameError> {
        self.process_unit(&Unit { data, ..Unit::default() })
    }

    /// As [`Self::process`], with times, or with its completion told.
    ///
    /// # Errors
    /// As [`Self::process`].
    pub fn process_unit(&self, unit: &Unit) -> Result<DataUnitId, FrameError> {
        let octets = unit.data.len();
        let _order = state::lock(&self.sending);
        let mut state = self.shared.lock();
        let (number, pdu) = loop {
            let is_drained = state.machine.unacknowledged() == 0;
            if state.refusal.is_some() {
                if is_drained && let Some(refusal) = state.refusal.take() {
                    return Err(refusal.into());
                }
            } else {
                match state.machine.process(unit.clone(), Now::read()) {
                    Ok(made) => break made,
                    Err(UseError::WindowFull { .. } | UseError::Refused { .. }) => {}
                    Err(UseError::State { state: UserState::Locked }) if is_drained => {
                        return Err(FrameError::Locked);
                    }
                    Err(UseError::State { state: UserState::Locked }) => {}
                    Err(error) => {
                        let is_over = matches!(state.phase, Phase::Ended(_));
                        return Err(if is_over { ended(&state) } else { error.into() });
                    }
                }
            }
            if matches!(state.phase, Phase::Ended(_)) {
                return Err(ended(&state));
            }
            state = self.wait(state)?;
        };
        state.counts.sent += 1;
        state.counts.sent_octets += octets as u64;
        if let Some(key) = state.key {
            let transaction = key.cltu(number).start(&PROCESS_DATA);
            state.recorded.push_back((number, transaction));
        }
        let Some(pdu) = pdu else {
            let wake =
                state.machine.due().is_some() && !std::mem::replace(&mut state.watched, true);
            drop(state);
            if wake {
                self.command(Command::Watch)?;
            }
            return Ok(number);
        };
        self.hand(state, pdu)?;
        Ok(number)
    }

    /// Sends what waits in a forward buffer, and waits until everything that is to be told was:
    /// returns, and completions. That of the last frame is asked for where it still waits; one that
    /// filled its buffer has gone, and tells only if that was asked for with it
    /// ([`Unit::report`]).
    ///
    /// # Errors
    /// As [`Self::process`]; [`FrameError::TimedOut`].
    pub fn drain(&self, at_most: Duration) -> Result<(), FrameError> {
        let order = state::lock(&self.sending);
        let mut state = self.shared.lock();
        if let Some(pdu) = state.machine.flush(true) {
            self.hand(state, pdu)?;
            state = self.shared.lock();
        }
        drop(order);
        let until_ns = chronoscope_clock::monotonic_ns()
            + u64::try_from(at_most.as_nanos()).unwrap_or(u64::MAX / 2);
        loop {
            if matches!(state.phase, Phase::Ended(_)) {
                return Err(ended(&state));
            }
            if state.machine.is_drained() {
                return state.refusal.take().map_or(Ok(()), |refusal| Err(refusal.into()));
            }
            if chronoscope_clock::monotonic_ns() >= until_ns {
                return Err(FrameError::TimedOut);
            }
            state = self.wait(state)?;
        }
    }

    /// Gives an operation to the connection.
    fn hand(&self, mut state: MutexGuard<'_, State>, pdu: Pdu) -> Result<(), FrameError> {
        let octets = match &pdu {
            Pdu::ForwardBuffer(parts) => {
                state.counts.buffers += 1;
                parts.iter().map(|part| state::octets_of(&part.operation) + OVERHEAD).sum()
            }
            Pdu::ProcessData(one) => state::octets_of(one) + OVERHEAD,
            _ => OVERHEAD,
        };
        state.handed += 1;
        drop(state);
        match self.driver.sender().send(Command::Send(pdu), octets) {
            Ok(()) => Ok(()),
            // Its fate is unknown, and said to be.
            Err(SendRefused::Ended(_) | SendRefused::Full(_)) => Err(self.over()),
        }
    }

    fn done(
        &self,
        operation: &'static str,
        make: impl FnOnce(&mut ProcessingUser) -> Result<Pdu, UseError>,
    ) -> Result<(), FrameError> {
        match self.call(make)? {
            Answer::Done(Ok(())) | Answer::Parameters(Ok(_)) => Ok(()),
            Answer::Done(Err(diagnostic)) | Answer::Parameters(Err(diagnostic)) => {
                Err(FrameError::Refused { operation, diagnostic })
            }
        }
    }

    /// Sends an operation and waits for its return. One at a time.
    fn call(
        &self,
        make: impl FnOnce(&mut ProcessingUser) -> Result<Pdu, UseError>,
    ) -> Result<Answer, FrameError> {
        let _one = state::lock(&self.calling);
        let order = state::lock(&self.sending);
        let mut state = self.shared.lock();
        let pdu = match make(&mut state.machine) {
            Ok(pdu) => pdu,
            Err(_) if matches!(state.phase, Phase::Ended(_)) => return Err(ended(&state)),
            Err(error) => return Err(error.into()),
        };
        state.answer = None;
        self.hand(state, pdu)?;
        drop(order);
        let mut state = self.shared.lock();
        loop {
            if let Some(answer) = state.answer.take() {
                return Ok(answer);
            }
            if matches!(state.phase, Phase::Ended(_)) {
                return Err(ended(&state));
            }
            // Not to be interrupted: its return would be taken for another's. The return timer
            // ends it.
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
    pub fn statistics(&self) -> FrameStatistics {
        self.shared.lock().counts
    }

    /// What the connection did so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.driver.sender().counters()
    }

    /// What became of frames, in the order in which it was told; neighbours with one fate together.
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

    fn command(&self, command: Command) -> Result<(), FrameError> {
        match self.driver.sender().send(command, 0) {
            Ok(()) => Ok(()),
            Err(SendRefused::Ended(_) | SendRefused::Full(_)) => Err(self.over()),
        }
    }

    /// That the association is over. The connection's thread takes nothing any more before it has
    /// said so, and what became of frames is known when it has: that is waited for.
    fn over(&self) -> FrameError {
        let mut state = self.shared.lock();
        for _ in 0..OVER_WAITS {
            if matches!(state.phase, Phase::Ended(_) | Phase::Refused(_)) {
                break;
            }
            state = self.shared.wait(state, INTERRUPT);
        }
        ended(&state)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> Result<MutexGuard<'a, State>, FrameError> {
        if self.interrupt.load(Ordering::Acquire) {
            return Err(FrameError::Interrupted);
        }
        Ok(self.shared.wait(state, INTERRUPT))
    }
}

/// That there is no association, and why.
fn ended(state: &State) -> FrameError {
    FrameError::Ended(match &state.phase {
        Phase::Ended(ending) => format!("{ending:?}"),
        _ => "the connection is closed".to_owned(),
    })
}
