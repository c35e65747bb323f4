//! Rows: measurements as transactions, written to a store and read from it.
//!
//! ```
//! use chronoscope_net::rows::RoundTrip;
//!
//! RoundTrip {
//!     from: "console".into(),
//!     to: "magnet-7".into(),
//!     by: "udp".into(),
//!     first: false,
//!     octets: 64,
//!     start_ns: 1_700_000_000_000_000_000,
//!     took_ns: Some(180_000),
//! }
//! .record(); // whoever collects this host's rings stores it
//! # if let Some(ring) = chronoscope_record::ring_path() { std::fs::remove_file(ring)?; }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! A row is a transaction of the application [`APPLICATION`], the root of a chain of its own, with
//! the times that were measured:
//!
//! | class | elapsed | status | context |
//! |---|---|---|---|
//! | [`SCAN_HOST`] | until the host had answered, or was no longer waited for | good; aborted: no answer; failed: not understood | `host`, `by`; how far the counters went: `interval_ns`, `in_p`, `out_p`, `in_b`, `out_b` (packets, octets), `in_e`, `out_e`, `in_d`, `out_d` (errors, drops), where not 0; `restarted`; `bits` (speed of the fastest interface, bits per second); `why` |
//! | [`ROUND_TRIP`] | the round trip; 0 where it was lost | good; aborted: lost | `from`, `to`, `by`, `octets`, `first` |
//! | [`PREDICTION`] | the predicted median | good | `from`, `to`, `octets`; `p90`, `p50_low`, `p50_high`, `p90_low`, `p90_high` (nanoseconds) |
//! | [`TRANSFER`] | the transfer | good; aborted: it broke off | `from`, `to`, `octets` |
//!
//! Limits: a ring has [`chronoscope_model::context::MAX_BYTES`] for a row's context. So keys are
//! short, names have at most [`NAME_MAX`] octets ([`row_name`]), and numbers are exact up to 2^53.

use crate::counters::Counters;
use crate::path::predict;
use crate::table::Observation;
use chronoscope_model::{ClassId, Excerpt, Status, Transaction};
use chronoscope_record::{Class, Parent, Started};
use std::borrow::Cow;
use std::sync::OnceLock;

/// The application of all rows here.
pub const APPLICATION: &str = "chronoscope net";
/// Class of [`ScanRow`].
pub const SCAN_HOST: &str = "scanHost";
/// Class of [`RoundTrip`].
pub const ROUND_TRIP: &str = "roundTrip";
/// Class of [`Prediction`].
pub const PREDICTION: &str = "prediction";
/// Class of [`Transfer`].
pub const TRANSFER: &str = "transfer";

/// Most octets of a host's name in a row.
pub const NAME_MAX: usize = 60;
/// Most octets of what a row was measured by.
pub const BY_MAX: usize = 12;
/// Most octets of why a host was not understood.
pub const WHY_MAX: usize = 120;

/// Octets of a host's name and of what it was measured by, together, beside which a row has room for
/// its speed.
pub const SPEED_NAMES_MAX: usize = 56;
/// Key of the speed.
const SPEED: &str = "bits";

/// Keys of the values of [`Counters`], in the order of its fields.
const COUNTERS: [&str; 8] = ["in_p", "out_p", "in_b", "out_b", "in_e", "out_e", "in_d", "out_d"];

/// Keys of the bands of a [`Prediction`].
const P50_BAND: [&str; 2] = ["p50_low", "p50_high"];
const P90_BAND: [&str; 2] = ["p90_low", "p90_high"];

/// Result of one scan of one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanRow {
    /// The host, as who scans calls it.
    pub host: String,
    /// Kind of the query: `snmp`, `exporter`, `agent`; at most [`BY_MAX`] octets are kept.
    pub by: String,
    /// Time of the query: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Time until it had answered, or was given up, in nanoseconds.
    pub elapsed_ns: u64,
    /// Outcome of the query.
    pub outcome: Outcome,
    /// Speed of its fastest interface in bits per second, where the host tells it. Kept with counters
    /// only, and only if name and kind of the query have at most [`SPEED_NAMES_MAX`] octets.
    pub bits_per_s: Option<u64>,
}

