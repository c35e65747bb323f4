//! From our configuration, as one side has it, to the file.

use super::names::{
    ABORT, AUTH, BOOLEAN, CONTROL_WORD, DELIVERY, HASH, NOTIFICATION, PLOP, QUALITY, UPDATE_MODE,
    Words, word,
};
use crate::config::{
    AuthLevelSetting, Config, ForwardTable, GvcIdText, HashSetting, InstanceTable, ReturnTable,
};
use crate::exchange::digits::hex;
use crate::exchange::{ExchangeError, ExchangeNote, ExchangeRole};
use crate::pdu::ServiceType;
use std::fmt::{Display, Write};
use toml::Spanned;

/// Lines of XML.
struct Xml {
    text: String,
    depth: usize,
}

impl Xml {
    fn line(&mut self, line: impl Display) {
        // Writing into a string cannot fail.
        let _ = writeln!(self.text, "{:indent$}{line}", "", indent = 4 * self.depth);
    }

    fn within(&mut self, name: &str, attributes: &str, inner: impl FnOnce(&mut Self)) {
        self.line(format_args!("<{name}{attributes}>"));
        self.depth += 1;
        inner(self);
        self.depth -= 1;
        self.line(format_args!("</{name}>"));
    }

    fn element(&mut self, name: &str, value: impl Display) {
        let value = chronoscope_escape::xml(&value.to_string());
        self.line(format_args!("<{name}>{value}</{name}>"));
    }

    fn list<T: PartialEq>(
        &mut self,
        (list, item): (&str, &str),
        words: Words<T>,
        values: Option<&Vec<T>>,
    ) {
        let Some(values) = values else { return };
        self.within(list, "", |xml| {
            for value in values {
                xml.element(item, word(words, value));
            }
        });
    }

    fn channel(&mut self, name: &str, channel: &GvcIdText) {
        let GvcIdText(channel) = channel;
        let attribute = channel.virtual_channel.map(|number| format!(" vcid=\"{number}\""));
        let (spacecraft, version) = (channel.spacecraft, channel.version);
        let virtual_channel = attribute.unwrap_or_default();
        self.line(format_args!(
            "<{name} scid=\"{spacecraft}\" tfvn=\"{version}\"{virtual_channel}/>"
        ));
    }
}

fn attribute(name: &str, value: impl Display) -> String {
    format!(" {name}=\"{}\"", chronoscope_escape::xml(&value.to_string()))
}

/// Writes the file for a role.
pub(super) fn write(
    config: &Config,
    role: ExchangeRole,
    notes: &mut Vec<ExchangeNote>,
) -> Result<String, ExchangeError> {
    let of_role = match role {
        ExchangeRole::User => config.user.as_ref().map(|own| (&own.id, &own.password)),
        ExchangeRole::Provider => config.provider.as_ref().map(|own| (&own.id, &own.password)),
    };
    let (id, password) = of_role.ok_or_else(|| {
        ExchangeError::Missing(format!("the configuration has no [{}]", section(role)))
    })?;
    let mut xml = Xml { text: String::new(), depth: 0 };
    xml.line("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>");
    let ports = ports(config, role, notes);
    xml.within("utl-configuration-file", "", |xml| {
        let own = [
            attribute("id", id),
            attribute("password", hex(password.octets())),
            attribute("auth-delay", config.security.delay_s),
        ];
        xml.within("peer-configuration", &own.concat(), |xml| {
            xml.within("port-mappings", "", |xml| {
                for (name, address) in &ports {
                    mapping(xml, config, name, address);
                }
            });
            xml.within("remote-peers", "", |xml| peers(xml, config));
        });
        xml.within("service-instances", "", |xml| {
            for one in config.instance.iter().map(Spanned::get_ref) {
                instance(xml, one, id, role, notes);
            }
        });
    });
    Ok(xml.text)
}

/// The table of a role.
fn section(role: ExchangeRole) -> &'static str {
    match role {
        ExchangeRole::User => "user",
        ExchangeRole::Provider => "provider",
    }
}

/// Ports with their addresses, each once.
fn ports(
    config: &Config,
    role: ExchangeRole,
    notes: &mut Vec<ExchangeNote>,
) -> Vec<(String, String)> {
    let listen = config.provider.as_ref().and_then(|own| own.listen.first());
    let mut ports: Vec<(String, String)> = Vec::new();
    for instance in config.instance.iter().map(Spanned::get_ref) {
        let address = match role {
            ExchangeRole::User => instance.address.clone(),
            ExchangeRole::Provider => listen.map(ToString::to_string),
        };
        let Some(address) = address else { continue };
        match ports.iter().find(|(name, _)| *name == instance.port) {
            None => ports.push((instance.port.clone(), address)),
            Some((_, known)) if *known == address => {}
            Some((name, known)) => {
                let text = format!(
                    "{}: port {name} has the address {known} already; {address} is not written",
                    instance.id
                );
                notes.push(ExchangeNote::new(None, true, text));
            }
        }
    }
    ports
}

