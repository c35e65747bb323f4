//! Senders over the network and their refusals: for the log and for the summary of `serve`.
//!
//! However much a source sends that is refused, it gets one log line a second for each reason, with
//! the number of refusals.

use crate::log::LogLine;
use chronoscope_clock as clock;
use chronoscope_model::{Batch, Names, ProcessId};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tonic::codegen::http::Extensions;

/// Largest number of sources whose refusals are counted separately; further ones share one count.
const REFUSED_MAX: usize = 1024;
/// Largest number of known OpenTelemetry sources; further ones are neither logged nor counted.
const SOURCES_MAX: usize = 4096;
/// A source and reason has one line in so long.
const TOLD_EVERY_NS: i64 = 1_000_000_000;
/// Letters of a reason in words.
const WHY_MAX: usize = 200;

/// The other end of a request's connection; it travels in the request's extensions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

impl Peer {
    /// The peer of a request.
    pub(crate) fn of(extensions: &Extensions) -> Option<SocketAddr> {
        extensions.get::<Self>().map(|peer| peer.0)
    }
}

/// Rows received over the network since the server started, without those of agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Services of OpenTelemetry by host, at most 4096.
    pub otlp_sources: u64,
    /// Rows of requests that were taken; of a request that came twice, twice.
    pub otlp_rows: u64,
}

/// All senders of one server.
#[derive(Debug, Default)]
pub(crate) struct Senders {
    refusals: Mutex<Refusals>,
    otlp: Mutex<Otlp>,
}

#[derive(Debug, Default)]
struct Otlp {
    /// Service and host.
    sources: BTreeSet<(String, String)>,
    rows: u64,
}

impl Senders {
    /// Notes that something of a sender was not taken: why in one word, and in words.
    pub(crate) fn refused(
        &self,
        peer: Option<SocketAddr>,
        reason: &'static str,
        count: u64,
        why: &str,
    ) {
        let key = (peer.map(|peer| peer.ip()), reason);
        let said = lock(&self.refusals).add(key, count, why, clock::utc_now_ns());
        said.into_iter().for_each(|line| line.say());
    }

    /// Counts durable rows of OpenTelemetry, and logs new sources.
    pub(crate) fn took_spans(&self, peer: Option<SocketAddr>, batch: &Batch, names: &Names) {
        let mut rows: BTreeMap<ProcessId, u64> = BTreeMap::new();
        for record in batch.records() {
            *rows.entry(record.process).or_default() += 1;
        }
        let mut new = Vec::new();
        {
            let mut otlp = lock(&self.otlp);
            otlp.rows += batch.len() as u64;
            for (process, rows) in rows {
                let Some(name) = names.process(process) else { continue };
                let source = (name.application.clone(), name.host.clone());
                if otlp.sources.len() < SOURCES_MAX && otlp.sources.insert(source.clone()) {
                    new.push((source, rows));
                }
            }
        }
        for ((service, host), rows) in new {
            let line = LogLine::info("otlp_source").with_some("peer", peer);
            line.with("service", service).with("host", host).with("rows", rows).say();
        }
    }

    /// Counts so far.
    pub(crate) fn received(&self) -> Received {
        let otlp = lock(&self.otlp);
        Received { otlp_sources: otlp.sources.len() as u64, otlp_rows: otlp.rows }
    }

    /// Logs refusals that were held back, as long as the server runs.
    pub(crate) async fn tell(self: Arc<Self>) {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let due = lock(&self.refusals).due(clock::utc_now_ns());
            due.iter().for_each(LogLine::say);
        }
    }
}

/// A source and a reason.
type Key = (Option<IpAddr>, &'static str);

/// Refusals by source and reason, for at most one line a second each.
#[derive(Debug, Default)]
struct Refusals(BTreeMap<Key, Held>);

/// Refusals not logged yet.
#[derive(Debug, Default)]
struct Held {
    told_ns: i64,
    count: u64,
    why: String,
}

impl Refusals {
    /// Adds some; a line where one is due.
    fn add(&mut self, key: Key, count: u64, why: &str, now_ns: i64) -> Option<LogLine> {
        let known = self.0.contains_key(&key) || self.0.len() < REFUSED_MAX;
        let key = if known { key } else { (None, key.1) };
        let new = || Held { told_ns: i64::MIN, ..Held::default() };
        let held = self.0.entry(key).or_insert_with(new);
        held.count += count;
        held.why = why.chars().take(WHY_MAX).collect();
        held.is_due(now_ns).then(|| held.line(key, now_ns))
    }

    /// The lines that are due. Entries without a refusal since their last line are removed.
    fn due(&mut self, now_ns: i64) -> Vec<LogLine> {
        self.0.retain(|_, held| held.count > 0 || !held.is_due(now_ns));
        let due = self.0.iter_mut().filter(|(_, held)| held.count > 0 && held.is_due(now_ns));
        due.map(|(key, held)| held.line(*key, now_ns)).collect()
    }
}

impl Held {
    fn is_due(&self, now_ns: i64) -> bool {
        now_ns.saturating_sub(self.told_ns) >= TOLD_EVERY_NS
    }

    fn line(&mut self, (peer, reason): Key, now_ns: i64) -> LogLine {
        self.told_ns = now_ns;
        let count = std::mem::take(&mut self.count);
        let peer = peer.map_or_else(|| "others".to_owned(), |peer| peer.to_string());
        let line = LogLine::warn("refused").with("peer", peer).with("reason", reason);
        line.with("count", count).with("why", &self.why)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Key = (Some(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST)), "token");

    fn texts(lines: impl IntoIterator<Item = LogLine>) -> Vec<String> {
        let at = |line: LogLine| line.at(0)["1970-01-01T00:00:00.000Z ".len()..].to_owned();
        lines.into_iter().map(at).collect()
    }

    #[test]
    fn a_source_has_one_line_a_second_that_carries_the_count() {
        let mut refusals = Refusals::default();
        let first = refusals.add(ONE, 1, "no token", 0);
        assert_eq!(
            texts(first),
            ["warn refused peer=127.0.0.1 reason=token count=1 why=\"no token\""]
        );
        for ns in 1..=41 {
            assert_eq!(refusals.add(ONE, 1, "wrong", ns), None);
        }
        let other = refusals.add((ONE.0, "size"), 1, "long", 42);
        assert!(other.is_some(), "another reason has its own line");
        assert_eq!(refusals.due(TOLD_EVERY_NS - 1), []);
        let due = texts(refusals.due(TOLD_EVERY_NS));
        assert_eq!(due, ["warn refused peer=127.0.0.1 reason=token count=41 why=wrong"]);
        assert_eq!(refusals.due(3 * TOLD_EVERY_NS), [], "nothing is told twice");
        assert!(refusals.0.is_empty());
    }

    #[test]
    fn a_crowd_of_sources_is_told_together() {
        let mut refusals = Refusals::default();
        let source = |n: u32| (Some(IpAddr::V4(n.into())), "token");
        for n in 0..3000 {
            let _ = refusals.add(source(n), 1, "none", i64::from(n));
        }
        assert_eq!(refusals.0.len(), REFUSED_MAX + 1);
        let due = texts(refusals.due(2 * TOLD_EVERY_NS));
        let rest = 3000 - REFUSED_MAX - 1; // the first of them had its line
        assert_eq!(due, [format!("warn refused peer=others reason=token count={rest} why=none")]);
    }
}
