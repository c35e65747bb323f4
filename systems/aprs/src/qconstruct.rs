//! q construct: how a packet came onto APRS-IS. Servers put it at the end of the packet's path.
//!
//! The rules are those of <http://www.aprs-is.net/qalgorithm.aspx> (June 1, 2012) as aprsc 2.1
//! applies them (`src/parse_qc.c` and its tests `20qconstr` to `24qconstr`). Where the two differ,
//! aprsc is followed, since its packets and ours meet in the same loops; each such place says so.
//! What is here and in neither: a packet of an uplink never becomes `qAC` of this server, even where
//! its source is the uplink's own callsign.
//!
//! Not here: whether the path's elements are valid (the packet's parser checks it), and whether the
//! packet still fits 512 octets with its new path (the packet's builder).

use crate::callsign::{Callsign, has_valid_ssid};
use crate::packet::{DropReason, Parsed};
use smallvec::SmallVec;
use std::net::IpAddr;

/// An outgoing path: without the comma after the destination, with the q construct.
pub type Path = SmallVec<[u8; 128]>;

/// Kind of connection that a packet came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Via {
    /// A client of a port in both directions, by TCP, SCTP, WebSocket or its own datagrams.
    Client,
    /// A client of a port `clientonly`.
    ClientOnly,
    /// A datagram with a login in it.
    UdpSubmit,
    /// An upload by HTTP.
    HttpUpload,
    /// A server that this one connected to.
    Uplink,
    /// A core peer.
    Peer,
}

/// Facts about the arrival of a packet that the rules need.
#[derive(Clone, Copy)]
pub struct Arrival<'a> {
    /// This server's callsign.
    pub server: Callsign,
    /// Kind of connection.
    pub via: Via,
    /// The client's login; the callsign of the server at the other end of an uplink, or of the peer.
    pub login: Callsign,
    /// The client showed that the callsign is its own.
    pub verified: bool,
    /// Address of the other side.
    pub remote: IpAddr,
    /// The letter of the protocol in the q constructs that this server makes: `A` on APRS-IS.
    pub q_protocol: u8,
    /// Packets with q constructs of other protocols are dropped.
    pub disallow_other_q_protocols: bool,
    /// Packets of clients that are not verified are taken, as `qAX`, where they are their own.
    pub allow_unverified: bool,
    /// Whether somebody is logged in to this server by that callsign, verified, over another
    /// connection than this one.
    pub is_other_verified_login: &'a dyn Fn(&[u8]) -> bool,
}

/// The outgoing path of `parsed`.
///
/// # Errors
/// The reason to drop the packet: `Unverified`, `QProtocol`, or one of the other reasons whose
/// names begin with `Q`; `NoQConstruct` for a peer's packet without one.
pub fn process(parsed: &Parsed<'_>, arrival: &Arrival<'_>) -> Result<Path, DropReason> {
    let own = parsed.source == arrival.login.as_bytes();
    let split = Split::of(parsed.path);
    if arrival.via.is_inbound() {
        inbound(parsed, &split, arrival, own)
    } else {
        outbound(parsed, &split, arrival)
    }
}

impl Via {
    /// Whether the peer connected to this server, and not the other way round.
    const fn is_inbound(self) -> bool {
        !matches!(self, Self::Uplink | Self::Peer)
    }
}

/// A path as received, in its parts.
struct Split<'a> {
    /// The part before the q construct; all where there is none.
    digis: &'a [u8],
    /// The q construct, if it is one.
    q: Option<Q<'a>>,
}

/// A q construct with one callsign after it at least.
#[derive(Clone, Copy)]
struct Q<'a> {
    protocol: u8,
    kind: u8,
    /// The callsigns after it with their commas.
    calls: &'a [u8],
}

impl<'a> Split<'a> {
    /// "If a q construct is last in the path (no call following the qPT) delete the qPT": so it is
    /// with anything from the first element on that begins with `q`, if it is no q construct.
    fn of(path: &'a [u8]) -> Self {
        let mut at = 0;
        for element in path.split(|octet| *octet == b',') {
            if element.first() == Some(&b'q') {
                let digis = &path[..at.max(1) - 1];
                let calls = path.get(at + 4..).unwrap_or_default();
                let q = match element {
                    [_, protocol, kind] if calls.first().is_some_and(|octet| *octet != b',') => {
                        Some(Q { protocol: *protocol, kind: *kind, calls })
                    }
                    _ => None,
                };
                return Self { digis, q };
            }
            at += element.len() + 1;
        }
        Self { digis: path, q: None }
    }

