//! Programs that read frames from a link: each has a bounded queue and a thread that writes. A program
//! that reads too slowly loses frames, which are counted; it never makes the association wait.

use super::door::{DoorSeat, LinkDoor};
use super::socket::{LinkAddress, LinkStream};
use crate::provider::ProviderLog;
use bytes::Bytes;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
struct ReaderQueue {
    waiting: VecDeque<Bytes>,
    octets: usize,
    written: u64,
    /// Messages for which there was no room.
    lost: u64,
    ends: bool,
}

/// A program that is connected.
#[derive(Debug)]
struct FrameReader {
    peer: String,
    queue: Mutex<ReaderQueue>,
    changed: Condvar,
    stream: LinkStream,
}

impl FrameReader {
    fn lock(&self) -> MutexGuard<'_, ReaderQueue> {
        // Lock poisoning is ignored: every update is a single step.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        self.lock().ends = true;
        self.changed.notify_all();
        self.stream.shutdown();
    }

    /// Writes until the connection ends; why it ended.
    fn write(&self, mut to: LinkStream) -> io::Result<()> {
        let mut batch = Vec::new();
        loop {
            let mut queue = self.lock();
            while queue.waiting.is_empty() && !queue.ends {
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            if queue.ends {
                return Ok(());
            }
            batch.extend(queue.waiting.drain(..));
            drop(queue);
            for message in batch.drain(..) {
                // The octets leave the bound when they are written, not when they are taken.
                to.write_all(&message)?;
                let mut queue = self.lock();
                queue.octets -= message.len();
                queue.written += 1;
            }
        }
    }
}

#[derive(Debug, Default)]
struct ReaderList {
    readers: Vec<Arc<FrameReader>>,
    /// Lost by readers that have gone.
    lost_before: u64,
    gone: u64,
    ends: bool,
}

/// The programs of one listening socket.
#[derive(Debug)]
pub(super) struct FrameReaders {
    list: Arc<Mutex<ReaderList>>,
    /// Octets that may wait for one program.
    buffer: usize,
    log: ProviderLog,
    name: String,
    address: LinkAddress,
    _door: LinkDoor,
}

impl FrameReaders {
    pub(super) fn open(
        name: &str,
        address: &LinkAddress,
        buffer: usize,
        log: &ProviderLog,
    ) -> io::Result<Self> {
        let list: Arc<Mutex<ReaderList>> = Arc::default();
        let (entered, said, whose) = (Arc::clone(&list), log.clone(), name.to_owned());
        let door = LinkDoor::open(address, log.clone(), move |stream, peer, seat| {
            if let Err(error) = enter(&entered, stream, &peer, seat, &said, &whose) {
                said.say(&format!("{whose}: {peer}: {error}"));
            }
        })?;
        let (log, name) = (log.clone(), name.to_owned());
        Ok(Self { list, buffer, log, name, address: door.address.clone(), _door: door })
    }

    pub(super) fn address(&self) -> &LinkAddress {
        &self.address
    }

    /// Gives a message to every program that has room for it.
    pub(super) fn give(&self, message: &Bytes) {
        for reader in &lock(&self.list).readers {
            let mut queue = reader.lock();
            // One message always has room, however long it is.
            if queue.octets > 0 && queue.octets + message.len() > self.buffer {
                queue.lost += 1;
                if queue.lost == 1 {
                    self.log.say(&format!(
                        "{}: {} reads too slowly: frames are lost for it, which gaps in the message \
                         numbers show",
                        self.name, reader.peer
                    ));
                }
                continue;
            }
            queue.octets += message.len();
            queue.waiting.push_back(message.clone());
            drop(queue);
            reader.changed.notify_one();
        }
    }

    /// Counters, as JSON.
    pub(super) fn status(&self) -> Value {
        let list = lock(&self.list);
        let readers = list.readers.iter().map(|reader| {
            let queue = reader.lock();
            json!({
                "peer": reader.peer,
                "written": queue.written,
                "lost": queue.lost,
                "waiting_octets": queue.octets,
            })
        });
        let now: Vec<Value> = readers.collect();
        json!({
            "listen": self.address.to_string(),
            "readers": now,
            "gone": list.gone,
            "lost_by_gone": list.lost_before,
        })
    }
}

impl Drop for FrameReaders {
    fn drop(&mut self) {
        let mut list = lock(&self.list);
        list.ends = true;
        list.readers.iter().for_each(|reader| reader.end());
    }
}

fn lock(list: &Mutex<ReaderList>) -> MutexGuard<'_, ReaderList> {
    // Lock poisoning is ignored: every update is a single step.
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a program in, and starts the thread that writes to it.
fn enter(
    list: &Arc<Mutex<ReaderList>>,
    stream: LinkStream,
    peer: &str,
    seat: DoorSeat,
    log: &ProviderLog,
    name: &str,
) -> io::Result<()> {
    let to = stream.try_clone()?;
    let reader = Arc::new(FrameReader {
        peer: peer.to_owned(),
        queue: Mutex::default(),
        changed: Condvar::new(),
        stream,
    });
    let mut entered = lock(list);
    if entered.ends {
        return Ok(());
    }
    entered.readers.push(Arc::clone(&reader));
    drop(entered);
    let (list, log, name) = (Arc::clone(list), log.clone(), name.to_owned());
    let of_thread = Arc::clone(&reader);
    let spawned = std::thread::Builder::new().name("sle-reader".to_owned()).spawn({
        let list = Arc::clone(&list);
        move || {
            let _seat = seat;
            let ended = of_thread.write(to);
            of_thread.stream.shutdown();
            let mut list = lock(&list);
            list.readers.retain(|one| !Arc::ptr_eq(one, &of_thread));
            let (written, lost) = {
                let queue = of_thread.lock();
                (queue.written, queue.lost)
            };
            list.gone += 1;
            list.lost_before += lost;
            drop(list);
            if lost > 0 || ended.is_err() {
                let why = ended.err().map_or_else(String::new, |error| format!(" ({error})"));
                log.say(&format!(
                    "{name}: {} has gone{why}: {written} messages written, {lost} lost",
                    of_thread.peer
                ));
            }
        }
    });
    if spawned.is_err() {
        lock(&list).readers.retain(|one| !Arc::ptr_eq(one, &reader));
    }
    spawned.map(drop)
}
