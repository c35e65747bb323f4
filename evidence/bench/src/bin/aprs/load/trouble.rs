//! Clients that must not harm the others.

use super::logins::logged_in;
use crate::server::Server;
use anyhow::Result;
use chronoscope_clock as clock;
use mio::net::TcpStream;
use std::io::{ErrorKind, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A client that must not harm the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// No such client.
    None,
    /// Ten clients of the full feed that never read.
    Stuck,
    /// A client that sends the same line over and over, as fast as it can.
    Flood,
    /// Five hundred that connect and never finish their login.
    SlowLogin,
}

/// Keeps a misbehaving client running until dropped.
pub(super) struct Troubled {
    held: Vec<TcpStream>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Troubled {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

/// Starts such clients.
pub(super) fn start(server: &Server, trouble: Trouble) -> Result<Troubled> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut troubled = Troubled { held: Vec::new(), stop, thread: None };
    match trouble {
        Trouble::None => {}
        Trouble::Stuck => {
            for number in 0..10 {
                let login = logged_in(server.port("full")?, &format!("STUCK-{number}"), "")?;
                troubled.held.push(login.stream);
            }
        }
        Trouble::SlowLogin => {
            for _ in 0..500 {
                let mut stream = std::net::TcpStream::connect(server.port("igate")?)?;
                stream.write_all(b"user SL")?;
                troubled.held.push(TcpStream::from_std(stream));
            }
        }
        Trouble::Flood => {
            let login = logged_in(server.port("igate")?, "FLOOD-1", "b/NOBODY")?;
            let stopped = Arc::clone(&troubled.stop);
            troubled.thread = Some(std::thread::spawn(move || flood(login.stream, &stopped)));
        }
    }
    Ok(troubled)
}

/// Sends the same line until stopped or cut.
fn flood(mut stream: TcpStream, stop: &AtomicBool) {
    let lines = b"FLOOD-1>APRS,TCPIP*:>again and again and again and again\r\n".repeat(500);
    let mut at = 0;
    while !stop.load(Ordering::Relaxed) {
        match stream.write(&lines[at..]) {
            Ok(count) => at = (at + count) % lines.len(),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                clock::sleep(Duration::from_micros(200));
            }
            Err(_) => return, // cut: that is one way of dealing with it
        }
    }
}
