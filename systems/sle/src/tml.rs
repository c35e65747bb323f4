//! The transport mapping layer (TML) of ISP1: PDUs in messages over a stream of octets, a context
//! message at its beginning, heartbeats where nothing else is sent. Source: CCSDS 913.1.
//!
//! ```text
//! message    type (1 PDU, 2 context, 3 heartbeat), 3 octets 0, length of what follows (32 bits), it
//! context    'I' 'S' 'P' '1', 3 octets 0, version 1, heartbeat interval (s, 16 bits), dead factor (16)
//! ```
//!
//! Who connects is the *initiator* and sends the context message, once, first and unanswered; the
//! *responder* takes the heartbeat that it proposes or aborts. Whoever has sent nothing for the
//! interval sends a heartbeat; who receives no message for interval × dead factor takes its peer for
//! dead. The responder gives the initiator a time until its first PDU (the context message alone
//! does not count), and counts silence from there.
//!
//! Octets and instants in, PDUs and octets out: no socket here, nothing that waits. A PDU is a slice
//! of what was received with it, so that one that is kept keeps its neighbours (at most what one
//! [`Tml::receive`] took, or its own length): who keeps small ones for long copies them.
//!
//! Limits: the three octets after the type must be 0, as the book says and its implementations
//! send; some of them do not look, we do, because it finds a stream that is out of step.

mod fault;
mod heartbeat;
mod message;
mod output;
#[cfg(test)]
mod tests;

use bytes::{Bytes, BytesMut};

use crate::time::Now;

pub use fault::{FrameError, TmlFault};
pub use heartbeat::{Heartbeat, HeartbeatLimits};
pub use output::TransportOutput;

pub(crate) use message::{
    CONTEXT_BODY_BYTES, ContextMessage, HEADER_BYTES, MessageHeader, MessageKind,
};

/// Longest PDU that is taken unless one says otherwise: a transfer buffer of 100 frames of 64 KiB,
/// far above what the services allow.
pub const PDU_BYTES_MAX: u32 = 8 << 20;

/// Where a connection is.
#[derive(Debug)]
enum TmlState {
    /// Initiator: the context message is to be sent.
    Unannounced,
    /// Responder: the context message is to come.
    Starting { limits: HeartbeatLimits, until_ns: u64 },
    /// Responder: the first PDU is to come.
    Announced { until_ns: u64 },
    /// PDUs and heartbeats, both ways.
    Transfer,
    /// A fault was told.
    Faulty,
}

/// Length of the message at the beginning of what a [`Tml`] has written, header and all; where there
/// is less than a header, of what there is.
pub(crate) fn message_bytes(written: &[u8]) -> usize {
    match written.first_chunk::<HEADER_BYTES>() {
        Some([.., a, b, c, d]) => HEADER_BYTES + u32::from_be_bytes([*a, *b, *c, *d]) as usize,
        None => written.len(),
    }
}

/// One side of one connection.
#[derive(Debug)]
pub struct Tml {
    state: TmlState,
    heartbeat: Heartbeat,
    pdu_bytes_max: u32,
    received: BytesMut,
    /// Octets of the stream before `received`.
    position: u64,
    /// Whether an earlier look found no whole message in `received`.
    starved: bool,
    /// Monotonic clock at the last `receive`, in nanoseconds.
    received_ns: u64,
    /// Monotonic clock when the last message was complete.
    heard_ns: u64,
    /// Monotonic clock when the last message was sent.
    sent_ns: u64,
}

impl Tml {
    /// The initiator of a connection. It sends the context message with the first PDU or the first
    /// [`tick`](Self::tick), which is due at once. PDUs longer than `pdu_bytes_max` are refused.
    #[must_use]
    pub fn initiator(heartbeat: Heartbeat, pdu_bytes_max: u32, now: Now) -> Self {
        Self::new(TmlState::Unannounced, heartbeat, pdu_bytes_max, now)
    }

    /// The responder of a connection.
    #[must_use]
    pub fn responder(limits: HeartbeatLimits, pdu_bytes_max: u32, now: Now) -> Self {
        let until_ns = now.monotonic_ns.saturating_add(limits.establishment_ns);
        Self::new(TmlState::Starting { limits, until_ns }, Heartbeat::NONE, pdu_bytes_max, now)
    }

    fn new(state: TmlState, heartbeat: Heartbeat, pdu_bytes_max: u32, now: Now) -> Self {
        let ns = now.monotonic_ns;
        Self {
            state,
            heartbeat,
            pdu_bytes_max,
            received: BytesMut::new(),
            position: 0,
            starved: false,
            received_ns: ns,
            heard_ns: ns,
            sent_ns: ns,
        }
    }

