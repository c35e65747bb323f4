//! Input: parses lines into packets.

use super::block::{Routed, Side};
use super::client::Stage;
use super::lines::ReceivedLine;
use super::login;
use super::meter::Total;
use super::seam::{Close, ConnId, LogLevel, Now, Output};
use super::session::verified_user;
use super::worker::{Dropped, Worker};
use crate::callsign::Callsign;
use crate::config::{PortKind, Protocol};
use crate::filter::{ClientSlot, Facts};
use crate::packet::{self, DropReason, Packet, Unverified};
use crate::qconstruct::{self, Arrival, Via};
use crate::status::{Posted, Traffic};
use crate::{quirks, recording};
use std::net::{IpAddr, SocketAddr};

/// Octets of a dropped line that go into the log of drops.
const DROPPED_LINE_MAX: usize = crate::why::LINE_LEN_MAX;

/// Sender of a packet.
#[derive(Clone, Copy)]
struct Sender {
    conn: ConnId,
    via: Via,
    login: Callsign,
    verified: bool,
    remote: IpAddr,
}

/// A packet that was taken, or a message to this server.
enum Taken {
    Packet(Packet, recording::Trace, bool),
    ToServer(Packet),
    /// A packet of the client's own that goes nowhere, because the client is not verified.
    Unverified(Packet),
}

impl Worker {
    pub(super) fn received(
        &mut self,
        now: Now,
        conn: ConnId,
        mut bytes: &[u8],
        out: &mut impl Output,
    ) {
        let Some(slot) = self.slot(conn) else { return };
        let client = &mut self.clients[slot];
        client.last_read_ns = now.monotonic_ns;
        client.counted.bytes_rx += bytes.len() as u64;
        self.counted.bytes_rx += bytes.len() as u64;
        let mut lines = std::mem::take(&mut client.input);
        while let Some(line) = lines.next(&mut bytes) {
            match line {
                ReceivedLine::Whole(line) => self.line(now, slot, &line, out),
                ReceivedLine::TooLong(line) => self.line_too_long(now, slot, &line, out),
            }
            if self.slot(conn) != Some(slot) {
                break;
            }
        }
        // While the lines were read the client may have gone.
        let counted = std::mem::take(&mut self.counted);
        let Some(client) = self.clients.get_mut(slot).filter(|client| client.conn == conn) else {
            self.server.total(Total::Tcp).add(&counted);
            return;
        };
        let is_endless = lines.is_endless();
        client.input = lines;
        client.count(&self.server, &counted);
        if is_endless {
            self.close(now, slot, Close::Reset, "sends a line without an end", out);
        }
    }

    fn line(&mut self, now: Now, slot: usize, line: &[u8], out: &mut impl Output) {
        match self.clients[slot].stage {
            Stage::Login { .. } => self.login_line(now, slot, line, out),
            Stage::Greeting => self.greeting(now, slot, line, out),
            Stage::Response => self.response(now, slot, line, out),
            Stage::Running if line.len() + 2 > packet::PACKET_LEN_MAX => {
                self.count_packet(slot);
                self.dropped(slot, line, DropReason::TooLong, out);
            }
            Stage::Running if line.starts_with(b"#") => self.comment(now, slot, line, out),
            Stage::Running => self.packet(now, slot, line, out),
        }
    }

    fn line_too_long(&mut self, now: Now, slot: usize, line: &[u8], out: &mut impl Output) {
        match self.clients[slot].stage {
            Stage::Running => {
                self.count_packet(slot);
                self.dropped(slot, line, DropReason::TooLong, out);
            }
            // A login line cut short is better than none: its filter may miss some terms.
            _ => self.line(now, slot, line, out),
        }
    }

    fn count_packet(&mut self, slot: usize) {
        self.clients[slot].counted.packets_rx += 1;
        self.counted.packets_rx += 1;
    }

