//! A configuration as TOML: the keys that have another value than by default.

use super::digits::hex;
use crate::config::{
    AuthLevelSetting, Config, ControlWordSetting, DeliveryModeSetting, ForwardTable,
    FrameQualitySetting, GvcIdText, HashSetting, InstanceTable, NotificationModeSetting, Password,
    PlopSetting, ReturnTable, SecurityTable, TransportTable, UpdateModeSetting, UplinkTable,
};
use std::fmt::{Display, Write};
use toml::Spanned;

/// Lines of a table.
struct Lines<'a>(&'a mut String);

impl Lines<'_> {
    fn table(&mut self, name: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0.push_str(name);
        self.0.push('\n');
    }

    fn key(&mut self, key: &str, value: impl Display) {
        // Writing into a string cannot fail.
        let _ = writeln!(self.0, "{key} = {value}");
    }

    fn text(&mut self, key: &str, value: &str) {
        self.key(key, quoted(value));
    }

    /// A key whose value is not the one by default.
    fn other<T: PartialEq + Display>(&mut self, key: &str, value: T, default: T) {
        if value != default {
            self.key(key, value);
        }
    }

    fn words<T>(&mut self, key: &str, values: &[T], word: impl Fn(&T) -> String) {
        let words: Vec<String> = values.iter().map(|value| quoted(&word(value))).collect();
        self.key(key, format!("[{}]", words.join(", ")));
    }
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// The configuration as TOML. CSTS instances, and keys that only our programs have, are not in it.
#[must_use]
pub fn toml_text(config: &Config) -> String {
    let mut text = String::new();
    let mut lines = Lines(&mut text);
    transport(&mut lines, &config.transport);
    security(&mut lines, &config.security);
    if let Some(provider) = &config.provider {
        lines.table("[provider]");
        lines.text("id", &provider.id);
        password(&mut lines, &provider.password);
        lines.words("listen", &provider.listen, ToString::to_string);
    }
    if let Some(user) = &config.user {
        lines.table("[user]");
        lines.text("id", &user.id);
        password(&mut lines, &user.password);
    }
    for peer in config.peer.iter().map(Spanned::get_ref) {
        lines.table("[[peer]]");
        lines.text("id", &peer.id);
        password(&mut lines, &peer.password);
        if let Some(auth) = peer.auth {
            lines.text("auth", auth_word(auth));
        }
        if let Some(hash) = peer.hash {
            lines.text("hash", hash_word(hash));
        }
    }
    for one in config.instance.iter().map(Spanned::get_ref) {
        instance(&mut lines, one);
    }
    text
}

fn password(lines: &mut Lines<'_>, password: &Password) {
    if !password.octets().is_empty() {
        lines.text("password", &format!("hex:{}", hex(password.octets())));
    }
}

fn transport(lines: &mut Lines<'_>, transport: &TransportTable) {
    let default = TransportTable::default();
    lines.table("[transport]");
    lines.other("heartbeat_s", transport.heartbeat_s, default.heartbeat_s);
    lines.other("dead_factor", transport.dead_factor, default.dead_factor);
    for (key, range, default) in [
        ("heartbeat_range_s", transport.heartbeat_range_s, default.heartbeat_range_s),
        ("dead_factor_range", transport.dead_factor_range, default.dead_factor_range),
    ] {
        if range != default {
            lines.key(key, format!("[{}, {}]", range[0], range[1]));
        }
    }
    lines.other("without_heartbeats", transport.without_heartbeats, default.without_heartbeats);
    lines.other("startup_s", transport.startup_s, default.startup_s);
    if let Some(octets) = transport.send_buffer {
        lines.key("send_buffer", octets);
    }
    if let Some(octets) = transport.receive_buffer {
        lines.key("receive_buffer", octets);
    }
}

fn security(lines: &mut Lines<'_>, security: &SecurityTable) {
    let default = SecurityTable::default();
    if security.delay_s != default.delay_s
        || security.auth != default.auth
        || security.hash != default.hash
    {
        lines.table("[security]");
        lines.other("auth", quoted(auth_word(security.auth)), quoted(auth_word(default.auth)));
        lines.other("hash", quoted(hash_word(security.hash)), quoted(hash_word(default.hash)));
        lines.other("delay_s", security.delay_s, default.delay_s);
    }
}

fn auth_word(auth: AuthLevelSetting) -> &'static str {
    match auth {
        AuthLevelSetting::None => "none",
        AuthLevelSetting::Bind => "bind",
        AuthLevelSetting::All => "all",
    }
}

fn hash_word(hash: HashSetting) -> &'static str {
    match hash {
        HashSetting::Sha1 => "sha1",
        HashSetting::Sha256 => "sha256",
    }
}

fn instance(lines: &mut Lines<'_>, instance: &InstanceTable) {
    lines.table("[[instance]]");
    lines.text("id", &instance.id);
    lines.text("port", &instance.port);
    if let Some(address) = &instance.address {
        lines.text("address", address);
    }
    if let Some(responder) = &instance.responder {
        lines.text("responder", responder);
    }
    if !instance.initiators.is_empty() {
        lines.words("initiators", &instance.initiators, Clone::clone);
    }
    let versions: Vec<String> = instance.versions.iter().map(u16::to_string).collect();
    lines.key("versions", format!("[{}]", versions.join(", ")));
    if let Some(version) = instance.version {
        lines.key("version", version);
    }
    if let Some(from) = &instance.from {
        lines.key("from", from);
    }
    if let Some(until) = &instance.until {
        lines.key("until", until);
    }
    if let Some(seconds) = instance.return_timeout_s {
        lines.key("return_timeout_s", seconds);
    }
    lines.other("min_reporting_cycle_s", instance.min_reporting_cycle_s, 2);
    if let Some(table) = &instance.forward {
        forward(lines, table);
    }
    if let Some(table) = &instance.returns {
        returns(lines, table);
    }
}

