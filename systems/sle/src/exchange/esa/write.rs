//! From our configuration, as one side has it, to the two files.

use crate::config::{AuthLevelSetting, Config, InstanceTable, PeerTable};
use crate::exchange::digits::hex;
use crate::exchange::{ExchangeError, ExchangeNote, ExchangeRole};
use crate::pdu::ServiceType;
use std::fmt::{Display, Write};
use toml::Spanned;

/// Octets of a password for the API.
const PASSWORD_OCTETS: std::ops::RangeInclusive<usize> = 6..=16;
/// In place of a password where none is needed: the API refuses a peer without one.
const NO_PASSWORD: &str = "000000000000";

/// Lines of a file.
struct Lines {
    text: String,
    depth: usize,
}

impl Lines {
    fn new(title: &str) -> Self {
        Self { text: format!("# {title}\n"), depth: 0 }
    }

    fn line(&mut self, line: impl Display) {
        // Writing into a string cannot fail.
        let _ = writeln!(self.text, "{:indent$}{line}", "", indent = 3 * self.depth);
    }

    fn key(&mut self, key: &str, value: impl Display) {
        self.line(format_args!("{key} = {value}"));
    }

    fn list(&mut self, key: &str, inner: impl FnOnce(&mut Self)) {
        self.line(format_args!("{key} = {{"));
        self.depth += 1;
        inner(self);
        self.depth -= 1;
        self.line("}");
    }
}

/// The proxy's file and the service element's.
pub(super) fn write(
    config: &Config,
    role: ExchangeRole,
    notes: &mut Vec<ExchangeNote>,
) -> Result<(String, String), ExchangeError> {
    let is_user = role == ExchangeRole::User;
    let own = match role {
        ExchangeRole::User => config.user.as_ref().map(|own| (&own.id, &own.password)),
        ExchangeRole::Provider => config.provider.as_ref().map(|own| (&own.id, &own.password)),
    };
    let (id, password) = own.ok_or_else(|| {
        let section = if is_user { "[user]" } else { "[provider]" };
        ExchangeError::Missing(format!("the configuration has no {section}"))
    })?;
    let mut lines = Lines::new("Proxy of the SLE API");
    lines.key("PROXY_ROLE", if is_user { "INITIATOR" } else { "RESPONDER" });
    lines.key("LOCAL_ID", id);
    lines.key("LOCAL_PASSWORD", digits("the own password", password.octets(), false, notes));
    services(&mut lines, config);
    lines.list("REMOTE_PEERS", |lines| {
        for peer in config.peer.iter().map(Spanned::get_ref) {
            write_peer(lines, peer, notes);
        }
    });
    ports(&mut lines, config, is_user, notes);
    lines.key("AUTHENTICATION_DELAY", config.security.delay_s);
    lines.key("TRANSMIT_QUEUE_SIZE", 10);
    lines.key("STARTUP_TIMER", config.transport.startup_s);
    let is_allowed = config.transport.without_heartbeats;
    lines.key("NON_USEHEARTBEAT", if is_allowed { "TRUE" } else { "FALSE" });
    lines.key("MIN_HEARTBEAT", config.transport.heartbeat_range_s[0]);
    lines.key("MAX_HEARTBEAT", config.transport.heartbeat_range_s[1]);
    lines.key("MIN_DEADFACTOR", config.transport.dead_factor_range[0]);
    lines.key("MAX_DEADFACTOR", config.transport.dead_factor_range[1]);
    lines.key("CS_ADDRESS", "SLE_CS");
    lines.key("DEFAULT_REPORTING_ADDRESS", "SLE_DEF_REPORT");
    lines.key("MAX_TRACE_LENGTH", 200);
    Ok((lines.text, element(config, is_user)))
}

fn element(config: &Config, is_user: bool) -> String {
    let mut lines = Lines::new("Service element of the SLE API");
    lines.key("APPLICATION_ROLE", if is_user { "USER" } else { "PROVIDER" });
    lines.list("PORTLIST", |lines| lines.key("default", "ISP1"));
    if !is_user {
        let instances = config.instance.iter().map(|one| one.get_ref().min_reporting_cycle_s);
        lines.key("MIN_REPORTINGCYCLE", instances.max().unwrap_or(2));
        lines.key("MAX_REPORTINGCYCLE", 600);
    }
    lines.key("MAX_TRACE_LENGTH", 200);
    lines.text
}

