//! Groups of entries in lists: peers, ports and services.

use super::reader::{Port, Reader};
use super::syntax::{Entry, EntryValue, ListItem};
use crate::config::{AuthLevelSetting, Password, PeerTable};

impl Reader {
    pub(super) fn peer(&mut self, line: usize, group: Vec<Entry>) {
        let mut peer =
            PeerTable { id: String::new(), password: Password::default(), auth: None, hash: None };
        for Entry { key, line, value } in group {
            match (key.as_str(), value) {
                ("ID", EntryValue::Word(id)) => peer.id = id,
                ("PASSWORD", EntryValue::Word(digits)) => {
                    peer.password = self.password(line, &digits);
                }
                ("AUTHENTICATION_MODE", EntryValue::Word(mode)) => {
                    peer.auth = match mode.as_str() {
                        "NONE" => Some(AuthLevelSetting::None),
                        "BIND" => Some(AuthLevelSetting::Bind),
                        "ALL" => Some(AuthLevelSetting::All),
                        _ => {
                            self.lost(line, format!("AUTHENTICATION_MODE: {mode:?} is not known"));
                            None
                        }
                    };
                }
                (key, _) => self.lost(line, format!("REMOTE_PEERS: {key} is not known")),
            }
        }
        if self.peers.iter().any(|known| known.id == peer.id) {
            self.lost(line, format!("peer {:?} stands there again: the first is taken", peer.id));
        } else {
            self.peers.push(peer);
        }
    }

    pub(super) fn port(&mut self, line: usize, group: Vec<Entry>) {
        let mut port = Port { line, ..Port::default() };
        for Entry { key, line, value } in group {
            match (key.as_str(), value) {
                ("PORT_NAME", EntryValue::Word(name)) => port.name = name,
                ("PORT_HEARTBEAT_TIMER", EntryValue::Word(text)) => {
                    port.heartbeat_s = self.parsed(&key, line, &text);
                }
                ("PORT_DEAD_FACTOR", EntryValue::Word(text)) => {
                    port.dead_factor = self.parsed(&key, line, &text);
                }
                ("TCP_XMIT_BUFFER_SIZE", EntryValue::Word(text)) => {
                    port.send_buffer = self.parsed(&key, line, &text).filter(|octets| *octets > 0);
                }
                ("TCP_RECV_BUFFER_SIZE", EntryValue::Word(text)) => {
                    port.receive_buffer =
                        self.parsed(&key, line, &text).filter(|octets| *octets > 0);
                }
                ("IP_ADDRESS" | "HOST_NAME", EntryValue::List(items)) => {
                    for item in items {
                        match item {
                            ListItem::Value(_, address) => port.addresses.push(address),
                            ListItem::Entry(entry) => {
                                self.lost(
                                    entry.line,
                                    format!("{key}: {} is no address", entry.key),
                                );
                            }
                        }
                    }
                }
                (key, _) => self.lost(line, format!("port {}: {key} is not known", port.name)),
            }
        }
        if let [first, others @ ..] = &port.addresses[..]
            && !others.is_empty()
        {
            let text = format!(
                "port {}: the first address, {first}, is taken; there is no second one here: {}",
                port.name,
                others.join(", ")
            );
            self.lost(line, text);
        }
        self.ports.push(port);
    }

    pub(super) fn service(&mut self, line: usize, group: Vec<Entry>) {
        let mut name = String::new();
        let mut versions = Vec::new();
        for Entry { key, line, value } in group {
            match (key.as_str(), value) {
                ("SRV_ID", EntryValue::Word(word)) => name = word.to_ascii_uppercase(),
                ("SRV_VERSION", EntryValue::List(items)) => {
                    for item in items {
                        match item {
                            ListItem::Value(line, text) => {
                                versions.extend(self.parsed::<u16>("SRV_VERSION", line, &text));
                            }
                            ListItem::Entry(entry) => {
                                self.lost(
                                    entry.line,
                                    format!("SRV_VERSION: {} is no version", entry.key),
                                );
                            }
                        }
                    }
                }
                (key, _) => self.lost(line, format!("SERVER_TYPES: {key} is not known")),
            }
        }
        if matches!(name.as_str(), "RAF" | "RCF" | "ROCF" | "CLTU") {
            self.services.push((name, versions));
        } else {
            self.lost(line, format!("SERVER_TYPES: there is no service {name} here"));
        }
    }
}
