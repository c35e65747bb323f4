//! One of the two connections of a session.

use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::time::Duration;

use bytes::Bytes;
use socket2::Socket;

use crate::net::{LocalItem, LocalReader, at_mark, say_last};
use crate::time::Now;
use crate::tml::{Tml, TmlFault, message_bytes};

/// How far the sending half of a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sending {
    /// PDUs are passed on.
    Open,
    /// What waits is to be sent, then this urgent octet, then the end.
    Ending(Option<u8>),
    /// The end was sent.
    Shut,
}

/// What a read brought, in its order.
#[derive(Debug, Default)]
pub(super) struct Input {
    /// PDUs to be passed on.
    pub(super) pdus: Vec<Bytes>,
    /// What ended the connection, if anything did.
    pub(super) end: Option<InputEnd>,
}

/// Why a connection brings nothing more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InputEnd {
    /// The peer aborted, with this diagnostic.
    Aborted(u8),
    /// The peer closed: in order, or (TCP) as the kernel does for a process that died.
    Closed,
    /// The transport is at fault.
    Faulty(TmlFault),
}

/// A connection with its TML.
pub(super) struct Side {
    socket: Socket,
    local: Option<LocalReader>,
    /// `None` as long as the heartbeat is not known that it is to propose.
    pub(super) tml: Option<Tml>,
    /// Messages for the kernel, of which the first `sent` octets are there.
    pending: Vec<u8>,
    sent: usize,
    /// Messages behind those.
    queued: Vec<u8>,
    /// When the kernel last took some, or, before the end, nothing was there to take; monotonic,
    /// nanoseconds.
    pub(super) progress_ns: u64,
    sending: Sending,
    /// Nothing more is read from it that counts.
    is_deaf: bool,
    /// Its stream has ended.
    has_ended: bool,
    /// System calls that transferred octets.
    pub(super) calls: u64,
}

impl Side {
    pub(super) fn new(socket: Socket, tml: Option<Tml>, now: Now) -> Self {
        Self {
            local: LocalReader::of(&socket),
            socket,
            tml,
            pending: Vec::new(),
            sent: 0,
            queued: Vec::new(),
            progress_ns: now.monotonic_ns,
            sending: Sending::Open,
            is_deaf: false,
            has_ended: false,
            calls: 0,
        }
    }

    pub(super) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Octets that the kernel has not taken.
    pub(super) fn unsent(&self) -> usize {
        self.pending.len() - self.sent + self.queued.len()
    }

    /// Whether PDUs are still passed on to it.
    pub(super) fn is_open(&self) -> bool {
        self.sending == Sending::Open
    }

    /// Whether nothing is left to do on it.
    pub(super) fn is_over(&self) -> bool {
        self.sending == Sending::Shut && self.has_ended
    }

    /// Whether its stream may still bring something.
    pub(super) fn is_heard(&self) -> bool {
        !self.has_ended
    }

    /// Whether octets, or the end, wait to be sent.
    pub(super) fn wants_to_write(&self) -> bool {
        self.unsent() > 0 || matches!(self.sending, Sending::Ending(_))
    }

    /// Queues a PDU; it is dropped where nothing more is passed on.
    pub(super) fn put(&mut self, pdu: &Bytes, now: Now) {
        let (Sending::Open, Some(tml)) = (self.sending, &mut self.tml) else { return };
        let written = tml.frame(now, &mut self.queued, |out| {
            out.extend_from_slice(pdu);
            Ok::<_, Infallible>(())
        });
        // It came in a message: its length fits into one.
        debug_assert!(written.is_ok());
    }

    /// Sends what is due: the context message, a heartbeat.
    ///
    /// # Errors
    /// The peer is dead, or took too long with its first PDU.
    pub(super) fn tick(&mut self, now: Now) -> Result<(), TmlFault> {
        match (&mut self.tml, self.is_deaf || self.sending != Sending::Open) {
            (Some(tml), false) => tml.tick(now, &mut self.queued),
            _ => Ok(()),
        }
    }

    /// When [`Self::tick`] has something to do.
    pub(super) fn due(&self) -> Option<u64> {
        let works = !self.is_deaf && self.sending == Sending::Open;
        self.tml.as_ref().filter(|_| works)?.due()
    }

    /// Ends the sending half behind what waits, with the diagnostic of an abort, if it is one.
    pub(super) fn end(&mut self, abort: Option<u8>) {
        match self.sending {
            Sending::Shut | Sending::Ending(Some(_)) => return,
            Sending::Ending(None) if abort.is_none() => return,
            Sending::Open | Sending::Ending(None) => {}
        }
        if self.local.is_some() {
            say_last(abort, &mut self.queued);
            self.sending = Sending::Ending(None);
        } else {
            self.sending = Sending::Ending(abort);
        }
    }