    fn packet(&mut self, now: Now, slot: usize, line: &[u8], out: &mut impl Output) {
        self.count_packet(slot);
        let client = &self.clients[slot];
        // Input from a duplicate feed is ignored.
        let Some(login) = client.login.filter(|_| !client.is_dupefeed()) else { return };
        let (conn, repairs) = (client.conn, client.quirks.repair);
        let sender = Sender {
            conn,
            via: client.via(),
            login,
            verified: client.verified.is_verified(),
            remote: client.remote.ip(),
        };
        let mut repaired = std::mem::take(&mut self.scratch);
        let taken = if repairs {
            quirks::repair(line, &mut repaired).and_then(|()| self.take(&sender, &repaired))
        } else {
            self.take(&sender, line)
        };
        self.scratch = repaired;
        match taken {
            Ok(Taken::Packet(packet, trace, is_local)) => {
                if is_local {
                    self.log_drop(Some(login), line, DropReason::SourceIsLocal);
                }
                self.heard(now, slot, &packet);
                self.queue(now, sender.conn, Some(login), sender.via, (packet, trace), is_local);
            }
            Ok(Taken::ToServer(packet)) => self.message_to_server(now, slot, &packet, out),
            Ok(Taken::Unverified(packet)) => {
                self.client_is_at(slot, &packet);
                self.dropped(slot, line, DropReason::Unverified, out);
            }
            Err(reason) => self.dropped(slot, line, reason, out),
        }
    }

    /// Parses a line and gives it its q construct.
    fn take(&self, sender: &Sender, line: &[u8]) -> Result<Taken, DropReason> {
        let doing = recording::receive();
        let taken = self.parse(sender, line);
        match taken {
            Ok((packet, is_local)) => {
                let own = packet.source() == sender.login.as_bytes();
                let is_for_us = packet.is_message()
                    && packet.addressee().is_some_and(|to| to.eq_ignore_ascii_case(b"SERVER"));
                match (is_for_us, own) {
                    (true, true) => Ok(Taken::ToServer(packet)),
                    // Messages to SERVER are for the server that the sender is logged in to.
                    (true, false) => Err(DropReason::DisallowedRecipient),
                    (false, true) if !self.may_send(sender) => Ok(Taken::Unverified(packet)),
                    (false, false) if !self.may_send(sender) => Err(DropReason::Unverified),
                    (false, _) => Ok(Taken::Packet(packet, doing.trace(), is_local)),
                }
            }
            Err(reason) => {
                doing.dropped();
                Err(reason)
            }
        }
    }

    fn parse(&self, sender: &Sender, line: &[u8]) -> Result<(Packet, bool), DropReason> {
        let parsed = packet::header(line)?;
        parsed.check(if self.config.disallow_unverified {
            Unverified::Refused
        } else {
            Unverified::Taken
        })?;
        let is_disallowed = |glob: &String| login::glob_matches(glob.as_bytes(), parsed.source);
        if self.config.disallow_source.iter().any(is_disallowed) {
            return Err(DropReason::DisallowedSource);
        }
        if !self.may_send(sender) {
            return Ok((parsed.build(&self.unverified_path())?, false));
        }
        let is_other = |call: &[u8]| self.server.is_other_verified_login(call, sender.conn);
        let arrival = Arrival {
            server: self.config.server_id,
            via: sender.via,
            login: sender.login,
            verified: sender.verified,
            remote: sender.remote,
            q_protocol: self.config.q_protocol,
            disallow_other_q_protocols: self.config.disallow_other_q_protocols,
            allow_unverified: !self.config.disallow_unverified,
            is_other_verified_login: &is_other,
        };
        let path = qconstruct::process(&parsed, &arrival)?;
        if !self.config.disallow_igate.is_empty() && self.is_disallowed_route(&path) {
            return Err(DropReason::DisallowedIgate);
        }
        // A source that is logged in here speaks for itself: a copy from another connection is at
        // best a duplicate, and goes to duplicate feeds.
        let is_local = parsed.source != sender.login.as_bytes() && is_other(parsed.source);
        Ok((parsed.build(&path)?, is_local))
    }

    /// Whether packets of a sender go anywhere. Those of others are parsed all the same: what an
    /// unverified client says of its position is for its own filter, and it may give this server
    /// commands by message. So faults of a packet are counted before that its sender is unverified.
    fn may_send(&self, sender: &Sender) -> bool {
        sender.verified || !self.config.disallow_unverified
    }

    /// Path of a packet that goes nowhere: a packet has a q construct.
    fn unverified_path(&self) -> Vec<u8> {
        [b"TCPXX*,qAX,", self.config.server_id.as_bytes()].concat()
    }

