//! A user of the Forward Frame service for programs: frames as fast as the connection accepts them,
//! in buffers or one by one, and the fate of each.
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
//! After the end of the association, [`FrameUser::fates`] has the fate of every frame, as far as the
//! procedure reports it. Of unconfirmed frames without a completion report it is only known that
//! they were sent.

mod end;
mod error;
mod service;
mod settings;

pub use crate::csts::association::AssociationEnd;
pub use crate::csts::procedure::{DataUnit, DataUnitFate, DataUnits, SettledUnits};
pub use error::FrameError;
pub use service::{FrameOccurrence, FrameStatistics};
pub use settings::FrameSettings;

use super::connection::{ConnectionSettings, UserConnection};
use super::service::{UserCommand, UserService};
use super::state::ClientState;
use crate::csts::pdu::{DataUnitId, ListOf, Pdu, PeerAbortDiagnostic, QualifiedParameter};
use crate::csts::procedure::{ProcessingUser, UseError, UserState};
use crate::net::ConnectionCounters;
use crate::recording::PROCESS_DATA;
use crate::time::Now;
use bytes::Bytes;
use end::FrameUserEnd;
use service::{FrameCallReturn, FrameCommand, FrameService};
use std::fmt;
use std::sync::MutexGuard;
use std::time::Duration;

