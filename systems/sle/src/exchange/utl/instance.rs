//! Service instances.

use super::names::{
    ABORT, BOOLEAN, CONTROL_WORD, DELIVERY, NOTIFICATION, PLOP, QUALITY, UPDATE_MODE,
};
use super::reader::Reader;
use super::xml::Element;
use crate::config::{ForwardTable, InstanceTable, ReturnTable};
use crate::exchange::ExchangeRole;

/// A port of the file.
pub(super) struct Port {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) address: String,
    pub(super) heartbeat_s: Option<u16>,
    pub(super) dead_factor: Option<u16>,
    pub(super) send_buffer: Option<u32>,
    pub(super) receive_buffer: Option<u32>,
}

/// An instance with the line of its element; `None` if it is not one for the role.
pub(super) fn instance(
    reader: &mut Reader,
    mut of: Element,
    (id, role): (&str, ExchangeRole),
    ports: &[Port],
    used: &mut Vec<usize>,
) -> Option<(usize, InstanceTable)> {
    let line = of.line;
    let name = reader.child_text(&mut of, "service-instance-id").unwrap_or_default();
    let initiator = reader.child_text(&mut of, "initiator").unwrap_or_default();
    let initiator_id = reader.child_text(&mut of, "initiator-id").unwrap_or_default();
    let responder_id = reader.child_text(&mut of, "responder-id").unwrap_or_default();
    if initiator == "PROVIDER" {
        reader.lost(line, format!("{name}: a provider that binds is not supported"));
        return None;
    }
    let own = if role == ExchangeRole::User { &initiator_id } else { &responder_id };
    if own != id {
        reader.lost(line, format!("{name}: {own:?} is not the identifier of the file, {id:?}"));
        return None;
    }
    if let Err(error) = crate::config::parse_instance(&name) {
        reader.lost(line, format!("{name}: {error}"));
        return None;
    }
    let port = reader.child_text(&mut of, "responder-port-id").unwrap_or_default();
    let at = ports.iter().position(|known| known.name == port);
    match at {
        Some(at) if !used.contains(&at) => used.push(at),
        Some(_) => {}
        None => reader.lost(line, format!("{name}: port {port:?} has no mapping: set its address")),
    }
    let is_user = role == ExchangeRole::User;
    let version = reader.number(&mut of, "service-version-number");
    let mut table = InstanceTable {
        id: name,
        port,
        address: at.map(|at| ports[at].address.clone()).filter(|_| is_user),
        responder: is_user.then_some(responder_id),
        initiators: if is_user { Vec::new() } else { vec![initiator_id] },
        versions: version.map_or_else(|| vec![2, 3, 4, 5], |version: u16| vec![version]),
        version: None,
        from: None,
        until: None,
        return_timeout_s: reader.seconds(&mut of, "return-timeout-period"),
        min_reporting_cycle_s: reader.seconds(&mut of, "minimum-reporting-cycle").unwrap_or(2),
        forward: None,
        returns: None,
    };
    if of.child("reporting-cycle").is_some() {
        reader.note(line, "reporting-cycle: a user requests it in a command, as report 30");
    }
    table.from = time(reader, &mut of, "start-time");
    table.until = time(reader, &mut of, "end-time");
    if of.name == "cltu" {
        table.forward = Some(forward(reader, &mut of));
    } else {
        table.returns = Some(returns(reader, &mut of, is_user));
    }
    of.rest(&mut reader.notes);
    Some((line, table))
}

fn time(reader: &mut Reader, of: &mut Element, name: &str) -> Option<toml::value::Datetime> {
    let child = of.child(name)?;
    reader.note(child.line, format!("{name} is taken as a limit of the provision period"));
    reader.parsed(child.line, name, child.text())
}

