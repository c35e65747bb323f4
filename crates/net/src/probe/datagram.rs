//! A request in one datagram, and the wait for its reply among whatever else comes.

use super::deadline::{Deadline, Loss, ProbeResult, loss_of};
use super::stream::Waits;
use std::io::{self, ErrorKind};
use std::net::UdpSocket;

/// Judgement of a datagram against one request.
pub(crate) enum Verdict {
    /// The reply.
    Reply(ProbeResult),
    /// Late, or somebody else's.
    OfAnother,
    /// From the peer, but invalid; the reply may still come.
    Strange(String),
}

impl Verdict {
    /// The outcome where no further datagram comes.
    pub(crate) fn alone(self) -> ProbeResult {
        match self {
            Self::Reply(result) => result,
            Self::OfAnother => Err(Loss::Late),
            Self::Strange(what) => Err(Loss::Wrong(what)),
        }
    }
}

/// A socket that is connected to a peer, with room for a reply.
#[derive(Debug)]
pub(crate) struct DatagramSocket {
    socket: UdpSocket,
    waits: Waits,
    reply: Vec<u8>,
}

impl DatagramSocket {
    /// With room for a reply of so many octets; the rest of a longer one is cut.
    pub(crate) fn new(socket: UdpSocket, reply_octets_max: usize) -> Self {
        Self { socket, waits: Waits::default(), reply: vec![0; reply_octets_max] }
    }

    /// Sends a request and waits for what `verdict` takes as its reply. Without one the last
    /// strange datagram is the loss.
    ///
    /// # Errors
    /// Error of this host.
    pub(crate) fn probe(
        &mut self,
        request: &[u8],
        deadline: Deadline,
        verdict: impl Fn(&[u8]) -> Verdict,
    ) -> io::Result<ProbeResult> {
        let mut strange = None;
        match self.round_trip(request, deadline, verdict, &mut strange) {
            Ok(result) => Ok(result),
            Err(error) => {
                let loss = loss_of(error)?;
                Ok(Err(strange.filter(|_| loss == Loss::Late).map_or(loss, Loss::Wrong)))
            }
        }
    }

    fn round_trip(
        &mut self,
        request: &[u8],
        deadline: Deadline,
        verdict: impl Fn(&[u8]) -> Verdict,
        strange: &mut Option<String>,
    ) -> io::Result<ProbeResult> {
        self.socket.send(request)?;
        loop {
            if let Some(left) = self.waits.until(deadline)? {
                self.socket.set_read_timeout(Some(left))?;
            }
            match self.socket.recv(&mut self.reply) {
                Ok(octets) => match verdict(&self.reply[..octets]) {
                    Verdict::Reply(result) => return Ok(result),
                    Verdict::OfAnother => {}
                    Verdict::Strange(what) => *strange = Some(what),
                },
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
