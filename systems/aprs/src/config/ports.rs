//! Directives about addresses: ports, uplinks, peers, HTTP.

use super::endpoints::{
    Listener, Peer, PeerGroup, PortKind, Protocol, TlsFiles, Uplink, UplinkKind,
};
use super::fault::{Fault, Position};
use super::lines::{LocatedFault, Word};
use super::reader::Reader;
use super::value;
use crate::filter::Filter;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

const LISTEN: &str = "Listen NAME KIND PROTOCOL ADDRESS PORT [filter \"FILTERS\"] \
    [maxclients N] [acl FILE] [hidden] [tlskey FILE tlscert FILE [tlsca FILE] [tlscrl FILE]]";
const UPLINK: &str = "Uplink NAME KIND tcp HOST PORT \
    [tlskey FILE tlscert FILE] [tlsca FILE] [tlscrl FILE]";
const PEER_GROUP: &str = "PeerGroup NAME udp LOCAL:PORT CALLSIGN ADDRESS:PORT ...";
/// Default limit of clients of a port.
const CLIENTS_MAX: usize = 200;

/// `word` with `fault`, where it stands.
fn at<T>(word: &Word, result: Result<T, Fault>) -> Result<T, LocatedFault> {
    result.map_err(|fault| (word.at, fault))
}

pub(super) fn listen(
    reader: &mut Reader<'_>,
    name: &Word,
    arguments: &[Word],
) -> Result<(), LocatedFault> {
    let [label, kind_word, protocol_word, host, port, options @ ..] = arguments else {
        return Err((name.at, Fault::TooFew { directive: "Listen", usage: LISTEN }));
    };
    let kind = at(kind_word, port_kind(&kind_word.text))?;
    let protocol = at(protocol_word, port_protocol(&protocol_word.text))?;
    if (kind == PortKind::UdpSubmit) && protocol != Protocol::Udp {
        let (option, of) =
            (protocol_word.text.clone(), "a udpsubmit port, which has udp".to_owned());
        return Err((protocol_word.at, Fault::NotFor { option, of }));
    }
    let address = socket(reader, host, port)?;
    let udp = matches!(protocol, Protocol::Udp);
    let transport = match protocol {
        Protocol::Udp => "udp",
        Protocol::Sctp => "sctp",
        Protocol::Tcp | Protocol::WebSocket => "tcp",
    };
    take(reader, transport, address, port.at)?;
    let mut listener = Listener {
        name: label.text.clone(),
        kind,
        protocol,
        address,
        filter: None,
        clients_max: CLIENTS_MAX,
        acl: None,
        hidden: kind == PortKind::DupeFeed,
        tls: None,
    };
    listen_options(reader, &mut listener, kind_word, options)?;
    if kind == PortKind::UdpSubmit {
        listener.clients_max = 1;
    }
    if let Some(tls) = &listener.tls {
        if udp || protocol == Protocol::Sctp {
            let option = "TLS".to_owned();
            let of = format!("a port with {}", protocol_word.text);
            return Err((protocol_word.at, Fault::NotFor { option, of }));
        }
        at(label, key_with_certificate(tls, true))?;
    }
    reader.config.listeners.push(Arc::new(listener));
    Ok(())
}

