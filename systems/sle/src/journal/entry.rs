//! A line of the journal: a JSON object, whose last member is a checksum of what is before it.

use super::fates::FateWord;
use super::plan::SendPlan;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::ops::Range;

/// Version of the format.
const FORMAT: u64 = 1;
/// Octets of the checksum's member and the end of the object: `,"check":"01234567"}`.
const CHECK_OCTETS: usize = 20;

/// What is transferred. A journal is continued with the same data only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferIdentity {
    /// Service instance identifier.
    pub instance: String,
    /// Description of the data: of a file with its hash.
    pub source: String,
    /// Number of CLTUs.
    pub cltus: u64,
}

/// A session: START, and the CLTUs that are to be sent in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionEntry {
    /// CLTU identification of the first.
    pub first: u32,
    /// The CLTUs.
    pub plan: SendPlan,
}

/// CLTUs whose fate is reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FateEntry {
    /// Positions in the session.
    pub positions: Range<u64>,
    /// Their fate.
    pub fate: FateWord,
    /// Diagnostic of a refusal.
    pub diagnostic: Option<String>,
}

/// A CLTU that a program gave to a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenEntry {
    /// Its position in the session.
    pub position: u64,
    /// The program's own number of it.
    pub reference: u64,
    /// Its number of octets.
    pub octets: u64,
    /// The first eight octets of its SHA-256, in hexadecimal digits.
    pub sha256: String,
}

impl GivenEntry {
    /// Of a CLTU.
    #[must_use]
    pub fn new(position: u64, reference: u64, data: &[u8]) -> Self {
        let hash = Sha256::digest(data);
        let sha256 = hash[..8].iter().map(|octet| format!("{octet:02x}")).collect();
        Self { position, reference, octets: data.len() as u64, sha256 }
    }
}

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalEntry {
    /// The first line.
    Transfer(TransferIdentity),
    /// A session begins.
    Session(SessionEntry),
    /// The first `until` CLTUs of the session may be sent from here on.
    Reserved {
        /// Number of CLTUs.
        until: u64,
    },
    /// A program gave a CLTU, which the next reservation is for.
    Given(GivenEntry),
    /// A fate.
    Fate(FateEntry),
    /// The provider told a CLTU as radiated after it had told its loss. The fate stays as it was.
    Contradicted {
        /// Position in the session.
        position: u64,
    },
    /// The session ended under control: only its first `sent` CLTUs were sent.
    Closed {
        /// Number of CLTUs.
        sent: u64,
    },
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// The line has no checksum, or another one than its text.
    #[error("the checksum is missing or wrong: the line was changed, or written in part")]
    Check,
    /// The line is of another version of the format.
    #[error("format {0} is not known to this program: use the one that wrote it")]
    Format(u64),
    /// The line is none of the known ones.
    #[error("it is no entry of a transfer's journal")]
    Unknown,
}

fn check(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash[..4].iter().map(|octet| format!("{octet:02x}")).collect()
}

impl JournalEntry {
    /// The line, without its end.
    #[must_use]
    pub fn line(&self) -> String {
        let value = match self {
            Self::Transfer(of) => json!({
                "journal": "sle-user send", "format": FORMAT, "instance": of.instance,
                "source": of.source, "cltus": of.cltus,
            }),
            Self::Session(session) => {
                let cltus: Vec<[u64; 2]> =
                    session.plan.ranges().map(|range| [range.start, range.end]).collect();
                json!({"session": {"first": session.first, "cltus": cltus}})
            }
            Self::Reserved { until } => json!({"reserved": until}),
            Self::Given(one) => json!({
                "given": one.position, "reference": one.reference, "octets": one.octets,
                "sha256": one.sha256,
            }),
            Self::Fate(one) => json!({
                "fate": one.fate.word(), "from": one.positions.start, "until": one.positions.end,
                "diagnostic": one.diagnostic,
            }),
            Self::Contradicted { position } => {
                json!({"contradicted": position, "told": FateWord::Radiated.word()})
            }
            Self::Closed { sent } => json!({"closed": sent}),
        };
        let mut text = value.to_string();
        text.pop(); // the closing brace comes behind the checksum
        let check = check(&text);
        text.push_str(",\"check\":\"");
        text.push_str(&check);
        text.push_str("\"}");
        text
    }

