//! Entries in lines of text and of JSON.

use super::annotate::hex;
use super::field::DumpField;
use super::message::{DumpContent, DumpEntry, DumpService};
use crate::pdu::AssociationRole;
use crate::time::utc_text;
use serde_json::{Value, json};
use std::fmt::Write;

/// Octets in a line of a hexadecimal dump.
const LINE_OCTETS: usize = 16;

/// Parts of an entry's text.
#[derive(Clone, Copy, Debug, Default)]
pub struct DumpParts {
    /// Fields, one a line.
    pub fields: bool,
    /// Octets, in hexadecimal digits, with their positions in the message.
    pub octets: bool,
}

impl DumpEntry {
    /// Capture time, UTC with nanoseconds.
    #[must_use]
    pub fn time(&self) -> String {
        // Before 1970 nobody has captured anything.
        utc_text(u64::try_from(self.at_ns).unwrap_or(0), 9)
    }

    /// The entry as text: a line, and more lines with its parts.
    #[must_use]
    pub fn text(&self, parts: DumpParts) -> String {
        let arrow = match self.sender {
            AssociationRole::User => '>',
            AssociationRole::Provider => '<',
        };
        let mut text = format!(
            "#{} {} {}{arrow} @{} {}\n",
            self.number,
            self.time(),
            self.connection,
            self.position,
            self.summary()
        );
        if let DumpContent::Pdu(pdu) = &self.content
            && parts.fields
        {
            for field in &pdu.fields {
                lines(field, 1, &mut text);
            }
        }
        if parts.octets {
            hexadecimal(&self.octets, &mut text);
        }
        text
    }

    /// The entry in one line, without number and time.
    #[must_use]
    pub fn summary(&self) -> String {
        match &self.content {
            DumpContent::Opened(from, to) => format!("{from} connects to {to}"),
            DumpContent::Context { interval_s, dead_factor } => format!(
                "context message: ISP1 version 1, heartbeat interval {interval_s} s, dead factor \
                 {dead_factor}"
            ),
            DumpContent::Heartbeat => "heartbeat".to_owned(),
            DumpContent::PeerAbort { diagnostic, is_certain } => {
                let octet = diagnostic.octet();
                let doubt = if *is_certain { "" } else { ", if the octet was urgent data" };
                format!("PEER-ABORT: {diagnostic:?} ({octet}){doubt}")
            }
            DumpContent::Ended => "end of the stream".to_owned(),
            DumpContent::Broken(why) => format!("BROKEN: {why}"),
            DumpContent::Skipped(octets) => format!("BROKEN: {octets} octets without a message"),
            DumpContent::Lost(octets) => {
                format!("BROKEN: {octets} octets are not in the capture")
            }
            DumpContent::Pdu(pdu) => {
                let mut line = self.operation();
                let fields = pdu.fields.iter().filter(|field| is_of_summary(field));
                let fields: Vec<String> =
                    fields.map(|field| format!("{} {}", field.name, short(&field.value))).collect();
                if !fields.is_empty() {
                    let _ = write!(line, ": {}", fields.join(", "));
                }
                if let Some(answers) = pdu.answers {
                    let us = answers.after_ns / 1000;
                    let _ = write!(line, " (of #{}, after {us} µs)", answers.number);
                }
                if let Some(fault) = &pdu.fault {
                    let _ = write!(line, " WRONG: {fault}");
                }
                line
            }
        }
    }

    /// Name of the message: the operation with its service and version.
    #[must_use]
    pub fn operation(&self) -> String {
        let DumpContent::Pdu(pdu) = &self.content else { return self.kind().to_owned() };
        let service = pdu.service.map_or_else(|| "PDU".to_owned(), |service| service.name());
        match pdu.version {
            Some(version) => format!("{service} v{version} {}", pdu.operation),
            None => format!("{service} {}", pdu.operation),
        }
    }

