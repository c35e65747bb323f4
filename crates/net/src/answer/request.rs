//! Requests to a server besides echo, in JSON (docs/formats/answer.md).

use super::cpu::Cpu;
use crate::probe::{Load, Series, Target};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Version of the requests.
pub const VERSION: u32 = 1;
/// Longest question, in octets of JSON.
pub const ASK_OCTETS_MAX: usize = 4096;
/// Longest bulk transfer, in octets.
pub const BULK_OCTETS_MAX: u64 = 100_000_000_000;
/// And in time.
pub const BULK_TIME_MAX: Duration = Duration::from_secs(30);
/// Most steady round trips of one series.
pub const PROBE_COUNT_MAX: u32 = 1000;
/// Shortest time from one of them to the next: a server is not made a weapon.
pub const PROBE_EVERY_MIN: Duration = Duration::from_millis(1);
/// Largest request of a series, in octets.
pub const PROBE_OCTETS_MAX: usize = 8192;
/// Longest wait for one reply of a series.
pub const PROBE_TIMEOUT_MAX: Duration = Duration::from_secs(2);
/// Longest duration of a series.
pub const PROBE_TIME_MAX: Duration = Duration::from_secs(20);

/// A request with its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionedRequest {
    /// Version of the request, [`VERSION`].
    pub version: u32,
    /// The request itself.
    pub ask: Request,
}

/// A request to a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// The server reads the octets that the client sends.
    Sink(Bulk),
    /// The server sends so many octets.
    Source(Bulk),
    /// The server measures round trips from its host to another.
    Probe(Probe),
}

/// A bulk transfer: the first of both limits ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bulk {
    /// Octets, at most [`BULK_OCTETS_MAX`].
    pub octets: u64,
    /// Milliseconds, at most [`BULK_TIME_MAX`].
    pub at_most_ms: u64,
}

/// A series of round trips.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// `udp:HOST:PORT`, `tcp:HOST:PORT` or `connect:HOST:PORT`.
    pub target: String,
    /// Size of a request, at most [`PROBE_OCTETS_MAX`].
    pub octets: usize,
    /// Steady round trips, at most [`PROBE_COUNT_MAX`].
    pub count: u32,
    /// Microseconds from one to the next, at least [`PROBE_EVERY_MIN`].
    pub every_us: u64,
    /// Milliseconds after which a reply is lost, at most [`PROBE_TIMEOUT_MAX`].
    pub timeout_ms: u64,
}

/// Reply of a server to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The transfer begins.
    Go,
    /// The server refuses, with the reason.
    Refused(String),
    /// The transfer is over.
    Moved(TransferReport),
    /// Measured series.
    Measured(Measured),
}

/// Report of one end about a bulk transfer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransferReport {
    /// Octets that it sent or received.
    pub octets: u64,
    /// Time from the first to the last of them, in nanoseconds.
    pub took_ns: u64,
    /// CPU time of the transfer at the server.
    pub cpu: Cpu,
}

/// A series in the form in which it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// As [`Series::start_ns`], by the clock of the measuring host.
    pub start_ns: i64,
    /// First round trip, as [`Series::first_ns`].
    pub first_ns: Option<u64>,
    /// Steady round trips, as [`Series::steady`].
    pub steady: Vec<(i64, Option<u64>)>,
    /// Duration of the series, as [`Series::duration_ns`].
    pub duration_ns: u64,
    /// Reason of the last lost round trip.
    #[serde(default)]
    pub loss: Option<String>,
}

impl From<Measured> for Series {
    fn from(measured: Measured) -> Self {
        Self {
            start_ns: measured.start_ns,
            first_ns: measured.first_ns,
            steady: measured.steady,
            duration_ns: measured.duration_ns,
        }
    }
}

/// Reasons why a request is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RequestError {
    /// The text is not JSON, or has another form.
    #[error("malformed request: {0}")]
    Json(String),
    /// A later version.
    #[error("version {version}: {VERSION} expected")]
    Version {
        /// Version in the request.
        version: u32,
    },
    /// The request is too long.
    #[error("a request of {octets} octets: at most {ASK_OCTETS_MAX} expected")]
    Long {
        /// Length of the request.
        octets: usize,
    },
    /// A number beyond what the server does for anybody.
    #[error("{what} = {value}: {least} to {most} expected")]
    Limit {
        /// Name of the value.
        what: &'static str,
        /// Value in the request.
        value: u64,
        /// Least that is possible.
        least: u64,
        /// Largest value.
        most: u64,
    },
    /// The target is none, or of a kind that is not asked for others.
    #[error("{0}")]
    Target(String),
}

