//! One thread that drives one connection.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use socket2::Socket;

use super::local::{LocalItem, LocalReader, say_last};
use super::protocol::ConnectionProtocol;
use super::sender::{SharedSender, count};
use super::slot::ConnectionSlot;
use super::urgent::at_mark;
use super::wait::{SocketInterest, Waker, wait};
use super::{CommandSender, SocketOptions};
use crate::time::Now;
use crate::tml::{TmlFault, message_bytes};

/// Limits of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverLimits {
    /// Senders wait while so many octets are not yet with the kernel; at twice as many, nothing
    /// more is read.
    pub waiting_bytes_max: usize,
    /// Octets that one call reads, and the thread keeps room for.
    pub read_bytes: usize,
    /// A peer that takes no octet for so long, while some wait, is cut; in nanoseconds.
    pub stall_ns: u64,
    /// Time for what is unsent and for the peer's end, once this side closes; in nanoseconds.
    pub close_ns: u64,
    /// Each message of ISP1 goes to the kernel in a write of its own, instead of all that piled up
    /// in one. It costs a system call each.
    pub write_each: bool,
}

impl Default for DriverLimits {
    fn default() -> Self {
        Self {
            waiting_bytes_max: 4 << 20,
            read_bytes: 128 << 10,
            stall_ns: 60_000_000_000,
            close_ns: 5_000_000_000,
            write_each: false,
        }
    }
}

/// A connection that is driven. Dropping this leaves it running.
pub struct Driver<P: ConnectionProtocol> {
    sender: CommandSender<P::Command>,
    thread: JoinHandle<EndedConnection<P>>,
}

/// The rest of an ended connection.
pub struct EndedConnection<P: ConnectionProtocol> {
    /// The protocol, told that it is closed.
    pub protocol: P,
    /// Commands that it never saw, in their order: those behind the one that ended it, too.
    pub commands: Vec<P::Command>,
}

impl<P: ConnectionProtocol> Driver<P> {
    /// Starts the thread, named `name`, for a connected socket of [`connect`](super::connect).
    /// `protocol` is told who sends to it, before it starts.
    ///
    /// # Errors
    /// No thread or no descriptor is to be had.
    pub fn spawn(
        name: &str,
        socket: Socket,
        options: &SocketOptions,
        limits: DriverLimits,
        protocol: impl FnOnce(&CommandSender<P::Command>) -> P,
    ) -> io::Result<Self> {
        Self::spawn_in(None, name, socket, options, limits, protocol)
    }

