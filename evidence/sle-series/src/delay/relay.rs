//! Delay without any privilege: a relay between sockets, with a window of its own.

use chronoscope_clock::{monotonic_ns, sleep_until};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const PIECE: usize = 16 << 10; // octets read at once
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Relays connections to an address; octets are delayed in both directions, and in each no more
/// than a window is on its way or unacknowledged: room comes back one delay after delivery.
#[derive(Debug)]
pub(crate) struct Relay {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Clone, Copy)]
struct Way {
    one_way_ns: u64,
    window: usize,
}

impl Relay {
    /// Relays from a port of its own to `to`. `window` is in octets, at least one.
    ///
    /// # Errors
    /// When it cannot listen.
    pub(crate) fn new(to: SocketAddr, one_way: Duration, window: usize) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let one_way_ns = u64::try_from(one_way.as_nanos()).unwrap_or(u64::MAX);
        let way = Way { one_way_ns, window: window.max(1) };
        let acceptor = thread::Builder::new().name("relay".into()).spawn({
            let stop = Arc::clone(&stop);
            move || accept(&listener, to, way, &stop)
        })?;
        Ok(Self { address, stop, acceptor: Some(acceptor) })
    }

    /// Address of the relay, to connect to.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(acceptor) = self.acceptor.take() {
            // A panic in it was reported by its thread.
            let _ = acceptor.join();
        }
    }
}

fn accept(listener: &TcpListener, to: SocketAddr, way: Way, stop: &AtomicBool) {
    let mut open = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        match listener.accept() {
            // A connection that cannot be made is seen by the one who asked: it is closed.
            Ok((near, _)) => open.extend(connect(near, to, way)),
            Err(_) => chronoscope_clock::sleep(LOOK_EVERY),
        }
    }
    for stream in open {
        // It may be closed already.
        let _ = stream.shutdown(Shutdown::Both);
    }
}

/// Starts both directions; returns both sockets, for the end.
fn connect(near: TcpStream, to: SocketAddr, way: Way) -> Vec<TcpStream> {
    let both = || -> io::Result<Vec<TcpStream>> {
        let far = TcpStream::connect(to)?;
        for stream in [&near, &far] {
            stream.set_nonblocking(false)?;
            stream.set_nodelay(true)?;
        }
        direction(near.try_clone()?, far.try_clone()?, way)?;
        direction(far.try_clone()?, near.try_clone()?, way)?;
        Ok(vec![near, far])
    };
    both().unwrap_or_default()
}

/// Two threads: one takes octets while the window has room, one gives them out when due.
fn direction(from: TcpStream, to: TcpStream, way: Way) -> io::Result<()> {
    // Pieces may be as small as an octet, so the window bounds their number too.
    let (pieces, due) = sync_channel(way.window.min(1 << 20));
    let (room, credits) = channel();
    thread::Builder::new().name("relay in".into()).spawn(move || {
        take(from, way, &pieces, &credits);
    })?;
    thread::Builder::new().name("relay out".into()).spawn(move || give(to, way, &due, &room))?;
    Ok(())
}

type Piece = (u64, Vec<u8>); // when it is due, octets; none: the end
type Credit = (u64, usize); // when the sender learns of it, octets

fn take(mut from: TcpStream, way: Way, pieces: &SyncSender<Piece>, credits: &Receiver<Credit>) {
    let mut out = 0;
    let mut back = VecDeque::new();
    let piece_max = PIECE.min(way.window);
    loop {
        // Not for less than a piece, or pieces become ever smaller.
        while way.window - out < piece_max {
            back.extend(credits.try_iter());
            if back.is_empty() {
                let Ok(credit) = credits.recv() else { return };
                back.push_back(credit);
            }
            while let Some((at_ns, octets)) = back.pop_front() {
                sleep_until(at_ns);
                out -= octets;
                if way.window - out >= piece_max {
                    break;
                }
            }
        }
        let mut piece = vec![0; piece_max];
        // A reset is an end too: the other side sees the connection close.
        let size = from.read(&mut piece).unwrap_or(0);
        piece.truncate(size);
        out += size;
        if pieces.send((monotonic_ns() + way.one_way_ns, piece)).is_err() || size == 0 {
            return;
        }
    }
}

fn give(mut to: TcpStream, way: Way, due: &Receiver<Piece>, room: &Sender<Credit>) {
    while let Ok((at_ns, piece)) = due.recv() {
        sleep_until(at_ns);
        if piece.is_empty() || to.write_all(&piece).is_err() {
            break;
        }
        // The reader may have ended before what it read was delivered.
        let _ = room.send((monotonic_ns() + way.one_way_ns, piece.len()));
    }
    let _ = to.shutdown(Shutdown::Write);
}