    /// A glob of the configuration forbids the q construct of a path, or a callsign after it.
    fn is_disallowed_route(&self, path: &[u8]) -> bool {
        path.split(|octet| *octet == b',')
            .skip_while(|element| !packet::is_q_construct(element))
            .any(|element| self.is_disallowed_igate(element))
    }

    fn is_disallowed_igate(&self, element: &[u8]) -> bool {
        let forbids = |glob: &String| login::glob_matches(glob.as_bytes(), element);
        self.config.disallow_igate.iter().any(forbids)
    }

    /// Notes where a client is, from a packet of its own.
    fn client_is_at(&mut self, slot: usize, packet: &Packet) {
        let client = &mut self.clients[slot];
        if client.is_igate()
            && client.login.is_some_and(|login| login.as_bytes() == packet.source())
            && packet.name.is_none()
            && let Some(position) = packet.position
        {
            client.position = Some(position);
            self.filters.client_moved(ClientSlot::of(slot), position);
        }
    }

    /// Notes that a client hears a packet's source, and where the client itself is.
    fn heard(&mut self, now: Now, slot: usize, packet: &Packet) {
        self.client_is_at(slot, packet);
        let client = &mut self.clients[slot];
        if !client.is_igate() {
            return;
        }
        // What came by the Internet was not heard by radio. But a client may serve several SSIDs of
        // its own callsign, none of them by radio: messages for them go to it.
        let is_of_login = client.login.is_some_and(|login| {
            let source = Callsign::new(packet.source());
            source.is_some_and(|source| source.base() == login.base() && source != login)
        });
        if packet.digis().any(|digi| digi == b"TCPIP*") && !is_of_login {
            return;
        }
        let seed = self.server.seed;
        let heard = client.heard.get_or_insert_with(|| Box::new(crate::heard::Heard::new(seed)));
        heard.heard(packet.source(), now.monotonic_ns);
        self.interest.add(packet.source(), slot);
        if self.interest.is_grown() {
            self.interest.rebuild(&self.clients, now.monotonic_ns);
        }
    }

    fn queue(
        &mut self,
        now: Now,
        origin: ConnId,
        login: Option<Callsign>,
        via: Via,
        (packet, trace): (Packet, recording::Trace),
        duplicate: bool,
    ) {
        let side = match via {
            Via::Uplink | Via::Peer => Side::Upstream,
            _ => Side::Downstream,
        };
        self.batch.push(Routed {
            packet,
            origin,
            login,
            side,
            duplicate,
            facts: Facts::default(),
            moved: None,
            arrived_ns: now.monotonic_ns,
            trace,
        });
    }

    pub(super) fn dropped(
        &mut self,
        slot: usize,
        line: &[u8],
        reason: DropReason,
        out: &mut impl Output,
    ) {
        let client = &mut self.clients[slot];
        client.counted.drop_for(reason);
        self.counted.count_drop(reason.index());
        let (login, remote) = (client.login, client.remote);
        out.log(LogLevel::Debug, format_args!("{remote}: dropped a packet: {}", reason.name()));
        self.log_drop(login, line, reason);
    }

    fn log_drop(&mut self, login: Option<Callsign>, line: &[u8], reason: DropReason) {
        let line = line[..line.len().min(DROPPED_LINE_MAX)].to_vec();
        self.drops.push(Dropped { reason, login, line });
    }

    /// A datagram to one of our UDP ports: a login line and a packet, or several. What comes to a
    /// port that only sends datagrams is left out, as aprsc does.
    pub(super) fn datagram(
        &mut self,
        now: Now,
        listener: usize,
        from: SocketAddr,
        bytes: &[u8],
        out: &mut impl Output,
    ) {
        let Some(port) = self.ports.get(listener).cloned() else { return };
        let mut counted = Traffic { bytes_rx: bytes.len() as u64, ..Traffic::default() };
        let is_submission =
            port.listener.kind == PortKind::UdpSubmit && port.listener.protocol == Protocol::Udp;
        if is_submission {
            let posted = self.submission(now, Via::UdpSubmit, from, bytes, &mut counted);
            if posted != Posted::Accepted {
                out.log(LogLevel::Debug, format_args!("{from}: submission refused: {posted:?}"));
            }
        }
        port.gauge.meter.add(&counted);
        self.server.total(Total::Udp).add(&counted);
    }

