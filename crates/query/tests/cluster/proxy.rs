//! A network between a client and a server that can be split: a proxy that stops forwarding.

use chronoscope_clock as clock;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a connection or a listener waits before it looks at the state again.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// State of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Network {
    /// Everything is forwarded.
    Whole,
    /// Nothing is forwarded, in either direction, and nobody is told. What was sent meanwhile
    /// arrives when the network is whole again.
    Split,
    /// Connections are closed, and new ones are closed at once.
    Closed,
    /// The proxy ends.
    Gone,
}

/// A proxy before a server; dropping it ends it.
pub struct Proxy {
    port: u16,
    state: Arc<AtomicU8>,
    listener: Option<JoinHandle<()>>,
}

impl Proxy {
    /// A proxy before the server at `HOST:PORT`, on a port that the kernel chooses.
    pub fn before(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(AtomicU8::new(Network::Whole as u8));
        let (server, shared) = (server.to_owned(), Arc::clone(&state));
        let thread = std::thread::spawn(move || accept(&listener, &server, &shared));
        Self { port, state, listener: Some(thread) }
    }

    /// `HOST:PORT` of the proxy.
    pub fn name(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Changes the network.
    pub fn set(&self, network: Network) {
        self.state.store(network as u8, Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.set(Network::Gone);
        if let Some(listener) = self.listener.take() {
            listener.join().unwrap();
        }
    }
}

fn is(state: &AtomicU8, network: Network) -> bool {
    state.load(Ordering::SeqCst) == network as u8
}

fn accept(listener: &TcpListener, server: &str, state: &Arc<AtomicU8>) {
    let mut connections = Vec::new();
    while !is(state, Network::Gone) {
        match listener.accept() {
            Ok((client, _)) if is(state, Network::Closed) => drop(client),
            Ok((client, _)) => {
                client.set_nonblocking(false).unwrap();
                let Ok(upstream) = TcpStream::connect(server) else { continue };
                let pairs = [(&client, &upstream), (&upstream, &client)];
                for (from, to) in pairs {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let state = Arc::clone(state);
                    connections.push(std::thread::spawn(move || forward(from, to, &state)));
                }
            }
            Err(_) => clock::sleep(LOOK_EVERY),
        }
    }
    connections.into_iter().for_each(|connection| connection.join().unwrap());
}

/// Forwards one direction until an end closes.
fn forward(mut from: TcpStream, mut to: TcpStream, state: &AtomicU8) {
    from.set_read_timeout(Some(LOOK_EVERY)).unwrap();
    let mut buffer = vec![0; 1 << 16];
    loop {
        if is(state, Network::Gone) || is(state, Network::Closed) {
            break;
        }
        if is(state, Network::Split) {
            clock::sleep(LOOK_EVERY);
            continue;
        }
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(len) => {
                // Read just before the network was split: it is on its way until then.
                while is(state, Network::Split) {
                    clock::sleep(LOOK_EVERY);
                }
                if to.write_all(&buffer[..len]).is_err() {
                    break;
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => break,
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
