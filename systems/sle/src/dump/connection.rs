//! One connection: its two streams, and what is known of its association.

use super::message::{AnsweredInvocation, DumpContent, DumpEntry, DumpService};
use super::pdu::annotate;
use super::stream::{DumpStream, StreamPart, is_isp1};
use crate::codec::decode_bind;
use crate::csts;
use crate::pdu::{AssociationRole, PeerAbortDiagnostic};
use crate::tml::{ContextMessage, HEADER_BYTES, MessageKind};
use bytes::Bytes;
use std::collections::HashMap;

/// The association of a connection, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KnownAssociation {
    pub(super) service: Option<DumpService>,
    pub(super) version: Option<u16>,
}

/// A connection.
#[derive(Debug)]
pub(super) struct DumpConnection {
    number: u32,
    /// Streams of user and provider.
    streams: [DumpStream; 2],
    has_ended: [bool; 2],
    association: KnownAssociation,
    /// Invocations without a return: entry and time, by sender and invoke id. Invoke ids of SLE have
    /// 16 bits, and a peer that does not return has few invocations open.
    open: HashMap<(usize, u32), (u64, i64)>,
    /// Entries before the protocol of the connection is known.
    early: Vec<DumpEntry>,
    /// Whether it is a connection of ISP1.
    is_isp1: Option<bool>,
}

/// Index of a sender's stream.
fn index(sender: AssociationRole) -> usize {
    usize::from(sender == AssociationRole::Provider)
}

/// Where and when octets came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Came {
    pub(super) at_ns: i64,
    pub(super) sender: AssociationRole,
}

impl DumpConnection {
    /// A connection that is one of ISP1 if it looks so, or if `is_isp1`.
    pub(super) fn new(number: u32, association: KnownAssociation, is_isp1: bool) -> Self {
        Self {
            number,
            streams: Default::default(),
            has_ended: [false; 2],
            association,
            open: HashMap::new(),
            early: Vec::new(),
            is_isp1: is_isp1.then_some(true),
        }
    }

