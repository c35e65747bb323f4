//! Octets through the delayed path and through the relay.

use super::{Buffers, End, Path, Relay};
use chronoscope_clock::monotonic_ns;
use chronoscope_lab::{Element, LabError};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

const OCTETS: usize = 3 << 20;

/// A server that sends back what it gets, once.
fn echo(listener: TcpListener) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut from = stream.try_clone().unwrap();
        std::io::copy(&mut from, &mut stream).unwrap();
    })
}

/// Sends `OCTETS` octets through an echo and compares what comes back.
fn there_and_back(stream: TcpStream) {
    let sent: Vec<u8> = (0..=250).cycle().take(OCTETS).collect();
    let mut out = stream.try_clone().unwrap();
    let writer = thread::spawn({
        let sent = sent.clone();
        move || {
            out.write_all(&sent).unwrap();
            out.shutdown(std::net::Shutdown::Write).unwrap();
        }
    });
    let mut back = Vec::new();
    (&stream).read_to_end(&mut back).unwrap();
    writer.join().unwrap();
    assert!(back == sent, "{} octets came back, or others", back.len());
}

/// A path, or `None` with a loud line where none may be made.
fn path(each_way: Element) -> Option<Path> {
    match Path::new(each_way) {
        Ok(path) => Some(path),
        Err(error) if matches!(error.downcast_ref(), Some(LabError::Forbidden { .. })) => {
            eprintln!("SKIPPED: {error}");
            None
        }
        Err(error) => panic!("{error:#}"),
    }
}

#[test]
fn tcp_runs_end_to_end_through_the_path() {
    let one_way = Duration::from_millis(3);
    let Some(path) = path(Element { delay: one_way, ..Element::default() }) else { return };
    path.set_buffers(Buffers { first: 1 << 20, most: 4 << 20 }).unwrap();
    let server = (End::Far.address(), 0);
    let listener = path.end(End::Far).run(|| TcpListener::bind(server)).unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    let server = echo(listener);
    let before_ns = monotonic_ns();
    let stream = path.end(End::Near).run(|| TcpStream::connect(address)).unwrap().unwrap();
    let connected_ns = monotonic_ns() - before_ns;
    assert!(connected_ns >= 6_000_000, "SYN and its answer took {connected_ns} ns");
    assert_eq!(stream.local_addr().unwrap().ip(), End::Near.address());
    there_and_back(stream);
    server.join().unwrap();
    assert_eq!(path.lost(), 0);
}

#[test]
fn a_path_has_buffers_of_its_own() {
    let Some(path) = path(Element::default()) else { return };
    path.set_buffers(Buffers { first: 65_536, most: 65_536 }).unwrap();
    let read = || std::fs::read_to_string("/proc/sys/net/ipv4/tcp_rmem").unwrap();
    let inside = path.end(End::Near).run(read).unwrap();
    assert_eq!(inside.split_whitespace().collect::<Vec<_>>(), ["4096", "65536", "65536"]);
    assert_ne!(read(), inside, "the machine's own are untouched");
}

/// A link that holds one packet at a time loses some, and TCP copes.
#[test]
fn what_is_dropped_is_counted_and_sent_again() {
    let one_way = Duration::from_millis(1);
    let Some(path) = path(Element { delay: one_way, octets_max: 30_000, ..Element::default() })
    else {
        return;
    };
    let server = (End::Far.address(), 0);
    let listener = path.end(End::Far).run(|| TcpListener::bind(server)).unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    let server = echo(listener);
    there_and_back(path.end(End::Near).run(|| TcpStream::connect(address)).unwrap().unwrap());
    server.join().unwrap();
    assert!(path.lost() > 0);
}

#[test]
fn the_relay_carries_and_delays_without_any_right() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let to = listener.local_addr().unwrap();
    let server = echo(listener);
    let relay = Relay::new(to, Duration::from_millis(2), 256 << 10).unwrap();
    let mut stream = TcpStream::connect(relay.address()).unwrap();
    let before_ns = monotonic_ns();
    stream.write_all(b"x").unwrap();
    stream.read_exact(&mut [0]).unwrap();
    assert!(monotonic_ns() - before_ns >= 4_000_000);
    stream.write_all(b"y").unwrap();
    stream.read_exact(&mut [0]).unwrap();
    there_and_back(stream);
    server.join().unwrap();
}

/// 8 windows of octets need at least 7 round trips, whatever the machine does.
#[test]
fn the_relays_window_bounds_what_is_on_its_way() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let to = listener.local_addr().unwrap();
    let sink = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        std::io::copy(&mut stream, &mut std::io::sink()).unwrap()
    });
    let (window, one_way) = (64 << 10, Duration::from_millis(5));
    let relay = Relay::new(to, one_way, window).unwrap();
    let before_ns = monotonic_ns();
    let mut stream = TcpStream::connect(relay.address()).unwrap();
    stream.write_all(&vec![7; 8 * window]).unwrap();
    drop(stream);
    assert_eq!(sink.join().unwrap(), 8 * window as u64);
    let took_ns = monotonic_ns() - before_ns;
    assert!(took_ns >= 7 * 10_000_000, "{took_ns} ns");
}

/// Nobody listens: the connection ends, the relay goes on.
#[test]
fn a_relay_to_nowhere_closes() {
    let to: SocketAddr = {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.local_addr().unwrap()
    };
    let relay = Relay::new(to, Duration::ZERO, 1).unwrap();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(relay.address()).unwrap();
        assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
    }
}