/// Outcome of a host's query in a scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The counters' difference since the scan before.
    Counted {
        /// Time between the two readings, in nanoseconds.
        interval_ns: u64,
        /// Difference of the counters; with `restarted` a lower bound.
        advance: Counters,
        /// Whether the host restarted its counters meanwhile.
        restarted: bool,
    },
    /// Counters, and none from before to compare them with.
    First,
    /// No answer in time.
    NoAnswer,
    /// A reply without counters, and the reason; at most [`WHY_MAX`] octets of it are kept.
    NotUnderstood(String),
}

/// One request and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// The host that asked.
    pub from: String,
    /// The host that answered.
    pub to: String,
    /// Kind of the probe: `udp`, `tcp`, `connect`, `http`, `dns`, `snmp`, `icmp`, `exec`; at most
    /// [`BY_MAX`] octets are kept.
    pub by: String,
    /// Whether this was the first request, which may include the activation of the server.
    pub first: bool,
    /// Size of the request, in octets of payload.
    pub octets: u64,
    /// Time of sending: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Duration, in nanoseconds; `None` where no answer came.
    pub took_ns: Option<u64>,
}

/// Predicted duration of a round trip, with which [`RoundTrip`]s of the same hosts and size are
/// compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// The host that asks.
    pub from: String,
    /// Name of the replying host in the topology.
    pub to: String,
    /// Size of the request, in octets of payload.
    pub octets: u64,
    /// Time of the prediction: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Median, in nanoseconds.
    pub p50_ns: u64,
    /// Band of the median with 95 % confidence.
    pub p50_band_ns: [u64; 2],
    /// 90th percentile, in nanoseconds.
    pub p90_ns: u64,
    /// Band of the 90th percentile with 95 % confidence.
    pub p90_band_ns: [u64; 2],
}

/// One bulk transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The host that sent.
    pub from: String,
    /// The host that received.
    pub to: String,
    /// Octets of payload received.
    pub octets: u64,
    /// Begin of the transfer: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Duration, in nanoseconds.
    pub took_ns: u64,
    /// Whether the transfer was completed.
    pub complete: bool,
}

impl ScanRow {
    /// Writes it into this process's ring.
    pub fn record(&self) {
        static CLASS: OnceLock<&Class> = OnceLock::new();
        let mut row = Row::new(&CLASS, SCAN_HOST);
        row.name("host", &self.host);
        row.word("by", &self.by, BY_MAX);
        let status = match &self.outcome {
            Outcome::Counted { interval_ns, advance, restarted } => {
                row.number("interval_ns", *interval_ns);
                for (key, value) in COUNTERS.into_iter().zip(advance.values()) {
                    row.number_unless_zero(key, value);
                }
                row.number_unless_zero("restarted", u64::from(*restarted));
                if self.speed_has_room() {
                    row.number_unless_zero(SPEED, self.bits_per_s.unwrap_or(0));
                }
                Status::Good
            }
            Outcome::First => Status::Good,
            Outcome::NoAnswer => Status::Aborted,
            Outcome::NotUnderstood(why) => {
                row.word("why", why, WHY_MAX);
                Status::Failed
            }
        };
        row.end(status, self.start_ns, self.elapsed_ns);
    }

    /// Reads a transaction; `None` where it is of another class, or was not written here.
    #[must_use]
    pub fn from_transaction(transaction: &Transaction) -> Option<Self> {
        is_of(transaction, SCAN_HOST).then(|| Self::from_excerpt(&Excerpt::of(transaction)))?
    }