fn mapping(xml: &mut Xml, config: &Config, name: &str, address: &str) {
    let transport = &config.transport;
    let attributes = [
        attribute("port-name", name),
        attribute("address", address),
        attribute("dead-factor", transport.dead_factor),
        attribute("heartbeat-interval", transport.heartbeat_s),
        attribute("tcp-tx-buffer", transport.send_buffer.unwrap_or(0)),
        attribute("tcp-rx-buffer", transport.receive_buffer.unwrap_or(0)),
    ];
    xml.line(format_args!("<mapping{}/>", attributes.concat()));
}

fn peers(xml: &mut Xml, config: &Config) {
    for peer in config.peer.iter().map(Spanned::get_ref) {
        let attributes = [
            attribute("id", &peer.id),
            attribute("auth-mode", word(AUTH, &peer.auth.unwrap_or(AuthLevelSetting::None))),
            attribute("auth-hash", word(HASH, &peer.hash.unwrap_or(HashSetting::Sha256))),
            attribute("password", hex(peer.password.octets())),
        ];
        xml.line(format_args!("<peer{}/>", attributes.concat()));
    }
}

fn instance(
    xml: &mut Xml,
    instance: &InstanceTable,
    own: &str,
    role: ExchangeRole,
    notes: &mut Vec<ExchangeNote>,
) {
    let name = match instance.service() {
        Some(ServiceType::Fcltu) => "cltu",
        Some(ServiceType::Raf) => "raf",
        Some(ServiceType::Rcf) => "rcf",
        Some(ServiceType::Rocf) => "rocf",
        None => {
            let text = format!("{}: its service is none of the format's", instance.id);
            notes.push(ExchangeNote::new(None, true, text));
            return;
        }
    };
    let (initiator, responder) = match role {
        ExchangeRole::User => (own, instance.responder.as_deref().unwrap_or_default()),
        ExchangeRole::Provider => (instance.initiators.first().map_or("", String::as_str), own),
    };
    xml.within(name, "", |xml| {
        xml.element("service-instance-id", &instance.id);
        xml.element("service-version-number", instance.proposed_version());
        xml.element("initiator", "USER");
        xml.element("initiator-id", initiator);
        xml.element("responder-id", responder);
        xml.element("responder-port-id", &instance.port);
        xml.element("return-timeout-period", instance.return_timeout_s.unwrap_or(60));
        if name == "cltu" {
            forward(xml, &instance.forward(), instance.min_reporting_cycle_s);
        } else {
            returns(xml, &instance.returns(), name, instance.min_reporting_cycle_s);
        }
        for (name, time) in [("start-time", &instance.from), ("end-time", &instance.until)] {
            if let Some(time) = time {
                xml.element(name, time);
            }
        }
    });
}

fn forward(xml: &mut Xml, forward: &ForwardTable, min_reporting_cycle_s: u16) {
    let uplink = &forward.uplink;
    xml.element("maximum-cltu-length", forward.cltu_max);
    xml.element("minimum-cltu-delay", forward.minimum_delay_us);
    xml.element("bit-lock-required", word(BOOLEAN, &uplink.bit_lock_required));
    xml.element("rf-available-required", word(BOOLEAN, &uplink.rf_available_required));
    xml.element("protocol-abort-mode", word(ABORT, &forward.continue_after_abort));
    xml.element("minimum-reporting-cycle", min_reporting_cycle_s);
    xml.element("acquisition-sequence-length", uplink.acquisition_sequence_octets);
    if let Some(name) = &uplink.clcw_physical_channel {
        xml.element("clcw-physical-channel", name);
    }
    if let Some(channel) = &uplink.clcw_channel {
        xml.channel("clcw-global-vcid", channel);
    }
    xml.element("modulation-frequency", uplink.modulation_frequency_dhz);
    xml.element("modulation-index", uplink.modulation_index_mrad);
    xml.element("notification-mode", word(NOTIFICATION, &forward.notification));
    xml.element("plop-1-idle-sequence-length", uplink.plop1_idle_sequence_octets);
    xml.element("plop-in-effect", word(PLOP, &uplink.plop));
    xml.element("subcarrier-to-bit-rate-ratio", uplink.subcarrier_to_bit_rate_ratio);
}

fn returns(xml: &mut Xml, returns: &ReturnTable, service: &str, min_reporting_cycle_s: u16) {
    xml.element("delivery-mode", word(DELIVERY, &returns.delivery));
    xml.element("latency-limit", returns.latency_s);
    xml.element("transfer-buffer-size", returns.frames_per_buffer);
    xml.element("minimum-reporting-cycle", min_reporting_cycle_s);
    let list = ("permitted-frame-quality-set", "quality");
    xml.list(list, QUALITY, returns.qualities.as_ref());
    if service != "raf" {
        xml.within("permitted-global-VCID-set", "", |xml| {
            for channel in &returns.channels {
                xml.channel("gvcid", channel);
            }
        });
    }
    if let Some(channels) = &returns.tc_channels {
        xml.within("permitted-tc-vcid-set", "", |xml| {
            for channel in channels {
                xml.element("tcvcid", channel);
            }
        });
    }
    let list = ("permitted-control-word-type-set", "control-word-type");
    xml.list(list, CONTROL_WORD, returns.control_words.as_ref());
    xml.list(
        ("permitted-update-mode-set", "update-mode"),
        UPDATE_MODE,
        returns.update_modes.as_ref(),
    );
}