/// Reads a question and looks at its limits.
///
/// # Errors
/// [`RequestError`].
pub fn read(json: &[u8]) -> Result<Request, RequestError> {
    if json.len() > ASK_OCTETS_MAX {
        return Err(RequestError::Long { octets: json.len() });
    }
    let asked: VersionedRequest =
        serde_json::from_slice(json).map_err(|error| RequestError::Json(error.to_string()))?;
    if asked.version != VERSION {
        return Err(RequestError::Version { version: asked.version });
    }
    match &asked.ask {
        Request::Sink(bulk) | Request::Source(bulk) => {
            within("octets", bulk.octets, 1, BULK_OCTETS_MAX)?;
            within("at_most_ms", bulk.at_most_ms, 1, milliseconds(BULK_TIME_MAX))?;
        }
        Request::Probe(probe) => {
            probe.target()?;
            let octets_min = crate::probe::echo::OCTETS_MIN as u64;
            within("octets", probe.octets as u64, octets_min, PROBE_OCTETS_MAX as u64)?;
            within("count", u64::from(probe.count), 0, u64::from(PROBE_COUNT_MAX))?;
            let every_min = milliseconds(PROBE_EVERY_MIN) * 1000;
            within("every_us", probe.every_us, every_min, milliseconds(PROBE_TIME_MAX) * 1000)?;
            within("timeout_ms", probe.timeout_ms, 1, milliseconds(PROBE_TIMEOUT_MAX))?;
        }
    }
    Ok(asked.ask)
}

fn within(what: &'static str, value: u64, least: u64, most: u64) -> Result<(), RequestError> {
    let is_within = (least..=most).contains(&value);
    is_within.then_some(()).ok_or(RequestError::Limit { what, value, least, most })
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Probe {
    /// Target of the probes. Only kinds that cost others little are accepted on behalf of a client:
    /// no programs are started, no pages fetched.
    ///
    /// # Errors
    /// [`RequestError::Target`].
    pub fn target(&self) -> Result<Target, RequestError> {
        let target: Target =
            self.target.parse().map_err(|error| RequestError::Target(format!("{error}")))?;
        match target {
            Target::Udp(_) | Target::Tcp(_) | Target::Connect(_) => Ok(target),
            #[allow(unreachable_patterns)]
            _ => Err(RequestError::Target(format!(
                "{:?} cannot be measured for another host: udp, tcp or connect expected",
                self.target
            ))),
        }
    }

    /// The same as a [`Load`].
    #[must_use]
    pub fn load(&self) -> Load {
        Load {
            count: self.count,
            every: Duration::from_micros(self.every_us),
            timeout: self.timeout(),
            at_most: PROBE_TIME_MAX,
        }
    }

    /// After which a reply is lost.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(json: &str) -> String {
        read(json.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_is_read() {
        let json = br#"{"version":1,"ask":{"source":{"octets":25000000,"at_most_ms":2000}}}"#;
        assert_eq!(
            read(json).unwrap(),
            Request::Source(Bulk { octets: 25_000_000, at_most_ms: 2000 })
        );
        let probe = Probe {
            target: "udp:10.0.0.7:4711".to_owned(),
            octets: 64,
            count: 20,
            every_us: 2000,
            timeout_ms: 1000,
        };
        let asked = VersionedRequest { version: VERSION, ask: Request::Probe(probe) };
        assert_eq!(read(&serde_json::to_vec(&asked).unwrap()).unwrap(), asked.ask);
    }

    #[test]
    fn limits_are_named() {
        assert_eq!(
            said(r#"{"version":1,"ask":{"sink":{"octets":0,"at_most_ms":2000}}}"#),
            "octets = 0: 1 to 100000000000 expected"
        );
        assert_eq!(
            said(r#"{"version":1,"ask":{"sink":{"octets":1,"at_most_ms":30001}}}"#),
            "at_most_ms = 30001: 1 to 30000 expected"
        );
        let probe = |target: &str, count: u32, every_us: u64| {
            said(&format!(
                r#"{{"version":1,"ask":{{"probe":{{"target":"{target}","octets":64,"count":{count},"every_us":{every_us},"timeout_ms":9}}}}}}"#
            ))
        };
        assert_eq!(probe("udp:a:1", 1001, 1000), "count = 1001: 0 to 1000 expected");
        assert_eq!(probe("udp:a:1", 1, 999), "every_us = 999: 1000 to 20000000 expected");
        assert!(probe("exec:/bin/sh", 1, 1000).contains("expected"));
        assert!(probe("http://a/", 1, 1000).contains("expected"));
        assert_eq!(
            said(r#"{"version":2,"ask":{"sink":{"octets":1,"at_most_ms":1}}}"#),
            "version 2: 1 expected"
        );
        assert!(said("{").starts_with("malformed request: EOF"));
        assert_eq!(said(&" ".repeat(4097)), "a request of 4097 octets: at most 4096 expected");
    }
}