    /// Takes longer or shorter PDUs from now on, beginning with the next.
    pub fn set_pdu_bytes_max(&mut self, octets: u32) {
        self.pdu_bytes_max = octets;
    }

    /// Takes what came. [`next`](Self::next) is to be called until it has no more before the next
    /// octets are taken: what it leaves behind is less than one message.
    pub fn receive(&mut self, octets: &[u8], now: Now) {
        if !matches!(self.state, TmlState::Faulty) {
            self.received.extend_from_slice(octets);
            self.received_ns = now.monotonic_ns;
            self.starved = false;
        }
    }

    /// The next PDU, or the fault after which there is nothing more; `None`: octets are missing.
    #[allow(clippy::should_implement_trait)] // an iterator would end at the first `None`
    pub fn next(&mut self) -> Option<Result<Bytes, TmlFault>> {
        match self.message() {
            Ok(pdu) => pdu.map(Ok),
            Err(fault) => {
                self.state = TmlState::Faulty;
                self.received = BytesMut::new();
                Some(Err(fault))
            }
        }
    }

    /// Appends one PDU, which `pdu` writes behind the header.
    ///
    /// # Errors
    /// What `pdu` says, or that it wrote more than a header can say; nothing is appended then.
    pub fn frame<E>(
        &mut self,
        now: Now,
        out: &mut Vec<u8>,
        pdu: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), FrameError<E>> {
        self.announce(now, out);
        let start = out.len();
        out.extend_from_slice(&MessageHeader { kind: MessageKind::Pdu, length: 0 }.to_octets());
        let written = pdu(out).map_err(FrameError::Pdu).and_then(|()| {
            let length = out.len().saturating_sub(start + HEADER_BYTES);
            u32::try_from(length).map_err(|_| FrameError::TooLong { length })
        });
        match written {
            Ok(length) => {
                out[start + 4..start + HEADER_BYTES].copy_from_slice(&length.to_be_bytes());
                self.sent_ns = now.monotonic_ns;
                Ok(())
            }
            Err(error) => {
                // The context message stays: it was due anyhow, and is sent once.
                out.truncate(start);
                Err(error)
            }
        }
    }

