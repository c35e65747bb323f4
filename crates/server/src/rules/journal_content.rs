//! What a journal of alarms says.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the journal.
pub(super) const VERSION: u32 = 1;

/// The content of the journal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Content {
    pub(super) version: u32,
    /// By the rule's name.
    pub(super) firing: BTreeMap<String, Firing>,
    /// Oldest first.
    pub(super) pending: Vec<Notification>,
    /// By the rule's name.
    #[serde(default)]
    pub(super) silences: BTreeMap<String, Silence>,
}

/// An alarm that fires.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Firing {
    pub(super) since_ns: i64,
    pub(super) told_ns: i64,
    /// The last message that was sent.
    pub(super) message: Message,
    /// False while nobody was told that it fires, because its rule was silenced.
    #[serde(default = "yes")]
    pub(super) is_told: bool,
    #[serde(default)]
    pub(super) acknowledged: Option<Acknowledgement>,
    /// Name of the rule that the alarm's rule is a group of.
    #[serde(default)]
    pub(super) group_of: Option<String>,
}

const fn yes() -> bool {
    true
}

/// Somebody takes care of an alarm: there are no more reminders until it clears.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Acknowledgement {
    /// UTC, nanoseconds since 1970.
    pub(crate) at_ns: i64,
    /// Name of the token that was shown; empty for the token without a name and where none is asked.
    pub(crate) by: String,
}

/// A rule of which nobody is told for a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Silence {
    /// UTC, nanoseconds since 1970.
    pub(crate) until_ns: i64,
    /// As [`Acknowledgement::by`].
    pub(crate) by: String,
}

/// What people have said of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Handling {
    pub(crate) acknowledged: Option<Acknowledgement>,
    pub(crate) silence: Option<Silence>,
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
    /// The hop that makes the difference to the durations within the limit; empty where it is not
    /// known.
    #[serde(default)]
    pub(super) cause: String,
    /// Name of the rule that this one is a group of.
    #[serde(default)]
    pub(super) group_of: Option<String>,
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

impl Content {
    /// Nothing fires, and nothing waits.
    pub(super) fn new() -> Self {
        Self { version: VERSION, ..Self::default() }
    }
}

impl Message {
    /// Messages are sent in this order.
    pub(super) fn order(&self) -> (i64, &str) {
        (self.at_ns, &self.key)
    }
}