    /// Splits a path that ends in `,VIACALL,I`: the part before VIACALL, and VIACALL. `None` where
    /// it ends otherwise, `Some(None)` where `I` is all.
    fn old_gate(&self) -> Option<Option<(&'a [u8], &'a [u8])>> {
        if self.digis == b"I" {
            return Some(None);
        }
        let path = self.digis.strip_suffix(b",I")?;
        let comma = path.iter().rposition(|octet| *octet == b',');
        Some(Some(comma.map_or((&[][..], path), |at| (&path[..at], &path[at + 1..]))))
    }
}

impl<'a> Q<'a> {
    fn each(&self) -> impl Iterator<Item = &'a [u8]> + Clone {
        self.calls.split(|octet| *octet == b',').filter(|call| !call.is_empty())
    }
}

/// "All packets from an inbound connection that would normally be passed per current validation
/// algorithm".
fn inbound(
    parsed: &Parsed<'_>,
    split: &Split<'_>,
    arrival: &Arrival<'_>,
    own: bool,
) -> Result<Path, DropReason> {
    let server = arrival.server.as_bytes();
    if !arrival.verified {
        return unverified(split, arrival, own);
    }
    if arrival.via == Via::UdpSubmit {
        let digis = split.digis;
        let has_tcpip = digis == b"TCPIP*" || digis.ends_with(b",TCPIP*");
        let tcpip: &[u8] = if has_tcpip { b"" } else { b"TCPIP*" };
        return Ok(join(&[digis, tcpip], arrival.q_protocol, b'U', server));
    }
    let is_trace = split.q.is_some_and(|q| q.kind == b'I');
    if own && !is_trace {
        // Not in the algorithm: the path of a client's own packet is replaced, as with javAPRSSrvr.
        return Ok(join(&[b"TCPIP*"], arrival.q_protocol, b'C', server));
    }
    if arrival.via == Via::ClientOnly {
        if own {
            return Ok(join(&[split.digis], arrival.q_protocol, b'C', server));
        }
        return client_only(parsed, split, arrival);
    }
    if let Some(q) = split.q {
        return checked(parsed, split.digis, q, arrival);
    }
    match split.old_gate() {
        Some(None) => Err(DropReason::QNoVia),
        Some(Some((digis, via))) => {
            let is_login = via.eq_ignore_ascii_case(arrival.login.as_bytes());
            let kind = if is_login { b'R' } else { b'r' };
            Ok(join(&[digis], arrival.q_protocol, kind, via))
        }
        None => Ok(join(&[split.digis], arrival.q_protocol, b'S', arrival.login.as_bytes())),
    }
}

/// "If the packet entered the server from an unverified connection AND the FROMCALL equals the
/// client login […]: if a q construct with a single call exists in the packet, replace the q
/// construct with ,qAX,SERVERLOGIN, else if more than a single call exists after the q construct,
/// invalid header, drop packet as error, else append ,qAX,SERVERLOGIN." The path before it is
/// replaced too, with `TCPXX*`, which is what was once called the TCPXX format.
fn unverified(split: &Split<'_>, arrival: &Arrival<'_>, own: bool) -> Result<Path, DropReason> {
    if !(arrival.allow_unverified && own) || arrival.via == Via::UdpSubmit {
        return Err(DropReason::Unverified);
    }
    if split.q.is_some_and(|q| q.each().count() > 1) {
        return Err(DropReason::QManyUnverified);
    }
    Ok(join(&[b"TCPXX*"], arrival.q_protocol, b'X', arrival.server.as_bytes()))
}

/// "If the packet entered the server from a verified client-only connection AND the FROMCALL does
/// not match the login: if a q construct exists in the path: if the q construct equals
/// ,qAR,callsignssid or ,qAr,callsignssid, replace qAR or qAr with qAo, else if the q construct
/// equals ,qAS,callsignssid, replace qAS with qAO, else if the q construct equals ,qAC,callsignssid
/// and callsignssid is not equal to the servercall or login, replace qAC with qAO; else if the path
/// is terminated with ,callsignssid,I, replace ,callsignssid,I with qAo,callsignssid, else append
/// ,qAO,login."
///
/// aprsc replaces every qAC; where its callsign is the server's the packet is dropped afterwards as
/// a loop, and with the login's it is the client's word that it heard the packet itself.
fn client_only(
    parsed: &Parsed<'_>,
    split: &Split<'_>,
    arrival: &Arrival<'_>,
) -> Result<Path, DropReason> {
    if let Some(mut q) = split.q {
        if q.protocol == arrival.q_protocol {
            q.kind = match q.kind {
                b'R' | b'r' => b'o',
                b'S' | b'C' => b'O',
                other => other,
            };
        }
        return checked(parsed, split.digis, q, arrival);
    }
    if let Some(Some((digis, via))) = split.old_gate() {
        return Ok(join(&[digis], arrival.q_protocol, b'o', via));
    }
    Ok(join(&[split.digis], arrival.q_protocol, b'O', arrival.login.as_bytes()))
}

