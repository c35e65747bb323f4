//! Delivery: from packets to the clients that get them.

use super::block::{Block, Routed, Side};
use super::client::{Client, Door};
use super::flush::Class;
use super::meter::Total;
use super::seam::{DatagramPort, Now, Output};
use super::server::Server;
use super::subscription::Subscription;
use super::worker::Worker;
use crate::config::PortKind;
use crate::filter::ClientSlot;
use crate::recording::{self, ClientClass};
use crate::status::Traffic;

/// Prefix of each packet of a duplicate feed.
const DUPLICATE_PREFIX: &[u8] = b"dup\t";

impl Worker {
    /// Hands a block's packets to this worker's clients.
    pub(super) fn deliver(&mut self, now: Now, block: &Block, out: &mut impl Output) {
        for name in &block.forgotten {
            self.filters.moved(name.as_bytes(), None);
        }
        for routed in &block.packets {
            if routed.duplicate {
                self.deliver_duplicate(routed);
            } else {
                self.deliver_packet(now, routed, out);
            }
        }
    }

    fn deliver_duplicate(&mut self, routed: &Routed) {
        if let Some(slot) = self.slot(routed.origin) {
            let client = &mut self.clients[slot];
            client.counted.duplicates += 1;
            client.count(&self.server, &Traffic { duplicates: 1, ..Traffic::default() });
        } else if let Some(peer) = self.peers.all.iter_mut().find(|peer| peer.conn == routed.origin)
        {
            peer.counted.duplicates += 1;
        }
        if self.joined[Class::Duplicates as usize] > 0 {
            let pieces: [&[u8]; 2] = [DUPLICATE_PREFIX, &routed.packet.line];
            let number = self.duplicate_feed.push(pieces, routed.arrived_ns);
            self.turns[Class::Duplicates as usize].came(number, routed.arrived_ns);
        }
    }

    fn deliver_packet(&mut self, now: Now, routed: &Routed, out: &mut impl Output) {
        let trace = &routed.trace;
        let origin = self.slot(routed.origin);
        let doing = recording::filter(trace);
        if let Some(moved) = &routed.moved {
            self.filters.moved(moved.name.as_bytes(), moved.position);
        }
        let mut matched = std::mem::take(&mut self.matched);
        matched.clear();
        self.filters.matches(&routed.packet, routed.facts, &mut matched);
        self.interested(now, routed, &mut matched);
        drop(doing);
        let to_uplinks = routed.side == Side::Downstream && !self.uplinks.is_empty();
        let full = self.joined[Class::Full as usize];
        let has_readers = full > 0 || !matched.is_empty() || to_uplinks;
        if has_readers {
            let number = self.feed.push([&routed.packet.line, b""], routed.arrived_ns);
            self.turns[Class::Full as usize].came(number, routed.arrived_ns);
            self.list(number, origin, routed, &matched, out);
        }
        self.matched = matched;
        for at in 0..self.full_by_udp.len() {
            let slot = self.full_by_udp[at];
            if Some(slot) != origin {
                self.send(slot, routed, out);
            }
        }
        if routed.side == Side::Downstream && !self.peers.is_empty() {
            self.send_to_peers(routed, out);
        }
    }

    /// Notes a packet for all clients that it waits for in the feed.
    fn list(
        &mut self,
        number: u64,
        origin: Option<usize>,
        routed: &Routed,
        matched: &[ClientSlot],
        out: &mut impl Output,
    ) {
        let trace = &routed.trace;
        let mut own_is_full = false;
        if let Some(slot) = origin
            && let Subscription::Full { next, own } = &mut self.clients[slot].subscription
        {
            // Its own packet is never next: otherwise it would wait without anything to send.
            if *next == number {
                *next += 1;
            } else {
                own.push(number);
            }
            own_is_full = true;
        }
        if self.joined[Class::Full as usize] > usize::from(own_is_full) {
            self.writes[Class::Full as usize].wait(trace, ClientClass::FullFeed, number);
        }
        let arrived_ns = routed.arrived_ns;
        let mut filtered = false;
        for ClientSlot(slot) in matched {
            let slot = *slot as usize;
            if Some(slot) == origin {
                continue;
            }
            match &self.clients[slot].subscription {
                Subscription::Listed(_) => {
                    filtered = true;
                    self.note(slot, Class::Filtered, number, arrived_ns);
                }
                Subscription::Datagrams { .. } => self.send(slot, routed, out),
                Subscription::Nothing
                | Subscription::Full { .. }
                | Subscription::Duplicates { .. } => {}
            }
        }
        if filtered {
            self.writes[Class::Filtered as usize].wait(trace, ClientClass::Filtered, number);
        }
        if routed.side == Side::Downstream && !self.uplinks.is_empty() {
            for at in 0..self.uplinks.len() {
                self.note(self.uplinks[at], Class::Full, number, arrived_ns);
            }
            self.writes[Class::Full as usize].wait(trace, ClientClass::Uplink, number);
        }
    }

