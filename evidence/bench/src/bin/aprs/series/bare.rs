//! The kernel alone: writes of a size, at a rate, to as many sockets, by a thread that does nothing
//! else, read by another thread as a client would. A server that writes so often cannot be cheaper.

use anyhow::{Context, Result};
use chronoscope_clock as clock;
use mio::{Events, Interest, Poll, Token};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// Writes to make.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(super) struct Writes {
    /// Sockets, each of which is written to in its turn.
    pub(super) sockets: usize,
    /// Octets of a write.
    pub(super) octets: usize,
    /// Writes a second.
    pub(super) per_s: f64,
    /// Writes that are made at once, before the thread sleeps.
    pub(super) burst: usize,
}

/// Cost of them.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(super) struct Bare {
    /// CPU time of a write, microseconds.
    pub(super) write_us: f64,
    /// CPU time of the reading thread, a write, microseconds.
    pub(super) read_us: f64,
    /// Writes a second that were made.
    pub(super) per_s: f64,
}

impl Writes {
    /// Makes them for so many seconds.
    ///
    /// # Errors
    /// When sockets cannot be made, or a write fails.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(super) fn cost(self, seconds: f64) -> Result<Bare> {
        let (mut out, inward) = pairs(self.sockets)?;
        let reader = std::thread::spawn(move || read_all(inward));
        let bytes = vec![b'x'; self.octets.max(1)];
        let pause_ns = self.burst as f64 / self.per_s * 1e9;
        let (started_ns, cpu_ns) = (clock::monotonic_ns(), clock::thread_cpu_ns());
        let end_ns = started_ns + (seconds * 1e9) as u64;
        let (mut made, mut next) = (0_u64, 0);
        while clock::monotonic_ns() < end_ns {
            for _ in 0..self.burst {
                out[next].write_all(&bytes)?;
                next = (next + 1) % out.len();
            }
            made += self.burst as u64;
            let due_ns = started_ns + (made as f64 / self.burst as f64 * pause_ns) as u64;
            let left_ns = due_ns.saturating_sub(clock::monotonic_ns());
            if left_ns > 0 {
                clock::sleep(Duration::from_nanos(left_ns));
            }
        }
        let cpu_ns = clock::thread_cpu_ns() - cpu_ns;
        let passed_s = (clock::monotonic_ns() - started_ns) as f64 / 1e9;
        drop(out);
        let read_ns = reader.join().ok().context("the reading thread ended")??;
        let each_us = |ns: u64| ns as f64 / 1e3 / made.max(1) as f64;
        Ok(Bare {
            write_us: each_us(cpu_ns),
            read_us: each_us(read_ns),
            per_s: made as f64 / passed_s,
        })
    }
}

/// Connections over loopback: the ends that are written to, and the others.
fn pairs(count: usize) -> Result<(Vec<TcpStream>, Vec<TcpStream>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let (mut out, mut inward) = (Vec::new(), Vec::new());
    for _ in 0..count {
        inward.push(TcpStream::connect(address)?);
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        out.push(stream);
    }
    Ok((out, inward))
}

/// Reads until all ends are closed. CPU time that it took, nanoseconds.
fn read_all(streams: Vec<TcpStream>) -> Result<u64> {
    let mut poll = Poll::new()?;
    let mut open = Vec::with_capacity(streams.len());
    for (index, stream) in streams.into_iter().enumerate() {
        stream.set_nonblocking(true)?;
        let mut stream = mio::net::TcpStream::from_std(stream);
        poll.registry().register(&mut stream, Token(index), Interest::READABLE)?;
        open.push(Some(stream));
    }
    let mut left = open.len();
    let mut events = Events::with_capacity(1024);
    let mut buffer = vec![0; 1 << 18];
    let cpu_ns = clock::thread_cpu_ns();
    while left > 0 {
        poll.poll(&mut events, Some(Duration::from_millis(100)))?;
        for event in &events {
            let slot = &mut open[event.token().0];
            while let Some(stream) = slot {
                match stream.read(&mut buffer) {
                    Ok(count) if count > 0 => {}
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Ok(_) | Err(_) => {
                        *slot = None;
                        left -= 1;
                    }
                }
            }
        }
    }
    Ok(clock::thread_cpu_ns() - cpu_ns)
}