fn listen_options(
    reader: &mut Reader<'_>,
    listener: &mut Listener,
    kind_word: &Word,
    options: &[Word],
) -> Result<(), LocatedFault> {
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let lower = option.text.to_ascii_lowercase();
        match lower.as_str() {
            "hidden" => listener.hidden = true,
            "maxclients" => {
                let word = value_of(option, rest.next())?;
                let clients = at(word, value::number(&word.text, 0, 10_000_000))?;
                listener.clients_max = usize::try_from(clients).unwrap_or(usize::MAX);
            }
            "acl" => {
                let word = value_of(option, rest.next())?;
                if listener.acl.is_some() {
                    return Err((option.at, Fault::OptionTwice { option: lower }));
                }
                listener.acl = reader.acl(word)?;
            }
            "filter" => {
                let word = value_of(option, rest.next())?;
                at(word, check_filter(&word.text))?;
                if !matches!(listener.kind, PortKind::Igate | PortKind::ClientOnly) {
                    let of = format!("a {} port", kind_word.text);
                    reader.warn(option.at, Fault::Meaningless { option: lower, of });
                    continue;
                }
                listener.filter = Some(match listener.filter.take() {
                    Some(filter) => format!("{filter} {}", word.text.trim()),
                    None => word.text.trim().to_owned(),
                });
            }
            _ => {
                let Some(slot) = tls_slot(&lower, &mut listener.tls) else {
                    let option_text = option.text.clone();
                    let fault = Fault::UnknownOption { option: option_text, usage: LISTEN };
                    return Err((option.at, fault));
                };
                tls_file(slot, option, rest.next())?;
            }
        }
    }
    Ok(())
}

fn value_of<'w>(option: &Word, value: Option<&'w Word>) -> Result<&'w Word, LocatedFault> {
    value.ok_or_else(|| (option.at, Fault::OptionValue { option: option.text.clone() }))
}

fn check_filter(text: &str) -> Result<(), Fault> {
    if text.trim().is_empty() {
        return Err(Fault::BadFilter { reason: "there is none".to_owned() });
    }
    let checked = Filter::parse(text);
    checked.map(drop).map_err(|error| Fault::BadFilter { reason: error.to_string() })
}

/// The setting that a TLS option's file is for. aprsc's former option names begin with `ssl`.
fn tls_slot<'t>(option: &str, tls: &'t mut Option<TlsFiles>) -> Option<&'t mut Option<PathBuf>> {
    let what = option.strip_prefix("tls").or_else(|| option.strip_prefix("ssl"))?;
    if !matches!(what, "key" | "cert" | "ca" | "crl") {
        return None;
    }
    let files = tls.get_or_insert_default();
    Some(match what {
        "key" => &mut files.key,
        "cert" => &mut files.certificate,
        "ca" => &mut files.ca,
        _ => &mut files.crl,
    })
}

fn tls_file(
    slot: &mut Option<PathBuf>,
    option: &Word,
    value: Option<&Word>,
) -> Result<(), LocatedFault> {
    let word = value_of(option, value)?;
    if slot.is_some() {
        return Err((option.at, Fault::OptionTwice { option: option.text.clone() }));
    }
    *slot = Some(PathBuf::from(&word.text));
    Ok(())
}

/// A key is of no use without its certificate. A port needs both; an uplink may have neither, and
/// is then only checked itself.
fn key_with_certificate(tls: &TlsFiles, both: bool) -> Result<(), Fault> {
    match (&tls.key, &tls.certificate) {
        (Some(_), None) => Err(Fault::HalfTls { missing: "tlscert" }),
        (None, Some(_)) => Err(Fault::HalfTls { missing: "tlskey" }),
        (None, None) if both => Err(Fault::HalfTls { missing: "both" }),
        _ => Ok(()),
    }
}

fn port_kind(text: &str) -> Result<PortKind, Fault> {
    match text.to_ascii_lowercase().as_str() {
        "fullfeed" => Ok(PortKind::FullFeed),
        "igate" | "userfilter" => Ok(PortKind::Igate),
        "clientonly" => Ok(PortKind::ClientOnly),
        "dupefeed" => Ok(PortKind::DupeFeed),
        "udpsubmit" => Ok(PortKind::UdpSubmit),
        _ => Err(Fault::BadValue {
            value: text.to_owned(),
            what: "kind of port",
            expected: "fullfeed, igate, clientonly, dupefeed or udpsubmit",
        }),
    }
}

