//! From a tree of elements to our configuration.

use super::instance::{Port, instance};
use super::names::{AUTH, HASH};
use super::reader::Reader;
use super::xml::Element;
use crate::config::{
    Config, Password, PeerTable, ProviderTable, SecurityTable, TransportTable, UserTable,
};
use crate::exchange::side::spanned;
use crate::exchange::{ExchangeError, ExchangeRole, Imported};

/// Reads a file.
pub(super) fn read(
    mut root: Element,
    role: Option<ExchangeRole>,
) -> Result<Imported, ExchangeError> {
    if root.name != "utl-configuration-file" {
        let why = format!("<{}> instead of <utl-configuration-file>", root.name);
        return Err(ExchangeError::Syntax { line: root.line, why });
    }
    let mut reader = Reader { notes: Vec::new() };
    let missing = || ExchangeError::Missing("there is no <peer-configuration>".to_owned());
    let mut own = root.child("peer-configuration").ok_or_else(missing)?;
    let instances = root.child("service-instances").unwrap_or_default();
    root.rest(&mut reader.notes);
    let id = own
        .attribute("id")
        .ok_or_else(|| ExchangeError::Missing("<peer-configuration> has no id".to_owned()))?;
    let role = match role.or_else(|| role_of(&instances, &id)) {
        Some(role) => role,
        None => {
            let why = format!("no instance has {id:?} as initiator or responder: name a role");
            return Err(ExchangeError::Missing(why));
        }
    };
    let digits = own.attribute("password");
    let password = reader.password(own.line, digits);
    let mut security = SecurityTable::default();
    if let Some(text) = own.attribute("auth-delay") {
        security.delay_s = reader.parsed(own.line, "auth-delay", &text).unwrap_or(security.delay_s);
    }
    let ports = ports(&mut reader, own.child("port-mappings").unwrap_or_default());
    let peers = peers(&mut reader, own.child("remote-peers").unwrap_or_default());
    own.rest(&mut reader.notes);

    let mut config = Config { security, ..Config::default() };
    config.peer = peers.into_iter().map(spanned).collect();
    let mut used = Vec::new();
    for element in instances.children {
        let instance = instance(&mut reader, element, (&id, role), &ports, &mut used);
        let Some((line, instance)) = instance else { continue };
        if config.instance.iter().any(|known| known.get_ref().id == instance.id) {
            reader.lost(line, format!("{} stands there again: the first is taken", instance.id));
            continue;
        }
        config.instance.push(spanned(instance));
    }
    transport(&mut reader, &mut config.transport, &ports, &used);
    match role {
        ExchangeRole::User => {
            config.user = Some(UserTable {
                id,
                password,
                address: None,
                address_csts: None,
                return_timeout_s: 60,
                window: None,
            });
        }
        ExchangeRole::Provider => {
            config.provider = Some(provider(&mut reader, id, password, &ports));
        }
    }
    Ok(Imported { config, templates: Vec::new(), notes: reader.notes })
}

/// The role in which the file's identifier is in an instance.
fn role_of(instances: &Element, id: &str) -> Option<ExchangeRole> {
    let has = |name: &str| {
        instances.children.iter().any(|instance| {
            let mut named = instance.children.iter().filter(|child| child.name == name);
            let is_user = instance
                .children
                .iter()
                .any(|child| child.name == "initiator" && child.text() != "PROVIDER");
            is_user && named.any(|child| child.text() == id)
        })
    };
    match (has("initiator-id"), has("responder-id")) {
        (true, false) => Some(ExchangeRole::User),
        (false, true) => Some(ExchangeRole::Provider),
        _ => None,
    }
}

