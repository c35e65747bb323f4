//! From entries to our configuration.

use super::reader::{Port, Reader};
use super::syntax::{Entry, EntryValue, ListItem};
use crate::config::{Config, ProviderTable, UserTable};
use crate::exchange::side::spanned;
use crate::exchange::{ExchangeError, ExchangeRole, Imported};
use std::net::SocketAddr;

/// Keys that have no counterpart here, and why.
const WITHOUT_EFFECT: [(&str, &str); 6] = [
    ("TRANSMIT_QUEUE_SIZE", "transport.output_max limits octets instead of PDUs"),
    ("MAX_TRACE_LENGTH", "traces are of the API"),
    ("CS_ADDRESS", "for a communication server see sle-comm"),
    ("USE_NAGLE", "of the API's local connections; here transport.nodelay"),
    ("DEFAULT_REPORTING_ADDRESS", "reports are of the API"),
    ("APPLICATION_ROLE", "the proxy's role is taken"),
];

/// Reads the entries of all files.
pub(super) fn read(files: Vec<Vec<Entry>>) -> Result<Imported, ExchangeError> {
    let mut reader = Reader::default();
    for entry in files.into_iter().flatten() {
        match entry.value {
            EntryValue::Word(value) => reader.word(&entry.key, entry.line, &value),
            EntryValue::List(items) => reader.list(&entry.key, entry.line, items),
        }
    }
    let missing = |key: &str| ExchangeError::Missing(format!("{key} is in no file of the proxy"));
    let role = reader.role.ok_or_else(|| missing("PROXY_ROLE"))?;
    let id = reader.id.take().ok_or_else(|| missing("LOCAL_ID"))?;
    reader.transport_of_ports();
    let templates = reader.templates(role);
    let mut config = Config {
        transport: reader.transport.clone(),
        security: reader.security.clone(),
        peer: std::mem::take(&mut reader.peers).into_iter().map(spanned).collect(),
        ..Config::default()
    };
    let password = std::mem::take(&mut reader.password);
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
            config.provider = Some(ProviderTable {
                id,
                password,
                listen: reader.listen(),
                listen_local: Vec::new(),
                listen_csts: Vec::new(),
                listen_csts_local: Vec::new(),
                connections: 64,
                control: None,
            });
        }
    }
    Ok(Imported { config, templates, notes: reader.notes })
}

impl Reader {
    /// `KEY = VALUE` outside of lists.
    fn word(&mut self, key: &str, line: usize, value: &str) {
        match key {
            "PROXY_ROLE" => match value.to_ascii_uppercase().as_str() {
                "INITIATOR" => self.role = Some(ExchangeRole::User),
                "RESPONDER" => self.role = Some(ExchangeRole::Provider),
                _ => self.lost(line, format!("PROXY_ROLE: {value:?} is not known")),
            },
            "LOCAL_ID" => self.id = Some(value.to_owned()),
            "LOCAL_PASSWORD" => self.password = self.password(line, value),
            "AUTHENTICATION_DELAY" => {
                if let Some(seconds) = self.parsed(key, line, value) {
                    self.security.delay_s = seconds;
                }
            }
            "STARTUP_TIMER" => {
                if let Some(seconds) = self.parsed(key, line, value) {
                    self.transport.startup_s = seconds;
                }
            }
            "NON_USEHEARTBEAT" => {
                if let Some(is_allowed) = self.boolean(key, line, value) {
                    self.transport.without_heartbeats = is_allowed;
                }
            }
            "MIN_HEARTBEAT" | "MAX_HEARTBEAT" | "MIN_DEADFACTOR" | "MAX_DEADFACTOR" => {
                let Some(number) = self.parsed(key, line, value) else { return };
                let range = match key.ends_with("HEARTBEAT") {
                    true => &mut self.transport.heartbeat_range_s,
                    false => &mut self.transport.dead_factor_range,
                };
                range[usize::from(key.starts_with("MAX"))] = number;
            }
            "MIN_REPORTINGCYCLE" => {
                self.min_reporting_cycle_s = self.parsed(key, line, value);
            }
            "MAX_REPORTINGCYCLE" if value == "600" => {}
            "MAX_REPORTINGCYCLE" => {
                self.lost(line, format!("{key} = {value}: here the maximum is 600 s"));
            }
            _ => match WITHOUT_EFFECT.iter().find(|(known, _)| *known == key) {
                Some((_, why)) => self.note(line, format!("{key} has no counterpart: {why}")),
                None => self.lost(line, format!("{key} is not known")),
            },
        }
    }