    /// Nothing that comes counts any more: the end is waited for.
    pub(super) fn ignore(&mut self) {
        self.is_deaf = true;
    }

    /// Breaks the connection: what waits is lost.
    pub(super) fn reset(&mut self) {
        // On a local link it has no effect: the missing end says the same.
        let _ = self.socket.set_linger(Some(Duration::ZERO));
        self.pending.clear();
        self.sent = 0;
        self.queued.clear();
        self.sending = Sending::Shut;
        self.has_ended = true;
        self.is_deaf = true;
    }

    /// As [`Self::end`], in front of what waits: a PEER-ABORT overtakes it.
    pub(super) fn abort(&mut self, diagnostic: u8) {
        if self.is_open() {
            self.drop_behind_current();
        }
        self.end(Some(diagnostic));
    }

    /// Drops all messages but the one that is partly sent.
    fn drop_behind_current(&mut self) {
        self.queued.clear();
        let mut end = 0;
        while end < self.sent {
            end += message_bytes(&self.pending[end..]);
        }
        self.pending.truncate(end);
    }

    /// Writes what the kernel takes, and the end behind it.
    ///
    /// # Errors
    /// The connection is broken.
    pub(super) fn flush(&mut self, now_ns: u64) -> io::Result<()> {
        loop {
            if self.sent == self.pending.len() {
                self.pending.clear();
                self.sent = 0;
                std::mem::swap(&mut self.pending, &mut self.queued);
                if self.pending.is_empty() {
                    if self.is_open() {
                        self.progress_ns = now_ns;
                    }
                    return self.say_end();
                }
            }
            self.calls += 1;
            match (&self.socket).write(&self.pending[self.sent..]) {
                Ok(written) => {
                    self.sent += written;
                    self.progress_ns = now_ns;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn say_end(&mut self) -> io::Result<()> {
        let Sending::Ending(urgent) = self.sending else { return Ok(()) };
        if let Some(octet) = urgent {
            match self.socket.send_out_of_band(&[octet]) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        self.sending = Sending::Shut;
        self.socket.shutdown(Shutdown::Write)
    }

    /// Reads once into `buffer`.
    pub(super) fn read(&mut self, is_urgent: bool, buffer: &mut [u8], now: Now) -> Input {
        let mut input = Input::default();
        let urgent = is_urgent && self.local.is_none();
        let is_at_mark = urgent && at_mark(&self.socket).unwrap_or(false);
        let most = if is_at_mark { 1 } else { buffer.len() };
        self.calls += 1;
        match (&self.socket).read(&mut buffer[..most]) {
            Ok(0) => self.ended(&mut input),
            Ok(_) if self.is_deaf => {}
            Ok(_) if is_at_mark => input.end = Some(InputEnd::Aborted(buffer[0])),
            // What is in front of a PEER-ABORT is lost, as the book says.
            Ok(_) if urgent => {}
            Ok(bytes) => self.take(&buffer[..bytes], now, &mut input),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) => {}
            Err(error) => {
                self.has_ended = true;
                let reason = error.to_string();
                input.end = Some(InputEnd::Faulty(TmlFault::Connection { reason }));
            }
        }
        if input.end.is_some() {
            self.is_deaf = true;
        }
        input
    }

    /// The stream has ended.
    fn ended(&mut self, input: &mut Input) {
        self.has_ended = true;
        if self.is_deaf {
            return;
        }
        let died = "the process at its other end ended".to_owned();
        input.end = Some(match &self.local {
            Some(local) if local.is_released() => InputEnd::Closed,
            Some(_) => InputEnd::Faulty(TmlFault::Connection { reason: died }),
            None if at_mark(&self.socket).unwrap_or(false) => {
                InputEnd::Faulty(TmlFault::PrematureDisconnect)
            }
            None => InputEnd::Closed,
        });
    }

    fn take(&mut self, octets: &[u8], now: Now, input: &mut Input) {
        let Some(tml) = &mut self.tml else { return };
        let mut take = |item: LocalItem<'_>| match item {
            _ if input.end.is_some() => {}
            LocalItem::Abort(diagnostic) => input.end = Some(InputEnd::Aborted(diagnostic)),
            LocalItem::Octets(octets) => {
                tml.receive(octets, now);
                while let Some(next) = tml.next() {
                    match next {
                        Ok(pdu) => input.pdus.push(pdu),
                        Err(fault) => {
                            input.end = Some(InputEnd::Faulty(fault));
                            break;
                        }
                    }
                }
            }
        };
        match &mut self.local {
            Some(local) => local.read(octets, take),
            None => take(LocalItem::Octets(octets)),
        }
    }
}