    /// The entry of a line.
    ///
    /// # Errors
    /// [`LineError`].
    pub fn parse(line: &str) -> Result<Self, LineError> {
        let at = line.len().checked_sub(CHECK_OCTETS).ok_or(LineError::Check)?;
        let (Some(text), Some(end)) = (line.get(..at), line.get(at..)) else {
            return Err(LineError::Check);
        };
        if end != format!(",\"check\":\"{}\"}}", check(text)) {
            return Err(LineError::Check);
        }
        let value: Value = serde_json::from_str(line).map_err(|_| LineError::Unknown)?;
        Self::of(&value)
    }

    fn of(value: &Value) -> Result<Self, LineError> {
        let number = |key: &str| value[key].as_u64().ok_or(LineError::Unknown);
        let text = |key: &str| Ok(value[key].as_str().ok_or(LineError::Unknown)?.to_owned());
        if value.get("journal").is_some() {
            return match number("format")? {
                FORMAT => Ok(Self::Transfer(TransferIdentity {
                    instance: text("instance")?,
                    source: text("source")?,
                    cltus: number("cltus")?,
                })),
                other => Err(LineError::Format(other)),
            };
        }
        if let Some(session) = value.get("session") {
            return session_of(session).ok_or(LineError::Unknown).map(Self::Session);
        }
        if value.get("fate").is_some() {
            let fate = FateWord::parse(&text("fate")?).ok_or(LineError::Unknown)?;
            return Ok(Self::Fate(FateEntry {
                positions: number("from")?..number("until")?,
                fate,
                diagnostic: value["diagnostic"].as_str().map(str::to_owned),
            }));
        }
        if value.get("given").is_some() {
            return Ok(Self::Given(GivenEntry {
                position: number("given")?,
                reference: number("reference")?,
                octets: number("octets")?,
                sha256: text("sha256")?,
            }));
        }
        if value.get("contradicted").is_some() {
            return Ok(Self::Contradicted { position: number("contradicted")? });
        }
        if value.get("reserved").is_some() {
            return Ok(Self::Reserved { until: number("reserved")? });
        }
        Ok(Self::Closed { sent: number("closed")? })
    }
}

fn session_of(session: &Value) -> Option<SessionEntry> {
    let range = |pair: &Value| Some(pair[0].as_u64()?..pair[1].as_u64()?);
    let ranges: Option<Vec<_>> = session["cltus"].as_array()?.iter().map(range).collect();
    let first = u32::try_from(session["first"].as_u64()?).ok()?;
    Some(SessionEntry { first, plan: SendPlan::of(ranges?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> [JournalEntry; 8] {
        let fate = |fate, diagnostic: Option<&str>| {
            let diagnostic = diagnostic.map(str::to_owned);
            JournalEntry::Fate(FateEntry { positions: 3..9, fate, diagnostic })
        };
        [
            JournalEntry::Transfer(TransferIdentity {
                instance: "sagr=1.spack=A.fsl-fg=1.cltu=cltu1".to_owned(),
                source: "generated, 1000 octets each".to_owned(),
                cltus: 12,
            }),
            JournalEntry::Session(SessionEntry { first: 7, plan: SendPlan::of([0..4, 8..12]) }),
            JournalEntry::Given(GivenEntry::new(7, u64::MAX, b"cltu")),
            JournalEntry::Reserved { until: 8 },
            fate(FateWord::Radiated, None),
            fate(FateWord::Refused, Some("a \"quoted\" word\n")),
            JournalEntry::Contradicted { position: 4 },
            JournalEntry::Closed { sent: 8 },
        ]
    }

    #[test]
    fn entries_are_lines_and_lines_are_entries() {
        for entry in examples() {
            let line = entry.line();
            assert!(!line.contains('\n'), "{line}");
            assert_eq!(JournalEntry::parse(&line), Ok(entry));
        }
        let line = JournalEntry::Reserved { until: 8 }.line();
        assert_eq!(line, r#"{"reserved":8,"check":"43a9b8d2"}"#, "these octets are kept");
    }

    #[test]
    fn a_changed_octet_is_found() {
        for entry in examples() {
            let line = entry.line();
            for at in 0..line.len() {
                for bit in 0..8 {
                    let mut octets = line.clone().into_bytes();
                    octets[at] ^= 1 << bit;
                    let Ok(changed) = String::from_utf8(octets) else { continue };
                    assert!(JournalEntry::parse(&changed).is_err(), "{changed}");
                }
            }
            for end in 0..line.len() {
                assert_eq!(JournalEntry::parse(&line[..end]), Err(LineError::Check));
            }
        }
    }
}