    /// Reads a transaction of its class; `None` where it was not written here.
    #[must_use]
    pub fn from_excerpt(row: &Excerpt<'_>) -> Option<Self> {
        let value = |key| whole(row, key).unwrap_or(0);
        let outcome = match (row.status, whole(row, "interval_ns")) {
            (Status::Good, Some(interval_ns)) => Outcome::Counted {
                interval_ns,
                advance: Counters::from_values(COUNTERS.map(value)),
                restarted: row.number("restarted").is_some(),
            },
            (Status::Good, None) => Outcome::First,
            (Status::Failed, _) => {
                Outcome::NotUnderstood(row.word("why").unwrap_or_default().to_owned())
            }
            _ => Outcome::NoAnswer,
        };
        Some(Self {
            host: row.word("host")?.to_owned(),
            by: row.word("by")?.to_owned(),
            start_ns: row.start_ns,
            elapsed_ns: row.elapsed_ns,
            outcome,
            bits_per_s: whole(row, SPEED),
        })
    }

    /// The longest values of all counters are beside the speed.
    fn speed_has_room(&self) -> bool {
        row_name(&self.host).len() + self.by.len().min(BY_MAX) <= SPEED_NAMES_MAX
    }

    /// Counters of the scan, for the tables; `None` where there are none.
    #[must_use]
    pub fn observation(&self) -> Option<Observation> {
        let Outcome::Counted { interval_ns, advance, restarted } = self.outcome else {
            return None;
        };
        let end_ns = self.start_ns.saturating_add_unsigned(self.elapsed_ns);
        Some(Observation {
            host: self.host.clone(),
            start_ns: end_ns.saturating_sub_unsigned(interval_ns),
            interval_ns,
            counters: advance,
            restarted,
        })
    }
}

impl RoundTrip {
    /// Writes it into this process's ring.
    pub fn record(&self) {
        static CLASS: OnceLock<&Class> = OnceLock::new();
        let mut row = Row::new(&CLASS, ROUND_TRIP);
        row.name("from", &self.from);
        row.name("to", &self.to);
        row.word("by", &self.by, BY_MAX);
        row.number("octets", self.octets);
        row.number_unless_zero("first", u64::from(self.first));
        let status = if self.took_ns.is_some() { Status::Good } else { Status::Aborted };
        row.end(status, self.start_ns, self.took_ns.unwrap_or(0));
    }

    /// Reads a transaction; `None` where it is of another class, or was not written here.
    #[must_use]
    pub fn from_transaction(transaction: &Transaction) -> Option<Self> {
        is_of(transaction, ROUND_TRIP).then(|| Self::from_excerpt(&Excerpt::of(transaction)))?
    }

    /// Reads a transaction of its class; `None` where it was not written here.
    #[must_use]
    pub fn from_excerpt(row: &Excerpt<'_>) -> Option<Self> {
        Some(Self {
            from: row.word("from")?.to_owned(),
            to: row.word("to")?.to_owned(),
            by: row.word("by")?.to_owned(),
            first: row.number("first").is_some(),
            octets: whole(row, "octets")?,
            start_ns: row.start_ns,
            took_ns: (row.status == Status::Good).then_some(row.elapsed_ns),
        })
    }
}

impl Prediction {
    /// Prediction of the model for a path at a time.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` keeps to the range
    pub fn of(path: (&str, &str, u32), said: &predict::Prediction, start_ns: i64) -> Self {
        let (from, to, octets) = path;
        let ns = |ns: f64| ns.round() as u64;
        Self {
            from: from.to_owned(),
            to: to.to_owned(),
            octets: octets.into(),
            start_ns,
            p50_ns: ns(said.p50_ns),
            p50_band_ns: said.p50_band_ns.map(ns),
            p90_ns: ns(said.p90_ns),
            p90_band_ns: said.p90_band_ns.map(ns),
        }
    }

    /// Writes it into this process's ring.
    pub fn record(&self) {
        static CLASS: OnceLock<&Class> = OnceLock::new();
        let mut row = Row::new(&CLASS, PREDICTION);
        row.name("from", &self.from);
        row.name("to", &self.to);
        row.number("octets", self.octets);
        row.number("p90", self.p90_ns);
        for (keys, band) in [(P50_BAND, self.p50_band_ns), (P90_BAND, self.p90_band_ns)] {
            keys.into_iter().zip(band).for_each(|(key, ns)| row.number(key, ns));
        }
        row.end(Status::Good, self.start_ns, self.p50_ns);
    }