    /// When [`tick`](Self::tick) has something to do, on the monotonic clock, in nanoseconds.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        match self.state {
            TmlState::Unannounced => Some(0),
            TmlState::Starting { until_ns, .. } => Some(until_ns),
            TmlState::Announced { until_ns } => {
                Some(self.beat_ns().map_or(until_ns, |beat_ns| beat_ns.min(until_ns)))
            }
            TmlState::Transfer => {
                Some(self.beat_ns()?.min(self.heard_ns.saturating_add(self.heartbeat.dead_ns()?)))
            }
            TmlState::Faulty => None,
        }
    }

    /// Does what is due: the context message, a heartbeat.
    ///
    /// # Errors
    /// Nobody has listened until now: the peer's silence counts from here.
    pub fn not_listening(&mut self, now: Now) {
        self.heard_ns = self.heard_ns.max(now.monotonic_ns);
    }

    /// The peer took too long with its first PDU, or is dead. There is nothing more then.
    pub fn tick(&mut self, now: Now, out: &mut Vec<u8>) -> Result<(), TmlFault> {
        self.announce(now, out);
        let ns = now.monotonic_ns;
        let fault = match self.state {
            TmlState::Faulty => return Ok(()),
            TmlState::Starting { until_ns, .. } | TmlState::Announced { until_ns }
                if ns >= until_ns =>
            {
                Some(TmlFault::EstablishmentTimeout)
            }
            TmlState::Transfer => self.heartbeat.dead_ns().and_then(|dead_ns| {
                let silent_ns = ns.saturating_sub(self.heard_ns);
                (silent_ns >= dead_ns).then_some(TmlFault::PeerDead { silent_ns })
            }),
            _ => None,
        };
        if let Some(fault) = fault {
            self.state = TmlState::Faulty;
            self.received = BytesMut::new();
            return Err(fault);
        }
        if self.beat_ns().is_some_and(|beat_ns| ns >= beat_ns) {
            out.extend_from_slice(
                &MessageHeader { kind: MessageKind::Heartbeat, length: 0 }.to_octets(),
            );
            self.sent_ns = ns;
        }
        Ok(())
    }

    /// Says that the stream ended or broke: what that means here, to be told above.
    #[must_use]
    pub fn disconnected(&mut self) -> TmlFault {
        self.state = TmlState::Faulty;
        let missing_bytes = self.received.len();
        self.received = BytesMut::new();
        TmlFault::UnexpectedDisconnect { position: self.position, left_bytes: missing_bytes }
    }

    /// The heartbeat in use; none before the context message.
    #[must_use]
    pub fn heartbeat(&self) -> Heartbeat {
        self.heartbeat
    }

    /// Whether the context message was sent or taken, and no fault since.
    #[must_use]
    pub fn established(&self) -> bool {
        matches!(self.state, TmlState::Announced { .. } | TmlState::Transfer)
    }

    /// When the next heartbeat is to be sent; the responder sends none before the context message.
    fn beat_ns(&self) -> Option<u64> {
        if matches!(self.state, TmlState::Starting { .. } | TmlState::Faulty) {
            return None;
        }
        Some(self.sent_ns.saturating_add(self.heartbeat.interval_ns()?))
    }

    /// Sends the context message where it was not.
    fn announce(&mut self, now: Now, out: &mut Vec<u8>) {
        if matches!(self.state, TmlState::Unannounced) {
            out.extend_from_slice(&ContextMessage { heartbeat: self.heartbeat }.to_octets());
            self.state = TmlState::Transfer;
            self.sent_ns = now.monotonic_ns;
        }
    }

    /// The next PDU behind any heartbeats and the context message.
    fn message(&mut self) -> Result<Option<Bytes>, TmlFault> {
        while !self.starved {
            let Some(octets) = self.received.first_chunk::<HEADER_BYTES>() else { break };
            let header = MessageHeader::parse(octets).map_err(|word| match self.state {
                TmlState::Starting { .. } => TmlFault::NoContext,
                _ => TmlFault::BadType { word, position: self.position },
            })?;
            self.check(header)?;
            // Only on machines of 16 bits could it be too much; `check` bounds it.
            let end = HEADER_BYTES + usize::try_from(header.length).unwrap_or(usize::MAX / 2);
            if self.received.len() < end {
                break;
            }
            let message = self.received.split_to(end);
            let position = self.position;
            self.position += end as u64;
            self.heard_ns = self.received_ns;
            match header.kind {
                MessageKind::Heartbeat => {}
                MessageKind::Context => self.context(&message[HEADER_BYTES..], position)?,
                MessageKind::Pdu => {
                    // An initiator whose peer speaks first has still to send its context message.
                    if matches!(self.state, TmlState::Announced { .. }) {
                        self.state = TmlState::Transfer;
                    }
                    return Ok(Some(message.freeze().split_off(HEADER_BYTES)));
                }
            }
        }
        self.starved = true;
        Ok(None)
    }

    /// Whether a header may stand here, before what it announces has come.
    fn check(&self, header: MessageHeader) -> Result<(), TmlFault> {
        let MessageHeader { kind, length } = header;
        let position = self.position;
        match (&self.state, kind) {
            (TmlState::Starting { .. }, MessageKind::Context) if length == CONTEXT_BODY_BYTES => {
                Ok(())
            }
            (TmlState::Starting { .. }, MessageKind::Context) => {
                Err(TmlFault::BadContext { position })
            }
            (TmlState::Starting { .. }, _) => Err(TmlFault::NoContext),
            (_, MessageKind::Context) => Err(TmlFault::UnexpectedContext { position }),
            (_, MessageKind::Heartbeat) if length > 0 => {
                Err(TmlFault::LongHeartbeat { length, position })
            }
            (_, MessageKind::Pdu) if length == 0 => Err(TmlFault::EmptyPdu { position }),
            (_, MessageKind::Pdu) if length > self.pdu_bytes_max => {
                Err(TmlFault::TooLong { length, max: self.pdu_bytes_max, position })
            }
            _ => Ok(()),
        }
    }

    /// Takes the context message.
    fn context(&mut self, body: &[u8], position: u64) -> Result<(), TmlFault> {
        let TmlState::Starting { limits, until_ns } = &self.state else {
            return Err(TmlFault::UnexpectedContext { position });
        };
        let ContextMessage { heartbeat } =
            ContextMessage::parse(body).ok_or(TmlFault::BadContext { position })?;
        if !limits.allow(heartbeat) {
            return Err(TmlFault::HeartbeatRefused {
                interval_s: heartbeat.interval_s,
                dead_factor: heartbeat.dead_factor,
            });
        }
        self.heartbeat = heartbeat;
        self.sent_ns = self.received_ns;
        self.state = TmlState::Announced { until_ns: *until_ns };
        Ok(())
    }
}