fn ports(reader: &mut Reader, mut list: Element) -> Vec<Port> {
    let mut ports: Vec<Port> = Vec::new();
    while let Some(mut one) = list.child("mapping") {
        let line = one.line;
        let name = one.attribute("port-name").unwrap_or_default();
        let address = one.attribute("address").unwrap_or_default();
        let mut attribute = |reader: &mut Reader, name: &str| {
            one.attribute(name)
                .map(|text| (reader.parsed::<u32>(line, name, &text), name.to_owned()))
        };
        let interval = attribute(reader, "heartbeat-interval");
        let of_examples = attribute(reader, "heartbeat-time");
        if interval.is_none() && of_examples.is_some() {
            reader.note(
                line,
                "heartbeat-time is taken as heartbeat-interval; UTL 1.0.6 does not read it, and \
                 proposes no heartbeats",
            );
        }
        let value = |found: Option<(Option<u32>, String)>| found.and_then(|(value, _)| value);
        let short = |value: Option<u32>| value.and_then(|value| u16::try_from(value).ok());
        let heartbeat_s = short(value(interval).or(value(of_examples)));
        let dead_factor = short(value(attribute(reader, "dead-factor")));
        // 0 octets are the system's choice.
        let send_buffer = value(attribute(reader, "tcp-tx-buffer")).filter(|octets| *octets > 0);
        let receive_buffer = value(attribute(reader, "tcp-rx-buffer")).filter(|octets| *octets > 0);
        one.rest(&mut reader.notes);
        ports.push(Port {
            name,
            line,
            address,
            heartbeat_s,
            dead_factor,
            send_buffer,
            receive_buffer,
        });
    }
    list.rest(&mut reader.notes);
    ports
}

fn peers(reader: &mut Reader, mut list: Element) -> Vec<PeerTable> {
    let mut peers = Vec::new();
    while let Some(mut one) = list.child("peer") {
        let line = one.line;
        let mode = one.attribute("auth-mode");
        let hash = one.attribute("auth-hash");
        let digits = one.attribute("password");
        peers.push(PeerTable {
            id: one.attribute("id").unwrap_or_default(),
            password: reader.password(line, digits),
            auth: mode.and_then(|word| reader.word(line, "auth-mode", AUTH, &word)),
            hash: hash.and_then(|word| reader.word(line, "auth-hash", HASH, &word)),
        });
        one.rest(&mut reader.notes);
    }
    list.rest(&mut reader.notes);
    peers
}

/// Ours has one setting for all connections: that of the first port in use.
fn transport(reader: &mut Reader, transport: &mut TransportTable, ports: &[Port], used: &[usize]) {
    let Some(first) = used.first().or(if ports.is_empty() { None } else { Some(&0) }) else {
        return;
    };
    let first = &ports[*first];
    let values =
        |port: &Port| (port.heartbeat_s, port.dead_factor, port.send_buffer, port.receive_buffer);
    transport.heartbeat_s = first.heartbeat_s.unwrap_or(0);
    transport.dead_factor = first.dead_factor.unwrap_or(transport.dead_factor);
    transport.send_buffer = first.send_buffer;
    transport.receive_buffer = first.receive_buffer;
    for port in used.iter().map(|index| &ports[*index]).filter(|port| values(port) != values(first))
    {
        let text = format!(
            "port {}: its heartbeats and buffers differ from those of {}, which are taken for all",
            port.name, first.name
        );
        reader.lost(port.line, text);
    }
}

fn provider(reader: &mut Reader, id: String, password: Password, ports: &[Port]) -> ProviderTable {
    let mut listen = Vec::new();
    for port in ports {
        match port.address.parse() {
            Ok(address) if !listen.contains(&address) => listen.push(address),
            Ok(_) => {}
            Err(_) => {
                let text =
                    format!("address {:?}: a provider needs IP address and port", port.address);
                reader.lost(port.line, text);
            }
        }
    }
    ProviderTable {
        id,
        password,
        listen,
        listen_local: Vec::new(),
        listen_csts: Vec::new(),
        listen_csts_local: Vec::new(),
        connections: 64,
        control: None,
    }
}