fn port_protocol(text: &str) -> Result<Protocol, Fault> {
    match text.to_ascii_lowercase().as_str() {
        "tcp" => Ok(Protocol::Tcp),
        "udp" => Ok(Protocol::Udp),
        "sctp" => Ok(Protocol::Sctp),
        "websocket" => Ok(Protocol::WebSocket),
        _ => Err(Fault::BadValue {
            value: text.to_owned(),
            what: "protocol of a port",
            expected: "tcp, udp, sctp or websocket",
        }),
    }
}

/// The first address of `host`, with a warning where there are more of them.
fn one_address(reader: &mut Reader<'_>, host: &Word) -> Result<IpAddr, LocatedFault> {
    let found = at(host, value::addresses(&host.text, reader.resolve()))?;
    let Some(first) = found.first().copied() else {
        let reason = "the name has none".to_owned();
        return Err((host.at, Fault::NoAddress { host: host.text.clone(), reason }));
    };
    if found.len() > 1 {
        let (count, used) = (found.len(), first.to_string());
        reader.warn(host.at, Fault::ManyAddresses { host: host.text.clone(), count, used });
    }
    Ok(first)
}

fn socket(reader: &mut Reader<'_>, host: &Word, port: &Word) -> Result<SocketAddr, LocatedFault> {
    let port = at(port, value::port(&port.text))?;
    Ok(SocketAddr::new(one_address(reader, host)?, port))
}

/// Two ports on one address cannot both be listened on. The kernel's choice is always another one.
fn take(
    reader: &mut Reader<'_>,
    transport: &str,
    address: SocketAddr,
    position: Position,
) -> Result<(), LocatedFault> {
    if address.port() == 0 {
        return Ok(());
    }
    let key = format!("{transport} {address}");
    match reader.taken.insert(key.clone(), position.line) {
        None => Ok(()),
        Some(first) => Err((position, Fault::DuplicateAddress { address: key, first })),
    }
}

pub(super) fn uplink(
    reader: &mut Reader<'_>,
    name: &Word,
    arguments: &[Word],
) -> Result<(), LocatedFault> {
    let [label, kind_word, protocol_word, host, port, options @ ..] = arguments else {
        return Err((name.at, Fault::TooFew { directive: "Uplink", usage: UPLINK }));
    };
    let kind = match kind_word.text.to_ascii_lowercase().as_str() {
        "full" => UplinkKind::Full,
        "ro" => UplinkKind::ReadOnly,
        "multiro" => UplinkKind::MultiReadOnly,
        _ => {
            let (value, what) = (kind_word.text.clone(), "kind of uplink");
            let expected = "full, ro or multiro";
            return Err((kind_word.at, Fault::BadValue { value, what, expected }));
        }
    };
    let protocol = match protocol_word.text.to_ascii_lowercase().as_str() {
        "tcp" => Protocol::Tcp,
        "sctp" => Protocol::Sctp,
        _ => {
            let (value, what) = (protocol_word.text.clone(), "protocol of an uplink");
            let expected = "tcp or sctp (servers that exchange by UDP are a PeerGroup)";
            return Err((protocol_word.at, Fault::BadValue { value, what, expected }));
        }
    };
    if host.text.is_empty() {
        let reason = "the name is empty".to_owned();
        return Err((host.at, Fault::NoAddress { host: host.text.clone(), reason }));
    }
    let number = at(port, value::number(&port.text, 1, 65_535))?;
    let mut tls = None;
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let Some(slot) = tls_slot(&option.text.to_ascii_lowercase(), &mut tls) else {
            let fault = Fault::UnknownOption { option: option.text.clone(), usage: UPLINK };
            return Err((option.at, fault));
        };
        tls_file(slot, option, rest.next())?;
    }
    if let Some(tls) = &tls {
        at(label, key_with_certificate(tls, false))?;
        if protocol == Protocol::Sctp {
            let (option, of) = ("TLS".to_owned(), "an uplink with sctp".to_owned());
            return Err((protocol_word.at, Fault::NotFor { option, of }));
        }
    }
    reader.config.uplinks.push(Arc::new(Uplink {
        name: label.text.clone(),
        kind,
        protocol,
        host: host.text.trim_matches(['[', ']']).to_owned(),
        port: u16::try_from(number).unwrap_or(u16::MAX),
        tls,
    }));
    Ok(())
}

