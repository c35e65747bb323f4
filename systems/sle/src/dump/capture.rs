//! Entries of a capture, in its order.

use super::connection::{Came, DumpConnection, KnownAssociation};
use super::message::{DumpContent, DumpEntry, DumpService};
use crate::pdu::AssociationRole;
use chronoscope_replay::capture::{
    Arrival, ArrivalContent, Arrivals, CaptureError, CaptureReader, OctetsDetail,
};
use chronoscope_replay::wire::Endpoint;
use std::collections::{HashMap, VecDeque};
use std::io::Read;

/// Settings of a dump.
#[derive(Clone, Debug, Default)]
pub struct DumpSettings {
    /// TCP ports of connections that are of ISP1, whatever they begin with. If there are any, only
    /// those connections are read; else those that begin with a message of ISP1.
    pub ports: Vec<u16>,
    /// Service of associations whose BIND is not in the capture.
    pub service: Option<DumpService>,
    /// Version of the service of these associations, in [1, 5]; absent: 5.
    pub version: Option<u16>,
}

/// What a capture had beside its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DumpCounts {
    /// Connections of ISP1.
    pub connections: u32,
    /// Connections of other protocols.
    pub others: u64,
    /// Packets that are no TCP or UDP over IP, or were cut.
    pub ignored_packets: u64,
}

/// Addresses of a connection, the lower first, and whether the initiator is the lower one.
type ConnectionKey = (Endpoint, Endpoint);

/// Iterator over the entries of a capture. It ends after an error of the capture.
pub struct CaptureDump<R> {
    arrivals: Arrivals<R>,
    settings: DumpSettings,
    /// Connections, with the initiator's address.
    connections: HashMap<ConnectionKey, (Endpoint, DumpConnection)>,
    /// Number of the next connection that begins; numbers are of ISP1 connections and others.
    begun: u32,
    ready: VecDeque<DumpEntry>,
    entries: u64,
    last_ns: i64,
    counts: DumpCounts,
    /// Error of the capture, which is given after what is there.
    error: Option<CaptureError>,
    is_finished: bool,
}

impl<R> std::fmt::Debug for CaptureDump<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CaptureDump").field("entries", &self.entries).finish_non_exhaustive()
    }
}

impl<R: Read> CaptureDump<R> {
    /// Entries of a capture (pcap or pcapng).
    ///
    /// # Errors
    /// [`CaptureError`]: it is no capture.
    pub fn new(input: R, settings: DumpSettings) -> Result<Self, CaptureError> {
        Ok(Self {
            arrivals: Arrivals::new(CaptureReader::new(input)?),
            settings,
            connections: HashMap::new(),
            begun: 0,
            ready: VecDeque::new(),
            entries: 0,
            last_ns: 0,
            counts: DumpCounts::default(),
            error: None,
            is_finished: false,
        })
    }

    /// What the capture had beside its entries; complete after the last entry.
    #[must_use]
    pub fn counts(&self) -> DumpCounts {
        DumpCounts { ignored_packets: self.arrivals.ignored.values().sum(), ..self.counts }
    }

    fn arrival(&mut self, arrival: Arrival, detail: &OctetsDetail) {
        let Arrival { at_ns, from, to, what } = arrival;
        self.last_ns = at_ns;
        if matches!(what, ArrivalContent::Datagram(_)) || !self.is_wanted(from, to) {
            return;
        }
        let key = if from < to { (from, to) } else { (to, from) };
        let begins = what == ArrivalContent::Opened
            && self.connections.get(&key).is_some_and(|(initiator, _)| *initiator == from);
        if begins {
            // The same ports again: the end of the connection before is not in the capture.
            self.close(key);
        }
        let (initiator, connection) = self.connections.entry(key).or_insert_with(|| {
            self.begun += 1;
            let association =
                KnownAssociation { service: self.settings.service, version: self.settings.version };
            let is_isp1 = !self.settings.ports.is_empty();
            (from, DumpConnection::new(self.begun, association, is_isp1))
        });
        let sender =
            if *initiator == from { AssociationRole::User } else { AssociationRole::Provider };
        let came = Came { at_ns, sender };
        let mut out = Vec::new();
        match what {
            ArrivalContent::Opened if sender == AssociationRole::User => {
                let content = DumpContent::Opened(from.to_string(), to.to_string());
                connection.event(came, content, &mut out);
            }
            ArrivalContent::Opened | ArrivalContent::Datagram(_) => {}
            ArrivalContent::Octets(octets) if !connection.is_other() => {
                let mut taken = 0;
                for gap in &detail.gaps {
                    connection.octets(came, &octets[taken..gap.at], &mut out);
                    connection.lose(came, gap.missing, &mut out);
                    taken = gap.at;
                }
                connection.octets(came, &octets[taken..], &mut out);
                if detail.ends_urgent {
                    connection.urgent(came, &mut out);
                }
            }
            ArrivalContent::Octets(_) => {}
            ArrivalContent::Ended => connection.end(came, true, &mut out),
        }
        self.give(key, out);
        if self.connections.get(&key).is_some_and(|(_, connection)| connection.has_ended()) {
            self.close(key);
        }
    }

    fn is_wanted(&self, from: Endpoint, to: Endpoint) -> bool {
        let ports = &self.settings.ports;
        ports.is_empty() || ports.contains(&from.port) || ports.contains(&to.port)
    }

    /// Numbers entries and makes them ready.
    fn give(&mut self, key: ConnectionKey, entries: Vec<DumpEntry>) {
        let Some((_, connection)) = self.connections.get_mut(&key) else { return };
        for mut entry in entries {
            self.entries += 1;
            entry.number = self.entries;
            connection.join(&mut entry);
            self.ready.push_back(entry);
        }
    }

    /// Forgets a connection: what waits in it is told.
    fn close(&mut self, key: ConnectionKey) {
        let Some((_, connection)) = self.connections.get_mut(&key) else { return };
        let mut out = Vec::new();
        for sender in [AssociationRole::User, AssociationRole::Provider] {
            connection.end(Came { at_ns: self.last_ns, sender }, false, &mut out);
        }
        match connection.is_known() {
            true => self.counts.connections += 1,
            false => self.counts.others += 1,
        }
        self.give(key, out);
        self.connections.remove(&key);
    }

    fn finish(&mut self) {
        self.is_finished = true;
        for (arrival, detail) in self.arrivals.rest(self.last_ns) {
            self.arrival(arrival, &detail);
        }
        let mut keys: Vec<_> = self.connections.keys().copied().collect();
        keys.sort_by_key(|key| {
            self.connections.get(key).map(|(_, connection)| connection.number())
        });
        for key in keys {
            self.close(key);
        }
    }
}

impl<R: Read> Iterator for CaptureDump<R> {
    type Item = Result<DumpEntry, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                return Some(Ok(entry));
            }
            if self.is_finished {
                return self.error.take().map(Err);
            }
            match self.arrivals.next() {
                Some(Ok(arrival)) => {
                    let detail = self.arrivals.detail().clone();
                    self.arrival(arrival, &detail);
                }
                Some(Err(error)) => {
                    self.error = Some(error);
                    self.finish();
                }
                None => self.finish(),
            }
        }
    }
}