    /// Reads a transaction of its class; `None` where it was not written here.
    #[must_use]
    pub fn from_excerpt(row: &Excerpt<'_>) -> Option<Self> {
        let band = |[low, high]: [&str; 2]| Some([whole(row, low)?, whole(row, high)?]);
        Some(Self {
            from: row.word("from")?.to_owned(),
            to: row.word("to")?.to_owned(),
            octets: whole(row, "octets")?,
            start_ns: row.start_ns,
            p50_ns: row.elapsed_ns,
            p50_band_ns: band(P50_BAND)?,
            p90_ns: whole(row, "p90")?,
            p90_band_ns: band(P90_BAND)?,
        })
    }
}

impl Transfer {
    /// Writes it into this process's ring.
    pub fn record(&self) {
        static CLASS: OnceLock<&Class> = OnceLock::new();
        let mut row = Row::new(&CLASS, TRANSFER);
        row.name("from", &self.from);
        row.name("to", &self.to);
        row.number("octets", self.octets);
        let status = if self.complete { Status::Good } else { Status::Aborted };
        row.end(status, self.start_ns, self.took_ns);
    }

    /// Reads a transaction; `None` where it is of another class, or was not written here.
    #[must_use]
    pub fn from_transaction(transaction: &Transaction) -> Option<Self> {
        is_of(transaction, TRANSFER).then(|| Self::from_excerpt(&Excerpt::of(transaction)))?
    }

    /// Reads a transaction of its class; `None` where it was not written here.
    #[must_use]
    pub fn from_excerpt(row: &Excerpt<'_>) -> Option<Self> {
        Some(Self {
            from: row.word("from")?.to_owned(),
            to: row.word("to")?.to_owned(),
            octets: whole(row, "octets")?,
            start_ns: row.start_ns,
            took_ns: row.elapsed_ns,
            complete: row.status == Status::Good,
        })
    }
}

/// Name of a host in rows: a name longer than [`NAME_MAX`] octets keeps its beginning, and ends in
/// `~` and a hash of the whole, which keeps names distinct.
#[must_use]
pub fn row_name(name: &str) -> Cow<'_, str> {
    if name.len() <= NAME_MAX {
        return Cow::Borrowed(name);
    }
    let tail = format!("~{:016x}", ClassId::of(APPLICATION, name).0);
    let kept = name.floor_char_boundary(NAME_MAX - tail.len());
    Cow::Owned(format!("{}{tail}", &name[..kept]))
}

/// A row that is being written.
struct Row(Started);

impl Row {
    fn new(class: &OnceLock<&'static Class>, name: &str) -> Self {
        let class = class.get_or_init(|| Class::named(Some(APPLICATION), name, false));
        Self(class.start_under(Parent::Nobody))
    }

    fn name(&mut self, key: &str, name: &str) {
        let kept = row_name(name);
        if kept != name {
            self.0.context_was_cut();
        }
        self.0.property(key, &kept);
    }

    fn word(&mut self, key: &str, word: &str, octets_max: usize) {
        let kept = &word[..word.floor_char_boundary(octets_max)];
        if kept.len() < word.len() {
            self.0.context_was_cut();
        }
        self.0.property(key, kept);
    }

    fn number(&mut self, key: &str, value: u64) {
        self.0.metric(key, value as f64);
    }

    fn number_unless_zero(&mut self, key: &str, value: u64) {
        if value > 0 {
            self.number(key, value);
        }
    }

    fn end(self, status: Status, start_ns: i64, elapsed_ns: u64) {
        self.0.report(status, elapsed_ns, start_ns.saturating_add_unsigned(elapsed_ns));
    }
}

fn is_of(transaction: &Transaction, class: &str) -> bool {
    transaction.class.application == APPLICATION && transaction.class.class == class
}

/// Reads a whole number; a negative or invalid one counts as absent.
fn whole(row: &Excerpt<'_>, key: &str) -> Option<u64> {
    let value = row.number(key)?;
    // Saturates, also where it is infinite.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    (value >= 0.0).then_some(value as u64)
}