    /// Notes the packet `number` for a client that gets some.
    fn note(&mut self, slot: usize, class: Class, number: u64, arrived_ns: u64) {
        let client = &mut self.clients[slot];
        let Subscription::Listed(list) = &mut client.subscription else { return };
        #[allow(clippy::cast_possible_truncation)] // the low half finds it again in the feed
        list.push(number as u32);
        // One to which the kernel takes nothing is written to when it does.
        if !client.outbox.blocked && !std::mem::replace(&mut client.has_turns, true) {
            self.turns[class as usize].enlist(slot, number, arrived_ns);
        }
    }

    /// Adds clients that get a packet whatever their filter passes: a message for them or for a
    /// station they hear, the position of the sender of such a message, a heard station on the
    /// Internet.
    fn interested(&mut self, now: Now, routed: &Routed, matched: &mut Vec<ClientSlot>) {
        let packet = &routed.packet;
        let about = match packet.addressee() {
            Some(addressee) if packet.is_message() => addressee,
            _ => packet.source(),
        };
        for slot in self.interest.of(about) {
            let Some(client) = self.clients.get_mut(slot) else { continue };
            if client.conn == routed.origin || !client.is_igate() || client.is_silent() {
                continue;
            }
            let Some(login) = client.login else { continue };
            let seed = self.server.seed;
            let heard =
                client.heard.get_or_insert_with(|| Box::new(crate::heard::Heard::new(seed)));
            if heard.wants(login.as_bytes(), packet, now.monotonic_ns) {
                let key = ClientSlot::of(slot);
                if !matched.contains(&key) {
                    matched.push(key);
                }
                if packet.is_message() {
                    self.interest.add(packet.source(), slot);
                }
            }
        }
        if self.interest.is_grown() {
            self.interest.rebuild(&self.clients, now.monotonic_ns);
        }
    }

    /// Sends a packet to a client by UDP.
    fn send(&mut self, slot: usize, routed: &Routed, out: &mut impl Output) {
        let client = &mut self.clients[slot];
        let Some((listener, to)) = client.udp.as_deref().copied() else { return };
        let _doing = recording::send(&routed.trace, ClientClass::Udp);
        let line = datagram(routed);
        out.send(DatagramPort::Listener(listener), to, line);
        client.counted.bytes_tx += line.len() as u64;
        client.counted.packets_tx += 1;
        if let Some(port) = self.ports.get(listener) {
            port.gauge.meter.sent(line.len() as u64, 1);
        }
        self.server.total(Total::Udp).sent(line.len() as u64, 1);
    }

    fn send_to_peers(&mut self, routed: &Routed, out: &mut impl Output) {
        let _doing = recording::send(&routed.trace, ClientClass::Peer);
        let line = datagram(routed);
        for peer in &mut self.peers.all {
            out.send(DatagramPort::PeerGroup(peer.group), peer.address, line);
            peer.counted.bytes_tx += line.len() as u64;
            peer.counted.packets_tx += 1;
        }
        let peers = self.peers.all.len() as u64;
        self.server.total(Total::Udp).sent(line.len() as u64 * peers, peers);
    }
}

/// A packet as a datagram: without line end, as with aprsc.
fn datagram(routed: &Routed) -> &[u8] {
    let line = &routed.packet.line;
    line.strip_suffix(b"\r\n").unwrap_or(line)
}

impl Client {
    pub(super) fn is_dupefeed(&self) -> bool {
        self.kind() == Some(PortKind::DupeFeed)
    }

    /// No packets go to it.
    fn is_silent(&self) -> bool {
        matches!(self.subscription, Subscription::Nothing)
    }

    /// Adds the connection's traffic to the sums of its port and protocol.
    pub(super) fn count(&self, server: &Server, traffic: &Traffic) {
        if let Door::Listener { gauge, .. } = &self.door {
            gauge.meter.add(traffic);
        }
        server.total(self.total()).add(traffic);
    }
}