    /// Whether both directions have ended.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended == [true; 2]
    }

    /// Its number, from 1.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Whether it is known to be one of ISP1.
    pub(super) fn is_known(&self) -> bool {
        self.is_isp1 == Some(true)
    }

    /// Whether it is known to be of another protocol.
    pub(super) fn is_other(&self) -> bool {
        self.is_isp1 == Some(false)
    }

    /// Adds an entry without octets.
    pub(super) fn event(&mut self, came: Came, content: DumpContent, out: &mut Vec<DumpEntry>) {
        let position = self.streams[index(came.sender)].position();
        let entry = self.entry(came, position, content, Bytes::new());
        self.give(vec![entry], out);
    }

    /// Takes octets of a sender.
    pub(super) fn octets(&mut self, came: Came, octets: &[u8], out: &mut Vec<DumpEntry>) {
        let stream = &mut self.streams[index(came.sender)];
        stream.take(octets);
        if self.is_isp1.is_none() {
            self.is_isp1 = is_isp1(stream.waiting());
        }
        self.drain(came, out);
    }

    /// The capture lacks octets of a sender.
    pub(super) fn lose(&mut self, came: Came, missing: u32, out: &mut Vec<DumpEntry>) {
        let parts = self.streams[index(came.sender)].lose(missing.into());
        self.parts(came, parts, out);
    }

    /// The last octet of a sender was urgent data.
    pub(super) fn urgent(&mut self, came: Came, out: &mut Vec<DumpEntry>) {
        let parts = self.streams[index(came.sender)].urgent();
        self.parts(came, parts, out);
    }

    /// A sender sends no more, or the capture ends.
    pub(super) fn end(&mut self, came: Came, is_told: bool, out: &mut Vec<DumpEntry>) {
        let of = index(came.sender);
        if std::mem::replace(&mut self.has_ended[of], true) {
            return;
        }
        if self.is_isp1.is_none() && !self.streams[of].waiting().is_empty() {
            self.is_isp1 = Some(false);
        }
        if self.is_isp1 != Some(false) {
            let parts = self.streams[of].end();
            self.parts(came, parts, out);
        }
        if is_told {
            self.event(came, DumpContent::Ended, out);
        }
    }

    fn drain(&mut self, came: Came, out: &mut Vec<DumpEntry>) {
        if self.is_isp1 != Some(true) {
            return;
        }
        while let Some(part) = self.streams[index(came.sender)].next() {
            self.parts(came, vec![part], out);
        }
    }

    fn parts(&mut self, came: Came, parts: Vec<(u64, StreamPart)>, out: &mut Vec<DumpEntry>) {
        for (position, part) in parts {
            let (content, octets) = self.content(came, part);
            let entry = self.entry(came, position, content, octets);
            self.give(vec![entry], out);
        }
    }

    fn entry(&self, came: Came, position: u64, content: DumpContent, octets: Bytes) -> DumpEntry {
        let Came { at_ns, sender } = came;
        // The number is given when it is known that there is one.
        DumpEntry { number: 0, at_ns, connection: self.number, sender, position, content, octets }
    }

    fn give(&mut self, entries: Vec<DumpEntry>, out: &mut Vec<DumpEntry>) {
        match self.is_isp1 {
            Some(true) => {
                out.append(&mut self.early);
                out.extend(entries);
            }
            Some(false) => self.early = Vec::new(),
            None => self.early.extend(entries),
        }
    }

    fn content(&mut self, came: Came, part: StreamPart) -> (DumpContent, Bytes) {
        match part {
            StreamPart::Message(MessageKind::Heartbeat, octets) => (DumpContent::Heartbeat, octets),
            StreamPart::Message(MessageKind::Context, octets) => {
                let content = match ContextMessage::parse(&octets[HEADER_BYTES..]) {
                    Some(context) => DumpContent::Context {
                        interval_s: context.heartbeat.interval_s,
                        dead_factor: context.heartbeat.dead_factor,
                    },
                    None => DumpContent::Broken("no context message".to_owned()),
                };
                (content, octets)
            }
            StreamPart::Message(MessageKind::Pdu, octets) => {
                self.learn(came.sender, &octets.slice(HEADER_BYTES..));
                let KnownAssociation { service, version } = self.association;
                let pdu = annotate(service, version, came.sender, &octets);
                (DumpContent::Pdu(Box::new(pdu)), octets)
            }
            StreamPart::Urgent { octet, is_certain } => {
                let diagnostic = PeerAbortDiagnostic::from_octet(octet);
                (DumpContent::PeerAbort { diagnostic, is_certain }, vec![octet].into())
            }
            StreamPart::Broken(why) => (DumpContent::Broken(why), Bytes::new()),
            StreamPart::Skipped(octets) => (DumpContent::Skipped(octets), Bytes::new()),
            StreamPart::Lost(octets) => (DumpContent::Lost(octets), Bytes::new()),
        }
    }

    /// Takes service and version from BIND and its return.
    fn learn(&mut self, sender: AssociationRole, octets: &Bytes) {
        if sender == AssociationRole::Provider {
            return;
        }
        if let Ok((_, bind)) = decode_bind(octets) {
            let service = Some(DumpService::of_number(bind.service));
            self.association = KnownAssociation { service, version: Some(bind.version) };
        } else if self.association.service.is_none() && csts::codec::decode_bind(octets).is_ok() {
            self.association.service = Some(DumpService::Csts);
        }
    }

    /// Joins a return with its invocation, once the entry has its number.
    pub(super) fn join(&mut self, entry: &mut DumpEntry) {
        let DumpContent::Pdu(pdu) = &mut entry.content else { return };
        let Some(invoke_id) = pdu.invoke_id else { return };
        let sender = index(entry.sender);
        if pdu.operation.ends_with("return") {
            let invoked = self.open.remove(&(1 - sender, invoke_id));
            pdu.answers = invoked.map(|(number, at_ns)| AnsweredInvocation {
                number,
                after_ns: entry.at_ns.saturating_sub(at_ns),
            });
        } else {
            self.open.insert((sender, invoke_id), (entry.number, entry.at_ns));
        }
    }
}