    /// Kind of the entry, in one word.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.content {
            DumpContent::Opened(..) => "opened",
            DumpContent::Context { .. } => "context",
            DumpContent::Heartbeat => "heartbeat",
            DumpContent::Pdu(_) => "pdu",
            DumpContent::PeerAbort { .. } => "peer-abort",
            DumpContent::Ended => "ended",
            DumpContent::Broken(_) => "broken",
            DumpContent::Skipped(_) => "skipped",
            DumpContent::Lost(_) => "lost",
        }
    }

    /// The entry as JSON; `octets` too if they are asked for.
    #[must_use]
    pub fn json(&self, parts: DumpParts) -> Value {
        let sender = match self.sender {
            AssociationRole::User => "user",
            AssociationRole::Provider => "provider",
        };
        let mut value = json!({
            "format": 1, "number": self.number, "time": self.time(),
            "connection": self.connection, "sender": sender, "position": self.position,
            "kind": self.kind(), "length": self.octets.len(), "fault": self.fault(),
        });
        match &self.content {
            DumpContent::Opened(from, to) => {
                value["from"] = json!(from);
                value["to"] = json!(to);
            }
            DumpContent::Context { interval_s, dead_factor } => {
                value["heartbeat_s"] = json!(interval_s);
                value["dead_factor"] = json!(dead_factor);
            }
            DumpContent::PeerAbort { diagnostic, is_certain } => {
                value["diagnostic"] = json!(diagnostic.octet());
                value["words"] = json!(format!("{diagnostic:?}"));
                value["is_certain"] = json!(is_certain);
            }
            DumpContent::Pdu(pdu) => {
                value["service"] = json!(pdu.service.map(DumpService::name));
                value["version"] = json!(pdu.version);
                value["operation"] = json!(pdu.operation);
                value["invoke_id"] = json!(pdu.invoke_id);
                value["answers"] = json!(pdu.answers.map(|answers| answers.number));
                value["after_ns"] = json!(pdu.answers.map(|answers| answers.after_ns));
                if parts.fields {
                    value["fields"] = pdu.fields.iter().map(DumpField::json).collect();
                }
            }
            _ => {}
        }
        if parts.octets {
            value["octets"] = json!(hex(&self.octets));
        }
        value
    }
}

/// Fields that a summary shows: not credentials, structures, and what has a tag instead of a name.
fn is_of_summary(field: &DumpField) -> bool {
    let is_named = !field.name.starts_with('[') && !field.name.starts_with("universal");
    let is_credentials = field.name.to_ascii_lowercase().contains("credentials");
    is_named && !is_credentials && !field.value.is_empty()
}

/// A value without the octets of data.
fn short(value: &str) -> &str {
    match value.split_once(": ") {
        Some((length, _)) if length.ends_with("octets") || length.ends_with("octet") => length,
        _ => value,
    }
}

fn lines(field: &DumpField, depth: usize, text: &mut String) {
    // Writing into a string cannot fail.
    let _ = write!(text, "{:indent$}{}", "", field.name, indent = 4 * depth);
    if !field.value.is_empty() {
        let _ = write!(text, ": {}", field.value);
    }
    if let Some(fault) = &field.fault {
        let _ = write!(text, " WRONG: {fault}");
    }
    text.push('\n');
    for inner in &field.fields {
        lines(inner, depth + 1, text);
    }
}

fn hexadecimal(octets: &[u8], text: &mut String) {
    for (index, line) in octets.chunks(LINE_OCTETS).enumerate() {
        let digits: Vec<String> = line.iter().map(|octet| format!("{octet:02x}")).collect();
        let letters: String = line
            .iter()
            .map(|octet| if (0x20..0x7f).contains(octet) { char::from(*octet) } else { '.' })
            .collect();
        let at = index * LINE_OCTETS;
        let _ = writeln!(text, "    {at:06x}  {:<47}  {letters}", digits.join(" "));
    }
}