    /// `KEY = { … }` outside of lists.
    fn list(&mut self, key: &str, line: usize, items: Vec<ListItem>) {
        match key {
            "REMOTE_PEERS" => {
                for (line, group) in self.groups(key, "ID", items) {
                    self.peer(line, group);
                }
            }
            "FOREIGN_LOGICAL_PORTS" | "LOCAL_LOGICAL_PORTS" => {
                for (line, group) in self.groups(key, "PORT_NAME", items) {
                    self.port(line, group);
                }
            }
            "SERVER_TYPES" => {
                for (line, group) in self.groups(key, "SRV_ID", items) {
                    self.service(line, group);
                }
            }
            "PORTLIST" => {
                for item in items {
                    match item {
                        ListItem::Entry(Entry { value: EntryValue::Word(protocol), .. })
                            if protocol == "ISP1" => {}
                        ListItem::Entry(Entry { line, key, .. }) => {
                            self.lost(line, format!("PORTLIST: {key} is not of the protocol ISP1"));
                        }
                        ListItem::Value(line, value) => {
                            self.lost(line, format!("PORTLIST: {value:?} is no entry"));
                        }
                    }
                }
            }
            _ => self.lost(line, format!("{key} is not known")),
        }
    }

    /// The entries of a list, in groups that begin with the key `first`; with the line of each group.
    fn groups(
        &mut self,
        list: &str,
        first: &str,
        items: Vec<ListItem>,
    ) -> Vec<(usize, Vec<Entry>)> {
        let mut groups: Vec<(usize, Vec<Entry>)> = Vec::new();
        for item in items {
            match item {
                ListItem::Entry(entry) if entry.key == first => {
                    groups.push((entry.line, vec![entry]))
                }
                ListItem::Entry(entry) => match groups.last_mut() {
                    Some((_, group)) => group.push(entry),
                    None => self
                        .lost(entry.line, format!("{list}: {} stands before {first}", entry.key)),
                },
                ListItem::Value(line, value) => {
                    self.lost(line, format!("{list}: {value:?} is not KEY = VALUE"));
                }
            }
        }
        groups
    }

    /// Ours has one setting for all connections: that of the first port.
    fn transport_of_ports(&mut self) {
        let values = |port: &Port| {
            (port.heartbeat_s, port.dead_factor, port.send_buffer, port.receive_buffer)
        };
        let Some(first) = self.ports.first() else { return };
        let (heartbeat_s, dead_factor, send_buffer, receive_buffer) = values(first);
        let of = values(first);
        let name = first.name.clone();
        let others: Vec<(usize, String)> = self
            .ports
            .iter()
            .filter(|port| values(port) != of)
            .map(|port| (port.line, port.name.clone()))
            .collect();
        for (line, other) in others {
            let text = format!(
                "port {other}: its heartbeats and buffers differ from those of {name}, which are \
                 taken for all"
            );
            self.lost(line, text);
        }
        self.transport.heartbeat_s = heartbeat_s.unwrap_or(self.transport.heartbeat_s);
        self.transport.dead_factor = dead_factor.unwrap_or(self.transport.dead_factor);
        self.transport.send_buffer = send_buffer;
        self.transport.receive_buffer = receive_buffer;
    }

    /// Addresses of a provider; `*` is every interface.
    fn listen(&mut self) -> Vec<SocketAddr> {
        let mut listen = Vec::new();
        let named: Vec<(usize, String)> = self
            .ports
            .iter()
            .filter_map(|port| Some((port.line, port.addresses.first()?.clone())))
            .collect();
        for (line, address) in named {
            let of_all = address.strip_prefix("*:").map(|port| format!("0.0.0.0:{port}"));
            match of_all.as_ref().unwrap_or(&address).parse() {
                Ok(address) if !listen.contains(&address) => listen.push(address),
                Ok(_) => {}
                Err(_) => {
                    self.lost(line, format!("{address:?}: a provider needs IP address and port"));
                }
            }
        }
        listen
    }

    /// Service instances to be completed: one for each port.
    fn templates(&self, role: ExchangeRole) -> Vec<String> {
        let mut lines = Vec::new();
        let services: Vec<String> = self
            .services
            .iter()
            .map(|(name, versions)| {
                let versions: Vec<String> = versions.iter().map(u16::to_string).collect();
                format!("{name} {}", versions.join(" "))
            })
            .collect();
        if !services.is_empty() {
            lines.push(format!("Services and their versions: {}", services.join(", ")));
        }
        for port in &self.ports {
            lines.push(String::new());
            lines.push("[[instance]]".to_owned());
            lines.push("id = \"sagr=1.spack=PASS.rsl-fg=1.raf=onlc1\"".to_owned());
            lines.push(format!("port = {:?}", port.name));
            if role == ExchangeRole::User {
                let address = port.addresses.first().map_or("host:port", String::as_str);
                lines.push(format!("address = {address:?}"));
                let responder = self.peers.first().map_or("RESPONDER", |peer| peer.id.as_str());
                lines.push(format!("responder = {responder:?}"));
            }
            if let Some(seconds) = self.min_reporting_cycle_s {
                lines.push(format!("min_reporting_cycle_s = {seconds}"));
            }
        }
        lines
    }
}
