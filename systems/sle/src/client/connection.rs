//! A user's connection and the calls on it, whatever the service.

use super::service::{UserCommand, UserService};
use super::state::{AssociationPhase, ClientState, FateCursor, SharedClient};
use crate::association::AssociationEnd;
use crate::net::{
    ConnectionCounters, ConnectionProtocol, Driver, DriverLimits, SendRefused, SocketOptions,
    connect, connect_local,
};
use crate::recording;
use socket2::Socket;
use std::io;
use std::net::ToSocketAddrs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum time to connect.
const CONNECT: Duration = Duration::from_secs(10);
/// Interval at which a waiting call checks for its interruption.
const INTERRUPT: Duration = Duration::from_millis(50);

/// A connection with one association; `E` is its end in the connection's thread.
pub(super) struct UserConnection<S: UserService, E: ConnectionProtocol<Command = UserCommand<S>>> {
    driver: Driver<E>,
    pub(super) shared: Arc<SharedClient<S>>,
    /// Held from the making of an operation until it is handed over, so that they leave in order.
    sending: Mutex<()>,
    /// Held from an operation until its return.
    calling: Mutex<()>,
    interrupt: Arc<AtomicBool>,
}

/// Settings of a connection.
pub(super) struct ConnectionSettings<'a> {
    /// Name of its thread.
    pub(super) name: &'a str,
    /// Host and port, of which every address of the host is tried; or `unix:` and the path of a
    /// communication server's local link.
    pub(super) address: &'a str,
    pub(super) options: &'a SocketOptions,
    pub(super) limits: DriverLimits,
    /// Set, calls that wait end.
    pub(super) interrupt: Arc<AtomicBool>,
}

impl<S: UserService, E: ConnectionProtocol<Command = UserCommand<S>>> UserConnection<S, E> {
    /// Connects, and binds nothing yet.
    pub(super) fn open(
        opening: ConnectionSettings<'_>,
        service: S,
        end: impl FnOnce(Arc<SharedClient<S>>) -> E,
    ) -> Result<Self, S::Error> {
        let failed = |error| S::not_connected(opening.address.to_owned(), error);
        let socket = Self::socket(&opening).map_err(failed)?;
        let shared = Arc::new(SharedClient::new(service));
        let of_end = Arc::clone(&shared);
        let driver =
            Driver::spawn(opening.name, socket, opening.options, opening.limits, |_| end(of_end))
                .map_err(failed)?;
        let (sending, calling) = (Mutex::default(), Mutex::default());
        Ok(Self { driver, shared, sending, calling, interrupt: opening.interrupt })
    }

