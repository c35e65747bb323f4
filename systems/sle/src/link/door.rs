//! A listening socket with a thread that takes connections, at most so many at a time.

use super::socket::{LinkAddress, LinkListener, LinkStream};
use crate::provider::ProviderLog;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Connections at a time.
const CONNECTIONS_MAX: usize = 32;
/// Interval of the looks for a connection.
const LOOK: Duration = Duration::from_millis(20);

/// A place among the connections of a door, given back when it is dropped.
#[derive(Debug)]
pub(super) struct DoorSeat(Arc<AtomicUsize>);

impl Drop for DoorSeat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Takes connections until it is dropped.
#[derive(Debug)]
pub(super) struct LinkDoor {
    pub(super) address: LinkAddress,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl LinkDoor {
    /// Listens; `enter` takes each connection, with its name and its seat, and does not wait.
    pub(super) fn open(
        address: &LinkAddress,
        log: ProviderLog,
        mut enter: impl FnMut(LinkStream, String, DoorSeat) + Send + 'static,
    ) -> io::Result<Self> {
        let listener = LinkListener::bind(address)?;
        let address = listener.address()?;
        let (ends, at) = (Arc::new(AtomicBool::new(false)), address.to_string());
        let ended = Arc::clone(&ends);
        let seats = Arc::new(AtomicUsize::new(0));
        let thread = std::thread::Builder::new().name("sle-door".to_owned()).spawn(move || {
            while !ended.load(Ordering::Acquire) {
                match listener.accept() {
                    Ok(Some((stream, peer))) => {
                        let seat = DoorSeat(Arc::clone(&seats));
                        if seats.fetch_add(1, Ordering::AcqRel) < CONNECTIONS_MAX {
                            enter(stream, peer, seat);
                        } else {
                            log.say(&format!(
                                "{at}: {peer} is refused: {CONNECTIONS_MAX} programs are connected"
                            ));
                        }
                    }
                    Ok(None) => chronoscope_clock::sleep(LOOK),
                    Err(error) => {
                        log.say(&format!("{at}: {error}"));
                        chronoscope_clock::sleep(Duration::from_secs(1));
                    }
                }
            }
        })?;
        Ok(Self { address, ends, thread: Some(thread) })
    }
}

impl Drop for LinkDoor {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A panic was said where it happened.
            let _ = thread.join();
        }
    }
}