fn forward(lines: &mut Lines<'_>, forward: &ForwardTable) {
    let default = ForwardTable::default();
    lines.table("[instance.forward]");
    lines.other("cltu_max", forward.cltu_max, default.cltu_max);
    lines.other("beyond_standard", forward.beyond_standard, default.beyond_standard);
    lines.other("buffer", forward.buffer, default.buffer);
    if let Some(bits) = forward.bit_rate {
        lines.key("bit_rate", bits);
    }
    lines.other("minimum_delay_us", forward.minimum_delay_us, default.minimum_delay_us);
    if let Some(modem) = &forward.modem {
        lines.text("modem", &modem.to_string());
    }
    lines.other("check", forward.check, default.check);
    lines.other("blocking", forward.blocking, default.blocking);
    lines.other("continue_after_abort", forward.continue_after_abort, default.continue_after_abort);
    if forward.notification == NotificationModeSetting::Deferred {
        lines.text("notification", "deferred");
    }
    lines.other("notify_buffer_empty", forward.notify_buffer_empty, default.notify_buffer_empty);
    uplink(lines, &forward.uplink);
}

fn uplink(lines: &mut Lines<'_>, uplink: &UplinkTable) {
    let default = UplinkTable::default();
    lines.table("[instance.forward.uplink]");
    lines.other("bit_lock_required", uplink.bit_lock_required, default.bit_lock_required);
    lines.other(
        "rf_available_required",
        uplink.rf_available_required,
        default.rf_available_required,
    );
    lines.other(
        "modulation_frequency_dhz",
        uplink.modulation_frequency_dhz,
        default.modulation_frequency_dhz,
    );
    lines.other(
        "modulation_index_mrad",
        uplink.modulation_index_mrad,
        default.modulation_index_mrad,
    );
    lines.other(
        "subcarrier_to_bit_rate_ratio",
        uplink.subcarrier_to_bit_rate_ratio,
        default.subcarrier_to_bit_rate_ratio,
    );
    if uplink.plop == PlopSetting::Plop1 {
        lines.text("plop", "plop-1");
    }
    lines.other(
        "acquisition_sequence_octets",
        uplink.acquisition_sequence_octets,
        default.acquisition_sequence_octets,
    );
    lines.other(
        "plop1_idle_sequence_octets",
        uplink.plop1_idle_sequence_octets,
        default.plop1_idle_sequence_octets,
    );
    if let Some(channel) = &uplink.clcw_channel {
        lines.text("clcw_channel", &channel_word(channel));
    }
    if let Some(name) = &uplink.clcw_physical_channel {
        lines.text("clcw_physical_channel", name);
    }
}

fn channel_word(channel: &GvcIdText) -> String {
    let GvcIdText(channel) = channel;
    match channel.virtual_channel {
        Some(number) => format!("{}.{}.{number}", channel.spacecraft, channel.version),
        None => format!("{}.{}", channel.spacecraft, channel.version),
    }
}

fn returns(lines: &mut Lines<'_>, returns: &ReturnTable) {
    let default = ReturnTable::default();
    lines.table("[instance.return]");
    match returns.delivery {
        DeliveryModeSetting::Complete => {}
        DeliveryModeSetting::Timely => lines.text("delivery", "timely"),
        DeliveryModeSetting::Offline => lines.text("delivery", "offline"),
    }
    lines.other("frames_per_buffer", returns.frames_per_buffer, default.frames_per_buffer);
    lines.other("latency_s", returns.latency_s, default.latency_s);
    if let Some(address) = &returns.udp {
        lines.text("udp", &address.to_string());
    }
    if let Some(file) = &returns.file {
        lines.text("file", &file.to_string_lossy());
    }
    if !returns.channels.is_empty() {
        lines.words("channels", &returns.channels, channel_word);
    }
    if let Some(qualities) = &returns.qualities {
        lines.words("qualities", qualities, |quality| {
            match quality {
                FrameQualitySetting::Good => "good",
                FrameQualitySetting::Erred => "erred",
                FrameQualitySetting::All => "all",
            }
            .to_owned()
        });
    }
    if let Some(words) = &returns.control_words {
        lines.words("control_words", words, |word| {
            match word {
                ControlWordSetting::All => "all",
                ControlWordSetting::Clcw => "clcw",
                ControlWordSetting::NotClcw => "not-clcw",
            }
            .to_owned()
        });
    }
    if let Some(channels) = &returns.tc_channels {
        let numbers: Vec<String> = channels.iter().map(u8::to_string).collect();
        lines.key("tc_channels", format!("[{}]", numbers.join(", ")));
    }
    if let Some(modes) = &returns.update_modes {
        lines.words("update_modes", modes, |mode| {
            match mode {
                UpdateModeSetting::Continuous => "continuous",
                UpdateModeSetting::ChangeBased => "change-based",
            }
            .to_owned()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The configuration that is shipped has every key; what is written is read again and says the same.
    #[test]
    fn what_is_written_is_read_again() {
        let config = Config::parse(include_str!("../../dist/sle.toml")).unwrap();
        let text = toml_text(&config);
        let again = Config::parse(&text).unwrap();
        assert_eq!(toml_text(&again), text);
        assert!(text.contains("password = \"hex:00112233445566778899\""), "{text}");
        assert!(!text.contains("secret-of-mcc"), "{text}");
    }
}
