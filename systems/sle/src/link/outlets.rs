//! Where the frames of a link go: datagrams, programs that read, a store.

use super::message;
use super::readers::FrameReaders;
use crate::config::LinkReturnTable;
use crate::frame::ReceivedFrame;
use crate::pdu::{FrameOrNotification, FrameQuality};
use crate::provider::ProviderLog;
use crate::source::{ArchiveLimits, FrameArchive};
use crate::time::Now;
use bytes::Bytes;
use serde_json::{Value, json};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Counters of a link's frames, since the program was started.
#[derive(Clone, Copy, Debug, Default)]
struct OutletCounts {
    frames: u64,
    octets: u64,
    erred: u64,
    missing: u64,
    notifications: u64,
    datagrams: u64,
    datagrams_failed: u64,
    stored: u64,
    store_failed: u64,
}

/// The destinations of one link. They stay while associations come and go.
#[derive(Debug)]
pub(super) struct FrameOutlets {
    name: String,
    log: ProviderLog,
    udp: Vec<(UdpSocket, SocketAddr)>,
    readers: Vec<FrameReaders>,
    store: Option<FrameArchive>,
    /// Number of the next message.
    sequence: u64,
    counts: OutletCounts,
}

impl FrameOutlets {
    /// Opens all of them.
    ///
    /// # Errors
    /// Those of sockets and of the store, with their names.
    pub(super) fn open(
        name: &str,
        returns: &LinkReturnTable,
        log: &ProviderLog,
    ) -> io::Result<Self> {
        let named = |what: String| move |error| io::Error::other(format!("{what}: {error}"));
        let udp = returns.udp.iter().map(|to| {
            let socket = match to {
                SocketAddr::V4(_) => UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)),
                SocketAddr::V6(_) => UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)),
            };
            let socket = socket.map_err(named(format!("udp {to}")))?;
            // A full socket loses a datagram and never makes the association wait.
            socket.set_nonblocking(true)?;
            Ok((socket, *to))
        });
        let readers = returns.listen.iter().map(|text| {
            let address = text.parse().map_err(io::Error::other)?;
            FrameReaders::open(name, &address, returns.buffer, log)
                .map_err(named(format!("listen {text}")))
        });
        let limits = ArchiveLimits { octets: returns.store_octets, age_ns: returns.store_age_ns() };
        let store = returns.store.as_ref().map(|folder| FrameArchive::open(folder, limits));
        Ok(Self {
            name: name.to_owned(),
            log: log.clone(),
            udp: udp.collect::<io::Result<_>>()?,
            readers: readers.collect::<io::Result<_>>()?,
            store: store.transpose().map_err(io::Error::other)?,
            sequence: 0,
            counts: OutletCounts::default(),
        })
    }

    /// Where programs can connect.
    pub(super) fn addresses(&self) -> Vec<String> {
        self.readers.iter().map(|readers| readers.address().to_string()).collect()
    }

    /// Gives a transfer buffer to all destinations. It never waits for a program; it may wait for the
    /// disk of the store.
    pub(super) fn take(&mut self, parts: &[FrameOrNotification]) {
        let mut stored = Vec::new();
        for part in parts {
            let message = match part {
                FrameOrNotification::Frame(frame) => {
                    self.counts.frames += 1;
                    self.counts.octets += frame.data.len() as u64;
                    self.counts.erred += u64::from(frame.quality == Some(FrameQuality::Erred));
                    // Negative: the provider does not know.
                    self.counts.missing += u64::try_from(frame.data_link_continuity).unwrap_or(0);
                    if self.store.is_some() {
                        stored.push(ReceivedFrame {
                            data: frame.data.clone(),
                            received_utc_ns: frame.earth_receive_time.utc_ns().unwrap_or(0),
                            quality: frame.quality.unwrap_or(FrameQuality::Undetermined),
                            annotation: None,
                        });
                    }
                    message::frame(self.sequence, frame)
                }
                FrameOrNotification::Notification(notify) => {
                    self.counts.notifications += 1;
                    message::notification(self.sequence, notify)
                }
            };
            self.sequence += 1;
            self.send(&message);
        }
        self.keep(&stored);
    }

    fn send(&mut self, message: &Bytes) {
        for (socket, to) in &self.udp {
            match socket.send_to(message, to) {
                Ok(_) => self.counts.datagrams += 1,
                Err(error) => {
                    self.counts.datagrams_failed += 1;
                    if self.counts.datagrams_failed.is_power_of_two() {
                        self.log.say(&format!(
                            "{}: udp {to}: {error} ({} datagrams lost so far)",
                            self.name, self.counts.datagrams_failed
                        ));
                    }
                }
            }
        }
        for readers in &self.readers {
            readers.give(message);
        }
    }

    /// Stores frames; without frames it keeps the store within its limits.
    pub(super) fn keep(&mut self, frames: &[ReceivedFrame]) {
        let Some(store) = &mut self.store else { return };
        let count = frames.len() as u64;
        match store.write(frames, Now::read()) {
            Ok(()) => self.counts.stored += count,
            Err(error) => {
                self.counts.store_failed += count;
                if count > 0
                    && self.counts.store_failed.ilog2()
                        != (self.counts.store_failed - count).max(1).ilog2()
                {
                    self.log.say(&format!(
                        "{}: store: {error} ({} frames lost for it so far)",
                        self.name, self.counts.store_failed
                    ));
                }
            }
        }
    }

    /// Counters, as JSON.
    pub(super) fn status(&self) -> Value {
        let counts = &self.counts;
        let readers: Vec<Value> = self.readers.iter().map(FrameReaders::status).collect();
        json!({
            "frames": counts.frames,
            "octets": counts.octets,
            "erred": counts.erred,
            "missing": counts.missing,
            "notifications": counts.notifications,
            "datagrams": counts.datagrams,
            "datagrams_lost": counts.datagrams_failed,
            "stored": counts.stored,
            "store_lost": counts.store_failed,
            "listening": readers,
        })
    }
}