    /// As `spawn`; the listener's slot is free when the thread ends.
    pub(super) fn spawn_in(
        slot: Option<ConnectionSlot>,
        name: &str,
        socket: Socket,
        options: &SocketOptions,
        limits: DriverLimits,
        protocol: impl FnOnce(&CommandSender<P::Command>) -> P,
    ) -> io::Result<Self> {
        let shared = Arc::new(SharedSender::new(Waker::new()?, limits.waiting_bytes_max));
        let sender = CommandSender::new(Arc::clone(&shared));
        let now = Now::read();
        let connection = Connection {
            protocol: protocol(&sender),
            local: LocalReader::of(&socket),
            socket,
            options: options.clone(),
            limits,
            shared,
            commands: VecDeque::new(),
            first: VecDeque::new(),
            done_bytes: 0,
            pending: Vec::new(),
            sent: 0,
            message_end: 0,
            progress_ns: now.monotonic_ns,
            buffer: vec![0; limits.read_bytes.max(1)],
        };
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
            let ended = connection.run();
            drop(slot);
            ended
        })?;
        Ok(Self { sender, thread })
    }

    /// The way in for other threads.
    #[must_use]
    pub fn sender(&self) -> &CommandSender<P::Command> {
        &self.sender
    }

    /// Whether the thread ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits for the end of the connection.
    ///
    /// # Panics
    /// As the protocol did.
    pub fn join(self) -> EndedConnection<P> {
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Why the thread has nothing more to do.
enum End {
    /// The peer ended the stream, or it broke.
    Closed(Option<TmlFault>),
    /// This side ends it: an urgent octet, if any.
    Close(Option<u8>),
    /// This side breaks it.
    Reset(Option<TmlFault>),
}

/// Result of a read.
enum Got {
    Octets,
    Nothing,
}

/// Marks the commands as ended when the thread ends, also by a panic, so that no other thread waits
/// for it.
struct EndOfCommands<C>(Arc<SharedSender<C>>);

impl<C> Drop for EndOfCommands<C> {
    fn drop(&mut self) {
        self.0.end();
        self.0.finish();
    }
}

struct Connection<P: ConnectionProtocol> {
    protocol: P,
    socket: Socket,
    /// Of a local link, which has its aborts and its end in the stream.
    local: Option<LocalReader>,
    options: SocketOptions,
    limits: DriverLimits,
    shared: Arc<SharedSender<P::Command>>,
    /// Taken, not executed; with the octets that each was said to be.
    commands: VecDeque<(P::Command, usize)>,
    /// Taken, not executed, and ahead of the others.
    first: VecDeque<P::Command>,
    /// Octets of those that were executed since `shared` was last told.
    done_bytes: usize,
    /// Octets on their way to the kernel, of which the first `sent` are there.
    pending: Vec<u8>,
    sent: usize,
    /// End in `pending` of the message that is partly sent; used if each message has its own write.
    message_end: usize,
    /// When the kernel last took some, or nothing was there to take; monotonic, nanoseconds.
    progress_ns: u64,
    buffer: Vec<u8>,
}

impl<P: ConnectionProtocol> Connection<P> {
    fn run(mut self) -> EndedConnection<P> {
        let _guard = EndOfCommands(Arc::clone(&self.shared));
        let end = loop {
            if let Err(end) = self.turn() {
                break end;
            }
        };
        let (first, queue) = self.shared.end();
        let fault = match end {
            End::Closed(fault) => fault,
            End::Close(urgent) => {
                self.close(urgent);
                None
            }
            End::Reset(fault) => {
                // What is still there goes with it. It cannot fail on an open socket; if it did,
                // the end would be an ordinary one.
                let _ = self.socket.set_linger(Some(Duration::ZERO));
                fault
            }
        };
        self.protocol.closed(fault, Now::read());
        let queued = self.commands.into_iter().chain(queue).map(|(command, _)| command);
        let commands = self.first.into_iter().chain(first).chain(queued).collect();
        EndedConnection { protocol: self.protocol, commands }
    }

    /// Does all that there is to do, then waits for more and reads it.
    fn turn(&mut self) -> Result<(), End> {
        let unsent = self.unsent();
        let done = std::mem::take(&mut self.done_bytes);
        if self.shared.take(&mut self.commands, &mut self.first, done, unsent) {
            return Err(End::Reset(Some(connection("broken by this side"))));
        }
        self.execute();
        let now = Now::read();
        if self.protocol.due().is_some_and(|due_ns| due_ns <= now.monotonic_ns) {
            self.protocol.tick(now);
        }
        self.flush(now.monotonic_ns)?;
        self.ends(now.monotonic_ns)?;

        let unsent = self.unsent();
        let done = std::mem::take(&mut self.done_bytes);
        let quiet = self.shared.sleep(done, unsent) && self.commands.is_empty();
        let until_ns = if quiet || unsent > self.limits.waiting_bytes_max {
            let stalled =
                (unsent > 0).then(|| self.progress_ns.saturating_add(self.limits.stall_ns));
            [self.protocol.due(), stalled].into_iter().flatten().min()
        } else {
            Some(0)
        };
        let interest = SocketInterest {
            read: self.protocol.reads()
                && unsent <= self.limits.waiting_bytes_max.saturating_mul(2),
            write: unsent > 0,
        };
        count(&self.shared.counting.waits, 1);
        let ready = wait(&self.socket, &self.shared.waker, interest, now.monotonic_ns, until_ns)
            .map_err(|error| End::Reset(Some(connection(error))))?;
        if ready.urgent {
            self.read_to_mark()
        } else if ready.readable {
            self.read().map(|_| ())
        } else {
            Ok(())
        }
    }

    /// Octets of output that the kernel has not taken.
    fn unsent(&mut self) -> usize {
        self.pending.len() - self.sent + self.protocol.output().octets.len()
    }

    /// Executes commands until there is enough to send, or the protocol wants an end.
    fn execute(&mut self) {
        if self.commands.is_empty() && self.first.is_empty() {
            return;
        }
        let now = Now::read();
        while let Some(command) = self.first.pop_front() {
            self.protocol.command(command, now);
        }
        while self.unsent() <= self.limits.waiting_bytes_max && !self.protocol.output().ends() {
            let Some((command, bytes)) = self.commands.pop_front() else { return };
            self.protocol.command(command, now);
            self.done_bytes += bytes;
        }
    }

    /// Writes what the kernel takes.
    fn flush(&mut self, now_ns: u64) -> Result<(), End> {
        loop {
            if self.sent == self.pending.len() {
                self.pending.clear();
                self.sent = 0;
                self.message_end = 0;
                std::mem::swap(&mut self.pending, &mut self.protocol.output().octets);
                if self.pending.is_empty() {
                    self.progress_ns = now_ns;
                    return Ok(());
                }
            }
            let end = if self.limits.write_each { self.message_end() } else { self.pending.len() };
            match (&self.socket).write(&self.pending[self.sent..end]) {
                Ok(written) => {
                    count(&self.shared.counting.writes, 1);
                    count(&self.shared.counting.written_bytes, written as u64);
                    self.sent += written;
                    self.progress_ns = now_ns;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(self.broken(&error)),
            }
        }
    }

    /// End in `pending` of the message that is being written.
    fn message_end(&mut self) -> usize {
        if self.sent == self.message_end {
            let message = message_bytes(&self.pending[self.sent..]);
            self.message_end = self.pending.len().min(self.sent.saturating_add(message));
        }
        self.message_end
    }

    /// Whether the protocol, or the peer's silence, ends the connection.
    fn ends(&mut self, now_ns: u64) -> Result<(), End> {
        let output = self.protocol.output();
        if output.reset {
            return Err(End::Reset(None));
        }
        if output.ends() {
            return Err(End::Close(output.urgent));
        }
        let stalled_ns = now_ns.saturating_sub(self.progress_ns);
        if stalled_ns >= self.limits.stall_ns && self.unsent() > 0 {
            let seconds = stalled_ns / 1_000_000_000;
            let reason =
                format!("the peer accepted no octet for {seconds} s while octets were waiting");
            return Err(End::Reset(Some(connection(reason))));
        }
        Ok(())
    }

    /// Reads once, and gives it to the protocol.
    fn read(&mut self) -> Result<Got, End> {
        match self.read_into_buffer(usize::MAX)? {
            0 => Ok(Got::Nothing),
            bytes => {
                self.take(bytes);
                Ok(Got::Octets)
            }
        }
    }

    /// Gives the protocol what was read.
    fn take(&mut self, bytes: usize) {
        let (octets, now) = (&self.buffer[..bytes], Now::read());
        let Some(local) = &mut self.local else { return self.protocol.receive(octets, now) };
        let protocol = &mut self.protocol;
        local.read(octets, |item| match item {
            LocalItem::Octets(octets) => protocol.receive(octets, now),
            LocalItem::Abort(diagnostic) => protocol.urgent(diagnostic, now),
        });
    }

    /// Throws away what is in front of the urgent octet, and gives that to the protocol. More of it
    /// may have to come: then later.
    fn read_to_mark(&mut self) -> Result<(), End> {
        if at_mark(&self.socket).map_err(|error| End::Reset(Some(connection(error))))? {
            if self.read_into_buffer(1)? == 1 {
                self.protocol.urgent(self.buffer[0], Now::read());
            }
        } else {
            self.read_into_buffer(usize::MAX)?;
        }
        Ok(())
    }

    /// Reads up to `max` octets and never beyond an urgent octet's mark, unless it starts there. 0:
    /// there is nothing now.
    fn read_into_buffer(&mut self, max: usize) -> Result<usize, End> {
        let max = max.min(self.buffer.len());
        let read = (&self.socket).read(&mut self.buffer[..max]);
        count(&self.shared.counting.reads, 1);
        match read {
            Ok(0) => Err(End::Closed(self.end_of_stream())),
            Ok(bytes) => {
                count(&self.shared.counting.read_bytes, bytes as u64);
                if self.local.is_none() {
                    self.options
                        .rearm(&self.socket)
                        .map_err(|error| End::Reset(Some(connection(error))))?;
                }
                Ok(bytes)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            Err(_) if self.announced() => Err(End::Closed(Some(TmlFault::PrematureDisconnect))),
            Err(error) => Err(End::Closed(Some(connection(error)))),
        }
    }

    /// Fault of a stream that has ended, if it is one.
    fn end_of_stream(&self) -> Option<TmlFault> {
        match &self.local {
            None => self.announced().then_some(TmlFault::PrematureDisconnect),
            Some(local) if local.is_released() => None,
            Some(_) => Some(connection("the process at the other end of the local link ended")),
        }
    }

    /// Whether an urgent octet was announced and has not come.
    fn announced(&self) -> bool {
        self.local.is_none() && at_mark(&self.socket).unwrap_or(false)
    }

    /// The connection cannot be written any more: takes what the peer had still said, which may be
    /// its PEER-ABORT.
    fn broken(&mut self, error: &io::Error) -> End {
        self.pending.clear();
        self.sent = 0;
        loop {
            let read = match self.announced() {
                true => self.read_to_mark().map(|()| Got::Nothing),
                false => self.read(),
            };
            match read {
                Ok(Got::Octets) => {}
                Ok(Got::Nothing) | Err(End::Closed(None)) => {
                    return End::Closed(Some(connection(error)));
                }
                Err(end) => return end,
            }
        }
    }

    /// Says what is unsent, then the urgent octet, then the end of the stream, and waits for the
    /// peer's; all of it for a bounded time.
    fn close(&mut self, urgent: Option<u8>) {
        let mut now_ns = Now::read().monotonic_ns;
        let until_ns = now_ns.saturating_add(self.limits.close_ns);
        let mut urgent = urgent;
        if self.local.is_some() {
            say_last(urgent.take(), &mut self.protocol.output().octets);
        }
        let mut shut = false;
        while now_ns < until_ns && !self.shared.wants_reset() {
            if !shut {
                if self.flush(now_ns).is_err() {
                    return;
                }
                if self.unsent() == 0 {
                    match urgent.map(|octet| self.socket.send_out_of_band(&[octet])) {
                        Some(Ok(_)) => urgent = None,
                        None => {
                            shut = true;
                            if self.socket.shutdown(Shutdown::Write).is_err() {
                                return;
                            }
                        }
                        Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
                        Some(Err(_)) => return,
                    }
                    if !shut && urgent.is_none() {
                        continue;
                    }
                }
            }
            let interest = SocketInterest { read: true, write: !shut };
            let waited = wait(&self.socket, &self.shared.waker, interest, now_ns, Some(until_ns));
            match waited {
                // The peer's octets and its urgent one come too late to matter.
                Ok(ready) if ready.readable || ready.urgent => {
                    if self.read_into_buffer(usize::MAX).is_err() {
                        return;
                    }
                }
                Ok(_) => {}
                Err(_) => return,
            }
            now_ns = Now::read().monotonic_ns;
        }
        // Too late: what is left is dropped, and the peer sees that it is.
        let _ = self.socket.set_linger(Some(Duration::ZERO));
    }
}

fn connection(reason: impl ToString) -> TmlFault {
    TmlFault::Connection { reason: reason.to_string() }
}
