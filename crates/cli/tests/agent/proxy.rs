//! A TCP proxy that does to connections what networks do.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A direction: towards the collector, or towards the agent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    There,
    Back,
}

#[derive(Default)]
struct Inner {
    /// Where connections go; none refuses them.
    upstream: Mutex<Option<SocketAddr>>,
    /// Both ends of every connection: the agent's, the collector's.
    pairs: Mutex<Vec<(TcpStream, TcpStream)>>,
    stalled: [AtomicBool; 2],
}

/// The proxy; its threads end with the process.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    inner: Arc<Inner>,
}

impl Proxy {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let inner = Arc::new(Inner::default());
        let shared = inner.clone();
        std::thread::spawn(move || {
            for agent in listener.incoming() {
                let upstream = *shared.upstream.lock().unwrap();
                let (Ok(agent), Some(upstream)) = (agent, upstream) else { continue };
                let Ok(collector) = TcpStream::connect(upstream) else { continue };
                let ends = [&agent, &collector].map(|end| {
                    end.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
                    end.set_nodelay(true).unwrap();
                    end.try_clone().unwrap()
                });
                let [agent_end, collector_end] = ends;
                let again = (agent.try_clone().unwrap(), collector.try_clone().unwrap());
                shared.pairs.lock().unwrap().push(again);
                let (there, back) = (shared.clone(), shared.clone());
                std::thread::spawn(move || there.copy(agent, collector_end, Way::There));
                std::thread::spawn(move || back.copy(collector, agent_end, Way::Back));
            }
        });
        Self { port, inner }
    }

    /// Sends new connections there from now on.
    pub(crate) fn lead_to(&self, upstream: Option<SocketAddr>) {
        *self.inner.upstream.lock().unwrap() = upstream;
    }

    /// Cuts every connection.
    pub(crate) fn cut(&self) {
        for (agent, collector) in self.inner.pairs.lock().unwrap().drain(..) {
            let _ = agent.shutdown(Shutdown::Both); // it may be closed already
            let _ = collector.shutdown(Shutdown::Both);
        }
    }

    /// Ends every connection in one direction, as if that side had closed.
    pub(crate) fn half_close(&self, way: Way) {
        for (agent, collector) in self.inner.pairs.lock().unwrap().iter() {
            let end = match way {
                Way::There => collector,
                Way::Back => agent,
            };
            let _ = end.shutdown(Shutdown::Write); // it may be closed already
        }
    }

    /// Holds everything back in one direction, for a while.
    pub(crate) fn stall(&self, way: Way, time: Duration) {
        self.inner.stalled[way as usize].store(true, Ordering::Relaxed);
        chronoscope_clock::sleep(time);
        self.inner.stalled[way as usize].store(false, Ordering::Relaxed);
    }
}

impl Inner {
    fn copy(&self, mut from: TcpStream, mut to: TcpStream, way: Way) {
        let mut buffer = [0; 16 << 10];
        loop {
            while self.stalled[way as usize].load(Ordering::Relaxed) {
                chronoscope_clock::sleep(Duration::from_millis(5));
            }
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    if to.write_all(&buffer[..count]).is_err() {
                        break;
                    }
                }
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(_) => break,
            }
        }
        let _ = to.shutdown(Shutdown::Write); // it may be closed already
        let _ = from.shutdown(Shutdown::Read);
    }
}
