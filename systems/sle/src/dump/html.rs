//! A dump as a page: one HTML file with nothing to fetch. Its script shows the list of messages, the
//! fields of one of them, and its octets with those of the selected field marked.

use super::field::DumpField;
use super::message::{DumpContent, DumpEntry};
use crate::pdu::AssociationRole;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("view/view.css");
const SCRIPT: &str = include_str!("view/view.js");
const BODY: &str = include_str!("view/view.html");

/// The page. `left_out` is the number of entries that are not in it.
///
/// The browser holds the page to a policy that allows its own script and style only: what a peer put
/// into a message is never markup.
#[must_use]
pub fn page(title: &str, entries: &[DumpEntry], left_out: u64) -> String {
    let data = json!({
        "title": title, "leftOut": left_out,
        "entries": entries.iter().map(entry).collect::<Vec<_>>(),
    });
    // Within a script element only the end tag could end the data.
    let data = data.to_string().replace('<', "\\u003c");
    let title = chronoscope_escape::xml(title);
    let hash = STANDARD.encode(Sha256::digest(SCRIPT));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'sha256-{hash}'\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{BODY}\
         <script type=\"application/json\" id=\"data\">{data}</script>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

fn entry(entry: &DumpEntry) -> Value {
    let fields = match &entry.content {
        DumpContent::Pdu(pdu) => pdu.fields.iter().map(field).collect(),
        _ => Vec::new(),
    };
    let answers = match &entry.content {
        DumpContent::Pdu(pdu) => pdu.answers.map(|answers| answers.number),
        _ => None,
    };
    json!({
        "number": entry.number, "time": entry.time(), "connection": entry.connection,
        "isUser": entry.sender == AssociationRole::User, "position": entry.position,
        "operation": entry.operation(), "summary": entry.summary(), "fault": entry.fault(),
        "answers": answers, "octets": STANDARD.encode(&entry.octets), "fields": fields,
    })
}

/// Name, value, first octet, end, fault, fields within.
fn field(of: &DumpField) -> Value {
    let within: Vec<Value> = of.fields.iter().map(field).collect();
    json!([of.name, of.value, of.range.start, of.range.end, of.fault, within])
}