fn forward(reader: &mut Reader, of: &mut Element) -> ForwardTable {
    let mut table = ForwardTable::default();
    if let Some(octets) = reader.number(of, "maximum-cltu-length") {
        table.cltu_max = octets;
        table.beyond_standard = octets > 4096;
    }
    if let Some(us) = reader.number(of, "minimum-cltu-delay") {
        table.minimum_delay_us = us;
    }
    if let Some(is_continued) = reader.child_word(of, "protocol-abort-mode", ABORT) {
        table.continue_after_abort = is_continued;
    }
    if let Some(mode) = reader.child_word(of, "notification-mode", NOTIFICATION) {
        table.notification = mode;
    }
    let uplink = &mut table.uplink;
    if let Some(required) = reader.child_word(of, "bit-lock-required", BOOLEAN) {
        uplink.bit_lock_required = required;
    }
    if let Some(required) = reader.child_word(of, "rf-available-required", BOOLEAN) {
        uplink.rf_available_required = required;
    }
    if let Some(octets) = reader.number(of, "acquisition-sequence-length") {
        uplink.acquisition_sequence_octets = octets;
    }
    if let Some(octets) = reader.number(of, "plop-1-idle-sequence-length") {
        uplink.plop1_idle_sequence_octets = octets;
    }
    if let Some(plop) = reader.child_word(of, "plop-in-effect", PLOP) {
        uplink.plop = plop;
    }
    if let Some(frequency) = reader.number(of, "modulation-frequency") {
        uplink.modulation_frequency_dhz = frequency;
    }
    if let Some(index) = reader.number(of, "modulation-index") {
        uplink.modulation_index_mrad = index;
    }
    if let Some(ratio) = reader.number(of, "subcarrier-to-bit-rate-ratio") {
        uplink.subcarrier_to_bit_rate_ratio = ratio;
    }
    uplink.clcw_physical_channel = reader.child_text(of, "clcw-physical-channel");
    uplink.clcw_channel = of.child("clcw-global-vcid").and_then(|child| reader.channel(child));
    if let Some(child) = of.child("expected-cltu-identification") {
        reader.note(child.line, "expected-cltu-identification: a user names it in START (--first)");
    }
    table
}

fn returns(reader: &mut Reader, of: &mut Element, is_user: bool) -> ReturnTable {
    let mut table = ReturnTable::default();
    if let Some(delivery) = reader.child_word(of, "delivery-mode", DELIVERY) {
        table.delivery = delivery;
    }
    if let Some(seconds) = reader.number(of, "latency-limit") {
        table.latency_s = seconds;
    }
    if let Some(frames) = reader.number(of, "transfer-buffer-size") {
        table.frames_per_buffer = frames;
    }
    table.qualities = reader.list(of, ("permitted-frame-quality-set", "quality"), QUALITY);
    table.control_words =
        reader.list(of, ("permitted-control-word-type-set", "control-word-type"), CONTROL_WORD);
    table.update_modes = reader.list(of, ("permitted-update-mode-set", "update-mode"), UPDATE_MODE);
    if let Some(mut list) = of.child("permitted-global-VCID-set") {
        while let Some(one) = list.child("gvcid") {
            table.channels.extend(reader.channel(one));
        }
        list.rest(&mut reader.notes);
    }
    if let Some(mut list) = of.child("permitted-tc-vcid-set") {
        let mut channels = Vec::new();
        while let Some(one) = list.child("tcvcid") {
            channels.extend(reader.parsed::<u8>(one.line, "tcvcid", one.text()));
        }
        list.rest(&mut reader.notes);
        table.tc_channels = Some(channels);
    }
    for requested in [
        "requested-frame-quality",
        "requested-global-VCID",
        "requested-tc-vcid",
        "requested-control-word-type",
        "requested-update-mode",
    ] {
        if let Some(child) = of.child(requested) {
            reader.note(child.line, format!("{requested}: a user names it in a command"));
        }
    }
    if !is_user {
        table.udp = Some(([127, 0, 0, 1], 0).into());
        reader.note(of.line, "the format has no source of frames: udp is set, on a free port");
    }
    table
}
