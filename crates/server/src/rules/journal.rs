//! Alarms and notifications that survive a restart: `rules/journal.json` in the data folder.
//!
//! The file has the alarms that fire and the notifications that are not acknowledged. It is replaced
//! as a whole, and durable, before a notification is sent and after it was acknowledged: a
//! notification is never lost, and is sent twice only when the server ends between the
//! acknowledgement and the write. Both have the same key then ([`key`]).

use chronoscope_rules::{AlarmState, Change, Rule, Transition};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Version of the file.
const VERSION: u32 = 1;
/// Notifications that wait at most; the oldest is dropped for one more.
const PENDING_MAX: usize = 10_000;

/// The content of the journal.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Content {
    version: u32,
    /// By the rule's name.
    firing: BTreeMap<String, Firing>,
    /// Oldest first.
    pending: Vec<Notification>,
}

/// An alarm that fires.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Firing {
    since_ns: i64,
    told_ns: i64,
    /// The last message that was sent.
    message: Message,
}

/// A notification to one recipient.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notification {
    /// The recipient, as text.
    pub(super) to: String,
    pub(super) message: Message,
}

/// Content of a notification: the same for every recipient.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Message {
    /// The same for the same transition, and for no other.
    pub(super) key: String,
    /// `fired`, `reminded` or `cleared`.
    pub(super) change: String,
    /// Name of the rule.
    pub(super) rule: String,
    pub(super) severity: String,
    /// The class, or root and leaf.
    pub(super) what: String,
    /// Meaning of the rule.
    pub(super) meaning: String,
    /// The counts of its windows.
    pub(super) finding: String,
    /// End of the windows: UTC, nanoseconds since 1970.
    pub(super) at_ns: i64,
    pub(super) since_ns: i64,
    /// Address of the page's scattergram of that time; empty where the page's address is unknown.
    pub(super) link: String,
    /// The slowest chain of the windows, where it is known.
    pub(super) slowest: Option<Slowest>,
}

/// The slowest chain of a window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Slowest {
    pub(super) chain: String,
    pub(super) duration_ns: u64,
    /// Address of the chain on the page; empty as above.
    pub(super) link: String,
}

/// The journal of a server.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    content: Content,
}

impl Journal {
    /// Reads the journal in a data folder; an empty one where there is none.
    ///
    /// # Errors
    /// When the file cannot be read, or is none of this version.
    pub(crate) fn open(data_dir: &Path) -> io::Result<Self> {
        let path = data_dir.join("rules").join("journal.json");
        let content = match std::fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Content { version: VERSION, ..Content::default() }
            }
            Err(error) => return Err(error),
        };
        match content.version {
            VERSION => Ok(Self { path, content }),
            other => Err(io::Error::other(format!("version {other} of the journal is not known"))),
        }
    }

    /// The stored state of a rule's alarm.
    pub(crate) fn state(&self, rule: &str) -> AlarmState {
        let firing = self.content.firing.get(rule);
        firing.map_or(AlarmState::Quiet, |Firing { since_ns, told_ns, .. }| AlarmState::Firing {
            since_ns: *since_ns,
            told_ns: *told_ns,
        })
    }

    /// Notes a transition with its message to these recipients. Returns the number of older notifications that
    /// had to be dropped.
    ///
    /// # Errors
    /// When the file cannot be written; the transition is noted in memory.
    pub(crate) fn note(
        &mut self,
        rule: &Rule,
        transition: &Transition,
        message: &Message,
        to: impl Iterator<Item = String>,
    ) -> io::Result<usize> {
        let Transition { change, at_ns, since_ns } = *transition;
        match change {
            Change::Fired | Change::Reminded => {
                let firing = Firing { since_ns, told_ns: at_ns, message: message.clone() };
                self.content.firing.insert(rule.name.clone(), firing);
            }
            Change::Cleared => {
                self.content.firing.remove(&rule.name);
            }
        }
        let notifications = to.map(|to| Notification { to, message: message.clone() });
        self.content.pending.extend(notifications);
        let dropped = self.content.pending.len().saturating_sub(PENDING_MAX);
        self.content.pending.drain(..dropped);
        self.write()?;
        Ok(dropped)
    }

    /// The last messages of the alarms that fire.
    pub(crate) fn firing(&self) -> impl Iterator<Item = &Message> {
        self.content.firing.values().map(|firing| &firing.message)
    }

    /// The oldest notification for a recipient.
    pub(crate) fn first(&self, to: &str) -> Option<&Notification> {
        self.content.pending.iter().find(|notification| notification.to == to)
    }

    /// Removes a notification that was acknowledged or given up.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn done(&mut self, notification: &Notification) -> io::Result<()> {
        self.content.pending.retain(|other| other != notification);
        self.write()
    }

    /// Removes the notifications for others than these recipients; their number.
    pub(crate) fn retain(&mut self, recipients: &[String]) -> usize {
        let before = self.content.pending.len();
        self.content.pending.retain(|notification| recipients.contains(&notification.to));
        before - self.content.pending.len()
    }

    fn write(&self) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(&self.path);
        std::fs::create_dir_all(folder)?;
        let new = self.path.with_extension("new");
        // URLs of recipients may be secrets.
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(&serde_json::to_vec(&self.content)?)?;
        file.sync_all()?;
        std::fs::rename(&new, &self.path)?;
        std::fs::File::open(folder)?.sync_all()
    }
}

/// The key of a transition.
pub(super) fn key(rule: &Rule, transition: &Transition) -> String {
    let mut hash = Sha256::new();
    // A name has no line end.
    let text = format!("{}\n{}\n{}", rule.name, transition.change.name(), transition.at_ns);
    hash.update(text.as_bytes());
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_rules::RuleFile;

    #[test]
    fn what_is_noted_is_there_again_until_it_is_done() {
        let dir = tempfile::tempdir().unwrap();
        let text = "[[limit]]\nname = 'n'\nclass = 'a'\nabsence = '10s'";
        let rule = RuleFile::parse(text).unwrap().rules.remove(0);
        let fired = Transition { change: Change::Fired, at_ns: 7, since_ns: 7 };
        let notification = Notification {
            to: "a".to_owned(),
            message: Message {
                key: key(&rule, &fired),
                change: "fired".to_owned(),
                rule: "n".to_owned(),
                severity: String::new(),
                what: String::new(),
                meaning: String::new(),
                finding: String::new(),
                at_ns: 7,
                since_ns: 7,
                link: String::new(),
                slowest: None,
            },
        };
        let mut journal = Journal::open(dir.path()).unwrap();
        assert_eq!(journal.state("n"), AlarmState::Quiet);
        let to = std::iter::once("a".to_owned());
        journal.note(&rule, &fired, &notification.message, to).unwrap();
        let mut again = Journal::open(dir.path()).unwrap();
        assert_eq!(again.state("n"), AlarmState::Firing { since_ns: 7, told_ns: 7 });
        assert_eq!(again.first("a"), Some(&notification));
        again.done(&notification).unwrap();
        let cleared = Transition { change: Change::Cleared, at_ns: 9, since_ns: 7 };
        assert_ne!(key(&rule, &cleared), key(&rule, &fired));
        again.note(&rule, &cleared, &notification.message, std::iter::empty()).unwrap();
        let last = Journal::open(dir.path()).unwrap();
        assert_eq!((last.state("n"), last.first("a")), (AlarmState::Quiet, None));
        std::fs::write(
            dir.path().join("rules/journal.json"),
            "{\"version\":2,\"firing\":{},\"pending\":[]}",
        )
        .unwrap();
        assert!(Journal::open(dir.path()).is_err());
    }
}
