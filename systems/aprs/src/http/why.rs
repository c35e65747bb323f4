//! `/why`: why packets of a source, or from a client, were dropped.

use super::site::{Site, View};
use super::values::{address, in_words, seconds};
use crate::packet::DropReason;
use crate::why as engine_why;
use serde::{Deserialize, Serialize};

/// Dropped packets in one answer at most.
const RECENT_MAX: usize = 50;

/// Subject of the question: a callsign as a source and as a client. Without an SSID it means all of
/// its SSIDs; without a callsign, the last drops of all are returned.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Question {
    call: Option<String>,
    source: Option<String>,
    client: Option<String>,
}

/// Answer to a question about drops.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The callsign that was asked for; empty for all.
    pub call: String,
    /// Drops of packets whose source it is.
    pub as_source: Vec<Reason>,
    /// Drops of packets that this callsign sent as a client.
    pub as_client: Vec<Reason>,
    /// The last drops of both kinds, the newest first.
    pub recent: Vec<Dropped>,
    /// Its connections now.
    pub clients: Vec<Client>,
}

/// A reason and its number of packets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// Name of the reason in `rx_errs` of `status.json`, or `duplicate`.
    pub reason: String,
    /// Meaning of the reason, as text.
    pub meaning: String,
    /// Number of packets.
    pub packets: u64,
}

/// A packet that was dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// UTC seconds since 1970.
    pub time: i64,
    /// Name of the reason, as in [`Reason`].
    pub reason: String,
    /// Login of the client that sent it; empty before login.
    pub client: String,
    /// Source callsign of the packet; empty where it has none.
    pub source: String,
    /// Beginning of the line; octets that are not printable ASCII are question marks.
    pub line: String,
}

/// A connection of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// Number of the connection, as `id` in `status.json`.
    pub id: u64,
    /// Login of the client.
    pub username: String,
    /// Address of the client.
    pub address: String,
    /// Whether its login is verified.
    pub verified: bool,
    /// Packets received from it, dropped ones included.
    pub packets: u64,
    /// Number of these packets that were duplicates.
    pub duplicates: u64,
    /// Reasons of the other drops.
    pub reasons: Vec<Reason>,
}

impl Reason {
    fn new(name: &str, packets: u64) -> Self {
        Self { reason: name.into(), meaning: in_words(meaning(name)), packets }
    }
}

fn meaning(name: &str) -> &'static str {
    if name == engine_why::DUPLICATE {
        return "The same packet came within the last 30 seconds; that one went its way.";
    }
    let reason = DropReason::ALL.iter().find(|reason| reason.name() == name);
    reason.map_or("", |reason| reason.meaning())
}

/// Answers. Callsigns are asked for in upper case, as stations write them, and as they were typed.
pub(super) fn answer(site: &Site, view: &View, question: &Question) -> Answer {
    let Question { call, source, client } = question;
    let asked = call.as_ref().or(source.as_ref()).or(client.as_ref());
    let asked = asked.map(|asked| asked.trim()).unwrap_or_default();
    let mut call = asked.to_ascii_uppercase();
    let mut found = site.server.why(call.as_bytes(), RECENT_MAX);
    if found == engine_why::Answer::default() && call != asked {
        let as_typed = site.server.why(asked.as_bytes(), RECENT_MAX);
        if as_typed != engine_why::Answer::default() {
            asked.clone_into(&mut call);
            found = as_typed;
        }
    }
    // A question for one side is answered for that side.
    let both = source.is_none() == client.is_none();
    if !both && source.is_none() {
        found.as_source.by_reason.clear();
    }
    if !both && client.is_none() {
        found.as_client.by_reason.clear();
    }
    let rows = [&view.clients, &view.uplinks, &view.peers].into_iter().flatten();
    let meant = rows.filter(|row| !call.is_empty() && is(&call, &row.username));
    Answer {
        as_source: reasons(&found.as_source),
        as_client: reasons(&found.as_client),
        recent: found.recent.iter().map(recent).collect(),
        clients: meant.map(connection).collect(),
        call,
    }
}

/// The most frequent first.
fn reasons(counts: &engine_why::Counts) -> Vec<Reason> {
    let each = |(name, packets): &(&'static str, u64)| Reason::new(name, *packets);
    let mut reasons: Vec<Reason> = counts.by_reason.iter().map(each).collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.packets));
    reasons
}

fn recent(drop: &engine_why::Drop) -> Dropped {
    let text = |call: Option<crate::callsign::Callsign>| {
        call.map(|call| printable(call.as_bytes())).unwrap_or_default()
    };
    Dropped {
        time: seconds(drop.utc_ns),
        reason: drop.reason.into(),
        client: text(drop.client),
        source: text(drop.source),
        line: printable(&drop.line),
    }
}

fn connection(row: &crate::status::ClientStatus) -> Client {
    let counts = DropReason::ALL.iter().zip(&row.traffic.drops);
    Client {
        id: row.conn.0,
        username: row.username.clone(),
        address: address(row, row.remote),
        verified: row.verified.is_verified(),
        packets: row.traffic.packets_rx,
        duplicates: row.traffic.duplicates,
        reasons: counts
            .filter(|(_, packets)| **packets > 0)
            .map(|(reason, packets)| Reason::new(reason.name(), *packets))
            .collect(),
    }
}

/// Whether a question for `asked` means `call`.
fn is(asked: &str, call: &str) -> bool {
    asked == call || call.split_once('-').is_some_and(|(base, _)| asked == base)
}

/// Printable ASCII unchanged, all other octets as question marks.
fn printable(octets: &[u8]) -> String {
    let shown = |octet: &u8| if matches!(octet, b' '..=b'~') { char::from(*octet) } else { '?' };
    octets.iter().map(shown).collect()
}
