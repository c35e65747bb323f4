//! Interface of a connection's driver to a protocol.

use crate::time::Now;
use crate::tml::{TmlFault, TransportOutput};

/// One side of a connection's protocol, without sockets and clocks.
///
/// All calls come from the driver's thread. After each of them, [`output`](Self::output) is looked
/// at; after [`closed`](Self::closed) only for the sake of whoever else looks.
pub trait ConnectionProtocol: Send + 'static {
    /// Command of another thread, by [`CommandSender::send`](super::CommandSender::send).
    type Command: Send + 'static;

    /// Octets of the stream.
    fn receive(&mut self, octets: &[u8], now: Now);
    /// The urgent octet: PEER-ABORT.
    fn urgent(&mut self, octet: u8, now: Now);
    /// The stream ended (`None`) or broke. Nothing follows, not even where this side closed first.
    fn closed(&mut self, fault: Option<TmlFault>, now: Now);
    /// Another thread's wish.
    fn command(&mut self, command: Self::Command, now: Now);
    /// When [`tick`](Self::tick) is due, on the monotonic clock, in nanoseconds.
    fn due(&self) -> Option<u64>;
    /// Does what is due.
    fn tick(&mut self, now: Now);
    /// Whether octets are wanted. While they are not, nothing is read, so that the peer has to wait;
    /// its abort is still heard.
    fn reads(&self) -> bool {
        true
    }
    /// Octets and actions for the connection.
    fn output(&mut self) -> &mut TransportOutput;
}