/// A user of one service instance, with one association.
pub struct FrameUser {
    connection: UserConnection<FrameService, FrameUserEnd>,
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
        let service = FrameService::new(&settings);
        let opening = ConnectionSettings {
            name: "sle-frames",
            address: &settings.address,
            options: &settings.options,
            limits: settings.limits,
            interrupt: settings.interrupt,
        };
        let association = settings.association;
        let connection = UserConnection::open(opening, service, |shared| {
            FrameUserEnd::new(association, shared, Now::read())
        })?;
        Ok(Self { connection })
    }

    /// Sends BIND and waits for its return.
    ///
    /// # Errors
    /// [`FrameError::BindRefused`], or how the association ended.
    pub fn bind(&self) -> Result<(), FrameError> {
        self.connection.bind()
    }

    /// Unbinds, and waits for the connection's end.
    ///
    /// # Errors
    /// How the association ended, where it did not end so.
    pub fn unbind(&self) -> Result<(), FrameError> {
        self.connection.unbind(())
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
            FrameCallReturn::Parameters(Ok(all)) => Ok(all),
            FrameCallReturn::Parameters(Err(diagnostic))
            | FrameCallReturn::Done(Err(diagnostic)) => {
                Err(FrameError::Refused { operation: "GET", diagnostic })
            }
            FrameCallReturn::Done(Ok(())) => Ok(Vec::new()),
        }
    }

    /// Hands over a frame with the next number; waits while the window, or the connection, is full.
    ///
    /// # Errors
    /// [`FrameError::FrameRefused`] once after one was refused, when all that was sent with it is
    /// answered: this one was not sent, and the next will have the number that is expected.
    pub fn process(&self, data: Bytes) -> Result<DataUnitId, FrameError> {
        self.process_unit(&DataUnit { data, ..DataUnit::default() })
    }

    /// As [`Self::process`], with times, or with its completion told.
    ///
    /// # Errors
    /// As [`Self::process`].
    pub fn process_unit(&self, unit: &DataUnit) -> Result<DataUnitId, FrameError> {
        let octets = unit.data.len();
        let _order = self.connection.order();
        let mut state = self.connection.shared.lock();
        let (number, pdu) = loop {
            let is_drained = state.service.machine.unacknowledged() == 0;
            if state.refusal.is_some() {
                if is_drained && let Some(refusal) = state.refusal.take() {
                    return Err(refusal.into());
                }
            } else if state.service.is_permitted() {
                match state.service.machine.process(unit.clone(), Now::read()) {
                    Ok(made) => break made,
                    Err(UseError::WindowFull { .. } | UseError::Refused { .. }) => {}
                    Err(UseError::State { state: UserState::Locked }) if is_drained => {
                        return Err(FrameError::Locked);
                    }
                    Err(UseError::State { state: UserState::Locked }) => {}
                    Err(error) => {
                        let is_over = state.is_ended();
                        return Err(if is_over { state.over() } else { error.into() });
                    }
                }
            }
            if state.is_ended() {
                return Err(state.over());
            }
            state = self.connection.wait(state)?;
        };
        state.service.tuner.sent(chronoscope_clock::monotonic_ns);
        state.service.counts.sent += 1;
        state.service.counts.sent_octets += octets as u64;
        if let Some(key) = state.key {
            let transaction = key.cltu(number).start(&PROCESS_DATA);
            state.service.recorded.push_back((number, transaction));
        }
        let Some(pdu) = pdu else {
            let wake = state.service.machine.due().is_some()
                && !std::mem::replace(&mut state.service.watched, true);
            drop(state);
            if wake {
                self.connection.command(UserCommand::Service(FrameCommand::Watch))?;
            }
            return Ok(number);
        };
        self.hand(state, pdu)?;
        Ok(number)
    }

    /// Sends what waits in a forward buffer, and waits until everything that is to be told was:
    /// returns, and completions. That of the last frame is asked for where it still waits; one that
    /// filled its buffer has gone, and tells only if that was asked for with it
    /// ([`DataUnit::report`]).
    ///
    /// # Errors
    /// As [`Self::process`]; [`FrameError::TimedOut`].
    pub fn drain(&self, at_most: Duration) -> Result<(), FrameError> {
        let order = self.connection.order();
        let mut state = self.connection.shared.lock();
        if let Some(pdu) = state.service.machine.flush(true) {
            self.hand(state, pdu)?;
            state = self.connection.shared.lock();
        }
        drop(order);
        let until_ns = chronoscope_clock::monotonic_ns()
            + u64::try_from(at_most.as_nanos()).unwrap_or(u64::MAX / 2);
        loop {
            if state.is_ended() {
                return Err(state.over());
            }
            if state.service.machine.is_drained() {
                return state.refusal.take().map_or(Ok(()), |refusal| Err(refusal.into()));
            }
            if chronoscope_clock::monotonic_ns() >= until_ns {
                return Err(FrameError::TimedOut);
            }
            state = self.connection.wait(state)?;
        }
    }

    /// Gives an operation to the connection.
    fn hand(
        &self,
        mut state: MutexGuard<'_, ClientState<FrameService>>,
        pdu: Pdu,
    ) -> Result<(), FrameError> {
        let octets = state.service.hand(&pdu);
        drop(state);
        self.connection.hand(pdu, octets)
    }

    fn done(
        &self,
        operation: &'static str,
        make: impl FnOnce(&mut ProcessingUser) -> Result<Pdu, UseError>,
    ) -> Result<(), FrameError> {
        match self.call(make)? {
            FrameCallReturn::Done(Ok(())) | FrameCallReturn::Parameters(Ok(_)) => Ok(()),
            FrameCallReturn::Done(Err(diagnostic))
            | FrameCallReturn::Parameters(Err(diagnostic)) => {
                Err(FrameError::Refused { operation, diagnostic })
            }
        }
    }

    fn call(
        &self,
        make: impl FnOnce(&mut ProcessingUser) -> Result<Pdu, UseError>,
    ) -> Result<FrameCallReturn, FrameError> {
        self.connection.call(|state| match make(&mut state.service.machine) {
            Ok(pdu) => Ok(pdu),
            Err(_) if state.is_ended() => Err(state.over()),
            Err(error) => Err(error.into()),
        })
    }

    /// Aborts, ahead of all that waits to be sent, and waits until the association is over and the
    /// peer was told; for a second at most where he takes nothing.
    pub fn abort(&self, diagnostic: PeerAbortDiagnostic) {
        self.connection.abort(diagnostic);
    }

    /// The end of the association, if it has ended.
    #[must_use]
    pub fn ending(&self) -> Option<AssociationEnd> {
        self.connection.ending()
    }

    /// Counters of frames.
    #[must_use]
    pub fn statistics(&self) -> FrameStatistics {
        let state = self.connection.shared.lock();
        let (occurrences_lost, fates_lost) = (state.occurrences_lost, state.fates_lost);
        let window = state.service.tuner.window();
        FrameStatistics { window, occurrences_lost, fates_lost, ..state.service.counts }
    }

    /// Counters of the connection.
    #[must_use]
    pub fn counters(&self) -> ConnectionCounters {
        self.connection.counters()
    }

    /// The fates of frames, in the order of the reports. Adjacent frames with the same fate are one
    /// entry.
    #[must_use]
    pub fn fates(&self) -> Vec<SettledUnits> {
        self.connection.fates()
    }

    /// The next unsolicited event; waits for at most `within`.
    #[must_use]
    pub fn next_occurrence(&self, within: Duration) -> Option<FrameOccurrence> {
        self.connection.next_occurrence(within)
    }
}
