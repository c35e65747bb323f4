//! The journal of alarms that all collectors before a cluster have together: the table `alarms`.
//!
//! Each alarm that fires, acknowledgement, silence and waiting notification is an entry of its own,
//! and only those that changed are written: what people say to one collector and what another one
//! judges do not overwrite each other. A transition is written with what it changes, in one insert:
//! both are there or neither. A recipient's address may be a secret, so that an entry has its hash.

use super::journal_content::{Acknowledgement, Content, Firing, Message, Notification, Silence};
use crate::collectors::Collectors;
use chronoscope_clickhouse::{Register, RegisterEntry};
use chronoscope_clock as clock;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

/// Kinds of entries.
const FIRING: &str = "firing";
const ACKNOWLEDGED: &str = "acknowledged";
const SILENCE: &str = "silence";
const PENDING: &str = "pending";
const TRANSITION: &str = "transition";

/// Kind and name of an entry.
type EntryName = (String, String);

/// The journal's place in a cluster.
#[derive(Debug)]
pub(crate) struct SharedJournal {
    collectors: Arc<Collectors>,
    /// Recipients by the hashes of their ids.
    recipients: BTreeMap<String, String>,
    /// The entries as the cluster has them.
    stored: BTreeMap<EntryName, String>,
    /// Keys of the transitions that the cluster has.
    known: BTreeSet<String>,
    /// Transitions that are to be written.
    new: Vec<(String, String)>,
    read_ns: u64,
}

/// An acknowledgement, with the alarm that it is of.
#[derive(Debug, Serialize, Deserialize)]
struct OfAlarm {
    since_ns: i64,
    acknowledged: Acknowledgement,
}

impl SharedJournal {
    /// The journal of a cluster, for notifications to these recipients (their ids).
    pub(super) fn new(collectors: Arc<Collectors>, recipients: Vec<String>) -> Self {
        let hashed = |id: String| (hash(&id), id);
        Self {
            collectors,
            recipients: recipients.into_iter().map(hashed).collect(),
            stored: BTreeMap::new(),
            known: BTreeSet::new(),
            new: Vec::new(),
            read_ns: 0,
        }
    }

    /// When it was read last: all that had been written before was read. Monotonic nanoseconds.
    pub(super) const fn read_ns(&self) -> u64 {
        self.read_ns
    }

    /// Whether the cluster has a transition.
    pub(super) fn knows(&self, key: &str) -> bool {
        self.known.contains(key)
    }

    /// Notes a transition, to be written with what it changes.
    pub(super) fn add_transition(&mut self, message: &Message) {
        self.new.push((message.key.clone(), message.json().to_string()));
    }

    /// Forgets transitions that could not be written.
    pub(super) fn forget_new(&mut self) {
        self.new.clear();
    }

    /// Writes the entries that are not as the cluster has them.
    pub(super) fn write(&mut self, content: &Content) -> io::Result<()> {
        let wanted = self.entries(content)?;
        let changed = wanted.iter().filter(|(name, value)| self.stored.get(*name) != Some(*value));
        let changed = changed.map(|(name, value)| entry(name, value));
        let ended = self.stored.keys().filter(|name| !wanted.contains_key(*name));
        let ended = ended.map(|name| entry(name, ""));
        let transition = |(key, value): &(String, String)| RegisterEntry {
            kind: TRANSITION.to_owned(),
            name: key.clone(),
            value: value.clone(),
        };
        let entries: Vec<_> = changed.chain(ended).chain(self.new.iter().map(transition)).collect();
        let cluster = self.collectors.cluster();
        cluster
            .write_register(Register::Alarms, self.collectors.id(), &entries)
            .map_err(io::Error::other)?;
        self.stored = wanted;
        self.known.extend(self.new.drain(..).map(|(key, _)| key));
        Ok(())
    }

    /// Reads all entries.
    pub(super) fn read(&mut self) -> io::Result<Content> {
        let read_ns = clock::monotonic_ns();
        let entries = self.collectors.cluster().register(Register::Alarms);
        let entries = entries.map_err(io::Error::other)?;
        self.known.clear();
        self.stored.clear();
        for RegisterEntry { kind, name, value } in entries {
            if kind == TRANSITION {
                self.known.insert(name);
            } else {
                self.stored.insert((kind, name), value);
            }
        }
        self.read_ns = read_ns;
        self.content()
    }

    fn entries(&self, content: &Content) -> io::Result<BTreeMap<EntryName, String>> {
        let mut entries = BTreeMap::new();
        let mut add = |kind: &str, name: &str, value: String| {
            entries.insert((kind.to_owned(), name.to_owned()), value);
        };
        for (rule, firing) in &content.firing {
            if let Some(acknowledged) = firing.acknowledged.clone() {
                let of = OfAlarm { since_ns: firing.since_ns, acknowledged };
                add(ACKNOWLEDGED, rule, serde_json::to_string(&of)?);
            }
            let firing = Firing { acknowledged: None, ..firing.clone() };
            add(FIRING, rule, serde_json::to_string(&firing)?);
        }
        for (rule, silence) in &content.silences {
            add(SILENCE, rule, serde_json::to_string(silence)?);
        }
        for Notification { to, message } in &content.pending {
            // Of a recipient that only another collector knows it is the hash.
            let to = to.strip_prefix('#').map_or_else(|| hash(to), str::to_owned);
            add(PENDING, &format!("{} {to}", message.key), serde_json::to_string(message)?);
        }
        Ok(entries)
    }

    fn content(&self) -> io::Result<Content> {
        let mut content = Content::new();
        for ((kind, name), value) in &self.stored {
            match kind.as_str() {
                FIRING => drop(content.firing.insert(name.clone(), parsed(value)?)),
                SILENCE => {
                    let silence: Silence = parsed(value)?;
                    content.silences.insert(name.clone(), silence);
                }
                PENDING => {
                    let to = name.split_once(' ').map_or("", |(_, to)| to);
                    let known = self.recipients.get(to).cloned();
                    let to = known.unwrap_or_else(|| format!("#{to}"));
                    content.pending.push(Notification { to, message: parsed(value)? });
                }
                _ => {}
            }
        }
        for ((kind, name), value) in &self.stored {
            let firing = content.firing.get_mut(name).filter(|_| kind == ACKNOWLEDGED);
            let Some(firing) = firing else { continue };
            let OfAlarm { since_ns, acknowledged } = parsed(value)?;
            firing.acknowledged = Some(acknowledged).filter(|_| since_ns == firing.since_ns);
        }
        // Entries have no order of their own.
        content.pending.sort_by(|a, b| a.message.order().cmp(&b.message.order()));
        Ok(content)
    }
}

fn entry((kind, name): &EntryName, value: &str) -> RegisterEntry {
    RegisterEntry { kind: kind.clone(), name: name.clone(), value: value.to_owned() }
}

fn parsed<T: DeserializeOwned>(value: &str) -> io::Result<T> {
    serde_json::from_str(value)
        .map_err(|error| io::Error::other(format!("an entry of the table alarms: {error}")))
}

/// The hash of a recipient's id.
fn hash(id: &str) -> String {
    let hash = Sha256::digest(id.as_bytes());
    hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