    /// A body that was uploaded by HTTP.
    pub(super) fn upload(
        &mut self,
        now: Now,
        from: SocketAddr,
        bytes: &[u8],
        out: &mut impl Output,
    ) -> Posted {
        let mut counted = Traffic { bytes_rx: bytes.len() as u64, ..Traffic::default() };
        let posted = self.submission(now, Via::HttpUpload, from, bytes, &mut counted);
        self.server.total(Total::Tcp).add(&counted);
        if posted != Posted::Accepted {
            out.log(LogLevel::Debug, format_args!("{from}: upload refused: {posted:?}"));
        }
        posted
    }

    fn submission(
        &mut self,
        now: Now,
        via: Via,
        from: SocketAddr,
        bytes: &[u8],
        counted: &mut Traffic,
    ) -> Posted {
        let is_end = |octet: &u8| matches!(octet, b'\r' | b'\n');
        let mut lines = bytes.split(is_end).filter(|line| !line.is_empty());
        let Some(Ok(login)) = lines.next().map(login::parse) else { return Posted::InvalidLogin };
        let call = match verified_user(&self.config, &login) {
            Ok((call, true)) => call,
            Ok((_, false)) => return Posted::NotVerified,
            Err(_) => return Posted::InvalidLogin,
        };
        let Some(line) = lines.next() else { return Posted::TooShort };
        counted.packets_rx += 1;
        // An identifier of no connection: no client is skipped at delivery.
        let conn = ConnId(0);
        let sender = Sender { conn, via, login: call, verified: true, remote: from.ip() };
        let reason = match self.take(&sender, line) {
            Ok(Taken::Packet(packet, trace, is_local)) => {
                if is_local {
                    self.log_drop(Some(call), line, DropReason::SourceIsLocal);
                }
                self.queue(now, conn, Some(call), via, (packet, trace), is_local);
                return Posted::Accepted;
            }
            Ok(Taken::ToServer(_)) => DropReason::DisallowedRecipient,
            Ok(Taken::Unverified(_)) => DropReason::Unverified,
            Err(reason) => reason,
        };
        counted.count_drop(reason.index());
        self.log_drop(Some(call), line, reason);
        match reason {
            DropReason::TooShort => Posted::TooShort,
            DropReason::TooLong => Posted::TooLong,
            reason => Posted::Dropped(reason.name()),
        }
    }

    /// A datagram of a core peer: one packet.
    pub(super) fn peer_datagram(
        &mut self,
        now: Now,
        group: usize,
        from: SocketAddr,
        bytes: &[u8],
        out: &mut impl Output,
    ) {
        let is_end = |octet: &u8| matches!(octet, b'\r' | b'\n');
        let line = bytes.split(is_end).next().unwrap_or_default();
        let mut counted = Traffic { bytes_rx: bytes.len() as u64, ..Traffic::default() };
        let Some(peer) = self.peers.find(group, from) else {
            out.log(LogLevel::Info, format_args!("{from}: datagram from no peer of ours"));
            return;
        };
        peer.last_read = Some(now);
        peer.counted.bytes_rx += bytes.len() as u64;
        let (conn, login) = (peer.conn, peer.server_id);
        if !line.is_empty() && !line.starts_with(b"#") {
            peer.counted.packets_rx += 1;
            counted.packets_rx += 1;
            let sender = Sender { conn, via: Via::Peer, login, verified: true, remote: from.ip() };
            let reason = match self.take(&sender, line) {
                Ok(Taken::Packet(packet, trace, is_local)) => {
                    if is_local {
                        self.log_drop(Some(login), line, DropReason::SourceIsLocal);
                    }
                    self.queue(now, conn, Some(login), Via::Peer, (packet, trace), is_local);
                    None
                }
                Ok(Taken::ToServer(_)) => Some(DropReason::DisallowedRecipient),
                Ok(Taken::Unverified(_)) => Some(DropReason::Unverified),
                Err(reason) => Some(reason),
            };
            if let Some(reason) = reason {
                counted.count_drop(reason.index());
                if let Some(peer) = self.peers.find(group, from) {
                    peer.counted.drop_for(reason);
                }
                self.log_drop(Some(login), line, reason);
            }
        }
        self.server.total(Total::Udp).add(&counted);
    }
}
