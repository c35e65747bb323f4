//! Echo over UDP, in a thread that does nothing else, because its time is part of the measurement.

use super::counts::{ServerState, count};
use crate::probe::echo;
use std::io::{self, ErrorKind};
use std::net::UdpSocket;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Longest delay of a stop.
const STOP_EVERY: Duration = Duration::from_millis(100);
/// Pause before the next try when the network is down.
const RETRY_AFTER: Duration = Duration::from_millis(10);

/// Begins to answer.
pub(super) fn serve(socket: UdpSocket, shared: Arc<ServerState>) -> io::Result<JoinHandle<()>> {
    socket.set_nonblocking(false)?;
    socket.set_read_timeout(Some(STOP_EVERY))?;
    thread::Builder::new().name("answer udp".into()).spawn(move || run(&socket, &shared))
}

fn run(socket: &UdpSocket, shared: &ServerState) {
    let mut buffer = vec![0; 65_536];
    while !shared.is_stopped() {
        let (len, from) = match socket.recv_from(&mut buffer) {
            Ok(came) => came,
            Err(error) => {
                match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    // Host's report that a client is gone: it does not concern other clients.
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