/// "If packet entered the server from an outbound connection […] and no q construct exists in the
/// header: if header is terminated with ,I: change from ,VIACALL,I to ,qAr,VIACALL, else append
/// ,qAS,IPADDR (IPADDR is an 8 character hex representation of the IP address of the remote
/// server)." 32 characters for IPv6. Peers are servers, whose packets always have one.
fn outbound(
    parsed: &Parsed<'_>,
    split: &Split<'_>,
    arrival: &Arrival<'_>,
) -> Result<Path, DropReason> {
    if let Some(q) = split.q {
        return checked(parsed, split.digis, q, arrival);
    }
    if arrival.via == Via::Peer {
        return Err(DropReason::NoQConstruct);
    }
    match split.old_gate() {
        Some(None) => Err(DropReason::QNoVia),
        Some(Some((digis, via))) => Ok(join(&[digis], arrival.q_protocol, b'r', via)),
        None => {
            let address = hexadecimal(arrival.remote);
            Ok(join(&[split.digis], arrival.q_protocol, b'S', address.as_bytes()))
        }
    }
}

/// "All packets with q constructs". Those that this server made just now are not checked again, as
/// with aprsc: with `,VIACALL,I` a gateway may name another one that is logged in here.
fn checked(
    parsed: &Parsed<'_>,
    digis: &[u8],
    q: Q<'_>,
    arrival: &Arrival<'_>,
) -> Result<Path, DropReason> {
    let login = arrival.login.as_bytes();
    if arrival.disallow_other_q_protocols && q.protocol != arrival.q_protocol {
        return Err(DropReason::QProtocol);
    }
    if q.protocol == arrival.q_protocol {
        match q.kind {
            b'Z' => return Err(DropReason::QServerOnly),
            b'X' if !arrival.allow_unverified => return Err(DropReason::QNotVerified),
            _ => {}
        }
    }
    if q.each().any(|call| call == arrival.server.as_bytes()) {
        return Err(DropReason::QOwnCall);
    }
    // An empty callsign behind the last one.
    if q.calls.ends_with(b",") {
        return Err(DropReason::QInvalidCall);
    }
    let mut calls = q.each();
    let mut login_in_path = false;
    while let Some(call) = calls.next() {
        if calls.clone().any(|other| other == call) {
            return Err(DropReason::QCallTwice);
        }
        if call.eq_ignore_ascii_case(login) {
            login_in_path = true;
            if arrival.via.is_inbound() && calls.clone().next().is_some() {
                return Err(DropReason::QLoginNotLast);
            }
        } else if (arrival.is_other_verified_login)(call) {
            return Err(DropReason::QCallIsLocal);
        } else if !has_valid_ssid(call) {
            return Err(DropReason::QInvalidCall);
        }
        if q.kind == b'U' && call == parsed.source {
            return Err(DropReason::QUdpIsSource);
        }
    }
    let mut path = join(&[digis], q.protocol, q.kind, q.calls);
    if q.protocol == arrival.q_protocol && q.kind == b'I' {
        trace(&mut path, login_in_path, arrival);
    }
    Ok(path)
}

/// "If […] the q construct is qAI […]: if the packet is from a verified port where the login is not
/// found after the q construct: append ,login, else if the packet is from an outbound connection
/// append ,IPADDR. Append ,SERVERLOGIN." aprsc appends the other server's callsign, which it knows
/// from its greeting, and no address.
fn trace(path: &mut Path, login_in_path: bool, arrival: &Arrival<'_>) {
    if !login_in_path && (arrival.verified || !arrival.via.is_inbound()) {
        path.push(b',');
        path.extend_from_slice(arrival.login.as_bytes());
    }
    path.push(b',');
    path.extend_from_slice(arrival.server.as_bytes());
}

/// `digis` that are not empty, the q construct, and what follows it, with commas between.
fn join(digis: &[&[u8]], protocol: u8, kind: u8, calls: &[u8]) -> Path {
    let mut path = Path::new();
    for part in digis.iter().filter(|part| !part.is_empty()) {
        path.extend_from_slice(part);
        path.push(b',');
    }
    path.extend_from_slice(&[b'q', protocol, kind, b',']);
    path.extend_from_slice(calls);
    path
}

fn hexadecimal(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => format!("{:08X}", address.to_bits()),
        IpAddr::V6(address) => format!("{:032X}", address.to_bits()),
    }
}

#[cfg(test)]
mod tests;