/// A password that the API accepts.
fn digits(whose: &str, octets: &[u8], is_needed: bool, notes: &mut Vec<ExchangeNote>) -> String {
    if octets.is_empty() && !is_needed {
        let text = format!("{whose} is empty, which the API refuses: zeros are written");
        notes.push(ExchangeNote::new(None, false, text));
        return NO_PASSWORD.to_owned();
    }
    if !PASSWORD_OCTETS.contains(&octets.len()) {
        let text = format!("{whose} has {} octets; the API takes 6 to 16", octets.len());
        notes.push(ExchangeNote::new(None, false, text));
    }
    hex(octets)
}

fn services(lines: &mut Lines, config: &Config) {
    let instances: Vec<&InstanceTable> = config.instance.iter().map(Spanned::get_ref).collect();
    lines.list("SERVER_TYPES", |lines| {
        for (service, name) in [
            (ServiceType::Raf, "RAF"),
            (ServiceType::Rcf, "RCF"),
            (ServiceType::Rocf, "ROCF"),
            (ServiceType::Fcltu, "CLTU"),
        ] {
            let of = instances.iter().filter(|instance| instance.service() == Some(service));
            let mut versions: Vec<u16> =
                of.flat_map(|instance| instance.versions.clone()).collect();
            versions.sort_unstable();
            versions.dedup();
            if versions.is_empty() {
                continue;
            }
            lines.key("SRV_ID", name);
            lines.list("SRV_VERSION", |lines| {
                versions.iter().for_each(|version| lines.line(version))
            });
        }
    });
}

fn write_peer(lines: &mut Lines, peer: &PeerTable, notes: &mut Vec<ExchangeNote>) {
    let auth = peer.auth.unwrap_or(AuthLevelSetting::None);
    let whose = format!("the password of {}", peer.id);
    let is_needed = auth != AuthLevelSetting::None;
    lines.key("ID", &peer.id);
    lines.key("PASSWORD", digits(&whose, peer.password.octets(), is_needed, notes));
    lines.key(
        "AUTHENTICATION_MODE",
        match auth {
            AuthLevelSetting::None => "NONE",
            AuthLevelSetting::Bind => "BIND",
            AuthLevelSetting::All => "ALL",
        },
    );
}

/// Ports with an address each; what is another one is not converted.
fn ports(lines: &mut Lines, config: &Config, is_user: bool, notes: &mut Vec<ExchangeNote>) {
    let transport = &config.transport;
    let listen = config.provider.as_ref().and_then(|own| own.listen.first());
    let mut ports: Vec<(&str, String)> = Vec::new();
    for instance in config.instance.iter().map(Spanned::get_ref) {
        let address =
            if is_user { instance.address.clone() } else { listen.map(ToString::to_string) };
        let Some(address) = address else { continue };
        match ports.iter().find(|(name, _)| *name == instance.port) {
            None => ports.push((&instance.port, address)),
            Some((_, known)) if *known == address => {}
            Some((name, known)) => {
                let text = format!(
                    "port {name} has the address {known} already; {address} is not written"
                );
                notes.push(ExchangeNote::new(None, true, text));
            }
        }
    }
    let key = if is_user { "FOREIGN_LOGICAL_PORTS" } else { "LOCAL_LOGICAL_PORTS" };
    lines.list(key, |lines| {
        for (name, address) in &ports {
            lines.key("PORT_NAME", name);
            if is_user {
                lines.key("PORT_HEARTBEAT_TIMER", transport.heartbeat_s);
                lines.key("PORT_DEAD_FACTOR", transport.dead_factor);
            }
            let is_ip = address.parse::<std::net::SocketAddr>().is_ok();
            let list = if is_ip { "IP_ADDRESS" } else { "HOST_NAME" };
            lines.list(list, |lines| lines.line(address));
            if let Some(octets) = transport.send_buffer {
                lines.key("TCP_XMIT_BUFFER_SIZE", octets);
            }
            if let Some(octets) = transport.receive_buffer {
                lines.key("TCP_RECV_BUFFER_SIZE", octets);
            }
        }
    });
}
