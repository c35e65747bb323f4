//! Echo over UDP, in a thread of its own that does nothing else: its time is what is measured.

use super::counts::{Shared, count};
use crate::probe::echo;
use std::io::{self, ErrorKind};
use std::net::UdpSocket;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long a stop waits at most.
const STOP_EVERY: Duration = Duration::from_millis(100);
/// A network that is down is asked again after this.
const RETRY_AFTER: Duration = Duration::from_millis(10);

/// Begins to answer.
pub(super) fn serve(socket: UdpSocket, shared: Arc<Shared>) -> io::Result<JoinHandle<()>> {
    socket.set_nonblocking(false)?;
    socket.set_read_timeout(Some(STOP_EVERY))?;
    thread::Builder::new().name("answer udp".into()).spawn(move || run(&socket, &shared))
}

fn run(socket: &UdpSocket, shared: &Shared) {
    let mut buffer = vec![0; 65_536];
    while !shared.is_stopped() {
        let (len, from) = match socket.recv_from(&mut buffer) {
            Ok(came) => came,
            Err(error) => {
                match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    // A client that is gone: said by its host, and of no concern to others.
                    _ => chronoscope_clock::sleep(RETRY_AFTER),
                }
                continue;
            }
        };
        let datagram = &mut buffer[..len];
        if echo::reply(datagram) {
            shared.asked();
            match socket.send_to(datagram, from) {
                Ok(_) => count(&shared.datagrams),
                Err(_) => count(&shared.refused_datagrams),
            }
        } else {
            count(&shared.refused_datagrams);
        }
    }
}