pub(super) fn uplink_bind(
    reader: &mut Reader<'_>,
    name: &Word,
    arguments: &[Word],
) -> Result<(), LocatedFault> {
    if arguments.is_empty() {
        let usage = "UplinkBind ADDRESS";
        return Err((name.at, Fault::TooFew { directive: "UplinkBind", usage }));
    }
    for word in arguments {
        let address = one_address(reader, word)?;
        // The last of each family counts, as in aprsc.
        reader.config.uplink_bind.retain(|known| known.is_ipv4() != address.is_ipv4());
        reader.config.uplink_bind.push(address);
    }
    Ok(())
}

pub(super) fn http(
    reader: &mut Reader<'_>,
    name: &Word,
    arguments: &[Word],
    upload: bool,
) -> Result<(), LocatedFault> {
    let (directive, usage) = if upload {
        ("HTTPUpload", "HTTPUpload ADDRESS PORT")
    } else {
        ("HTTPStatus", "HTTPStatus ADDRESS PORT")
    };
    let [host, port, rest @ ..] = arguments else {
        return Err((name.at, Fault::TooFew { directive, usage }));
    };
    reader.spare(rest, usage);
    let address = socket(reader, host, port)?;
    take(reader, "tcp", address, port.at)?;
    if upload {
        reader.config.http_upload.push(address);
    } else {
        reader.config.http_status.push(address);
    }
    Ok(())
}

pub(super) fn peer_group(
    reader: &mut Reader<'_>,
    name: &Word,
    arguments: &[Word],
) -> Result<(), LocatedFault> {
    let [label, protocol, local_word, pairs @ ..] = arguments else {
        return Err((name.at, Fault::TooFew { directive: "PeerGroup", usage: PEER_GROUP }));
    };
    if protocol.text.eq_ignore_ascii_case("sctp") {
        // aprsc's parser accepts the word, so a file that has it must not keep us from serving.
        let (value, what) = (protocol.text.clone(), "protocol of a peer group");
        reader.warn(protocol.at, Fault::NotServed { value, what, expected: "udp" });
        return Ok(());
    }
    if !protocol.text.eq_ignore_ascii_case("udp") {
        let (value, what) = (protocol.text.clone(), "protocol of a peer group");
        return Err((protocol.at, Fault::BadValue { value, what, expected: "udp" }));
    }
    let local = at(local_word, value::socket_address(&local_word.text, reader.resolve()))?;
    take(reader, "udp", local, local_word.at)?;
    let mut peers: Vec<Peer> = Vec::new();
    for pair in pairs.chunks(2) {
        let [call, word] = pair else {
            let option = pair.first().map_or(String::new(), |call| call.text.clone());
            let position = pair.first().map_or(name.at, |call| call.at);
            return Err((position, Fault::OptionValue { option }));
        };
        let server_id = at(call, value::callsign(&call.text, 1))?;
        let address = at(word, value::socket_address(&word.text, reader.resolve()))?;
        if address.is_ipv4() != local.is_ipv4() {
            let (address, local) = (word.text.clone(), local_word.text.clone());
            return Err((word.at, Fault::PeerFamily { address, local }));
        }
        // Our own address is left out, so that all servers of a group can have the same line.
        if address == local {
            continue;
        }
        let known = reader.config.peer_groups.iter().flat_map(|group| &group.peers).chain(&peers);
        if known.into_iter().any(|peer| peer.address == address) {
            let fault = Fault::DuplicateAddress { address: word.text.clone(), first: name.at.line };
            return Err((word.at, fault));
        }
        peers.push(Peer { server_id, address });
    }
    reader.config.peer_groups.push(Arc::new(PeerGroup { name: label.text.clone(), local, peers }));
    Ok(())
}