    fn socket(opening: &ConnectionSettings<'_>) -> io::Result<Socket> {
        if let Some(path) = opening.address.strip_prefix("unix:") {
            return connect_local(Path::new(path), CONNECT);
        }
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for address in opening.address.to_socket_addrs()? {
            match connect(address, opening.options, CONNECT) {
                Ok(connected) => return Ok(connected),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Sends BIND and waits for its return.
    pub(super) fn bind(&self) -> Result<S::Bound, S::Error> {
        let transaction = recording::bind();
        self.command(UserCommand::Bind)?;
        let mut state = self.shared.lock();
        let bound = loop {
            match &state.phase {
                AssociationPhase::Bound(bound) => break Ok(*bound),
                AssociationPhase::Refused(diagnostic) => {
                    break Err(S::bind_refused(diagnostic.clone()));
                }
                AssociationPhase::Ended(_) => break Err(state.over()),
                AssociationPhase::Unbound => {}
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
    pub(super) fn unbind(&self, reason: S::Unbind) -> Result<(), S::Error> {
        let transaction = recording::unbind();
        self.command(UserCommand::Unbind(reason))?;
        let mut state = self.shared.lock();
        loop {
            if let AssociationPhase::Ended(ending) = &state.phase {
                let is_good = *ending == AssociationEnd::Closed;
                transaction.stop(recording::status(is_good));
                return if is_good { Ok(()) } else { Err(state.over()) };
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
    pub(super) fn abort(&self, diagnostic: S::Abort) {
        if self.driver.sender().send_first(UserCommand::Abort(diagnostic)).is_err() {
            return; // over already
        }
        let mut state = self.shared.lock();
        while !state.is_ended() {
            state = self.shared.wait(state, INTERRUPT);
        }
        drop(state);
        self.driver.sender().wait_finished();
    }

    /// Breaks the connection as a crash would.
    pub(super) fn reset(&self) {
        self.driver.sender().reset();
    }

    /// The end of the association, if it has ended.
    pub(super) fn ending(&self) -> Option<AssociationEnd<S::Abort>> {
        match &self.shared.lock().phase {
            AssociationPhase::Ended(ending) => Some(ending.clone()),
            _ => None,
        }
    }

    /// Counters of the connection.
    pub(super) fn counters(&self) -> ConnectionCounters {
        self.driver.sender().counters()
    }

    /// The fates of data units, in the order of the reports. Adjacent data units with the same fate
    /// are one entry.
    pub(super) fn fates(&self) -> Vec<S::Settled> {
        self.shared.lock().fates.clone()
    }

    /// The fates that were reported since `from`, which is then after them.
    pub(super) fn fates_since(&self, from: &mut FateCursor) -> Vec<S::Settled> {
        self.shared.lock().fates_since(from)
    }

    /// The next unsolicited event; waits for at most `within`.
    pub(super) fn next_occurrence(&self, within: Duration) -> Option<S::Occurrence> {
        let until_ns = chronoscope_clock::monotonic_ns()
            + u64::try_from(within.as_nanos()).unwrap_or(u64::MAX / 2);
        let mut state = self.shared.lock();
        loop {
            if let Some(occurrence) = state.occurrences.pop_front() {
                return Some(occurrence);
            }
            let left_ns = until_ns.saturating_sub(chronoscope_clock::monotonic_ns());
            if left_ns == 0 || state.is_ended() {
                return None;
            }
            state = self.shared.wait(state, Duration::from_nanos(left_ns));
        }
    }

    /// Takes the right to hand over: operations leave in the order in which they were made.
    pub(super) fn order(&self) -> MutexGuard<'_, ()> {
        lock(&self.sending)
    }

    pub(super) fn command(&self, command: UserCommand<S>) -> Result<(), S::Error> {
        self.give(command, 0)
    }

    /// Gives an operation to the connection. Its fate is unknown where that fails, and said to be.
    pub(super) fn hand(&self, pdu: S::Pdu, octets: usize) -> Result<(), S::Error> {
        self.give(UserCommand::Send(pdu), octets)
    }

    fn give(&self, command: UserCommand<S>, octets: usize) -> Result<(), S::Error> {
        match self.driver.sender().send(command, octets) {
            Ok(()) => Ok(()),
            Err(SendRefused::Ended(_) | SendRefused::Full(_)) => Err(self.over()),
        }
    }

    /// The error after the connection has ended. Waits until the connection's thread has reported
    /// the end of the association and the fates of its data units.
    fn over(&self) -> S::Error {
        let mut state = self.shared.lock();
        while !matches!(state.phase, AssociationPhase::Ended(_) | AssociationPhase::Refused(_))
            && !self.driver.is_finished()
        {
            state = self.shared.wait(state, INTERRUPT);
        }
        state.over()
    }

    /// Waits for a change, unless interrupted.
    pub(super) fn wait<'a>(
        &self,
        state: MutexGuard<'a, ClientState<S>>,
    ) -> Result<MutexGuard<'a, ClientState<S>>, S::Error> {
        self.wait_at_most(state, INTERRUPT)
    }

    /// As [`Self::wait`], at most until a time of the monotonic clock, in ns.
    pub(super) fn wait_until<'a>(
        &self,
        state: MutexGuard<'a, ClientState<S>>,
        until_ns: u64,
    ) -> Result<MutexGuard<'a, ClientState<S>>, S::Error> {
        let left_ns = until_ns.saturating_sub(chronoscope_clock::monotonic_ns());
        self.wait_at_most(state, INTERRUPT.min(Duration::from_nanos(left_ns)))
    }

    fn wait_at_most<'a>(
        &self,
        state: MutexGuard<'a, ClientState<S>>,
        at_most: Duration,
    ) -> Result<MutexGuard<'a, ClientState<S>>, S::Error> {
        if self.interrupt.load(Ordering::Acquire) {
            return Err(S::interrupted());
        }
        Ok(self.shared.wait(state, at_most))
    }

    /// Sends an operation and waits for its return. One at a time.
    pub(super) fn call(
        &self,
        make: impl FnOnce(&mut ClientState<S>) -> Result<S::Pdu, S::Error>,
    ) -> Result<S::CallReturn, S::Error> {
        let _one = lock(&self.calling);
        let order = self.order();
        let mut state = self.shared.lock();
        let pdu = make(&mut state)?;
        state.answer = None;
        let transaction = if state.records { S::transaction(&pdu) } else { None };
        let octets = state.service.hand(&pdu);
        drop(state);
        self.hand(pdu, octets)?;
        drop(order);
        let mut state = self.shared.lock();
        loop {
            if let Some(answer) = state.answer.take() {
                drop(state);
                if let Some(transaction) = transaction {
                    transaction.stop(recording::status(S::is_positive(&answer)));
                }
                return Ok(answer);
            }
            if state.is_ended() {
                return Err(state.over());
            }
            // Not to be interrupted: its return would be taken for another's. The return timer
            // ends it.
            state = self.shared.wait(state, INTERRUPT);
        }
    }
}

fn lock(mutex: &Mutex<()>) -> MutexGuard<'_, ()> {
    // It guards an order, no data.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
