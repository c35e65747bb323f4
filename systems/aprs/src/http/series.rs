//! Counters of the last 48 hours, one sample a minute, for the graphs of status pages.

use crate::status::StatusSnapshot;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Between two samples, seconds.
pub(super) const INTERVAL_S: u64 = 60;

/// Samples that are kept: 48 hours.
pub(super) const SAMPLES_MAX: usize = 48 * 60;

/// Name of a series, which is part of the interface; whether it is a gauge; and its value.
type Source = (&'static str, bool, fn(&StatusSnapshot) -> u64);

/// Sampled series.
const SOURCES: [Source; 18] = [
    ("totals.clients", true, |status| status.clients),
    ("totals.connects", false, |status| status.connects),
    ("totals.tcp_bytes_rx", false, |status| status.tcp.bytes_rx),
    ("totals.tcp_bytes_tx", false, |status| status.tcp.bytes_tx),
    ("totals.udp_bytes_rx", false, |status| status.udp.bytes_rx),
    ("totals.udp_bytes_tx", false, |status| status.udp.bytes_tx),
    ("totals.sctp_bytes_rx", false, |status| status.sctp.bytes_rx),
    ("totals.sctp_bytes_tx", false, |status| status.sctp.bytes_tx),
    ("totals.tcp_pkts_rx", false, |status| status.tcp.packets_rx),
    ("totals.tcp_pkts_tx", false, |status| status.tcp.packets_tx),
    ("totals.udp_pkts_rx", false, |status| status.udp.packets_rx),
    ("totals.udp_pkts_tx", false, |status| status.udp.packets_tx),
    ("totals.sctp_pkts_rx", false, |status| status.sctp.packets_rx),
    ("totals.sctp_pkts_tx", false, |status| status.sctp.packets_tx),
    ("dupecheck.dupes_dropped", false, |status| status.dupes.duplicates),
    ("dupecheck.uniques_out", false, |status| status.dupes.uniques),
    ("totals.pkts_ign", false, packets_dropped),
    ("totals.refused", false, |status| status.refused),
];

/// Packets dropped by any protocol, duplicates not counted.
pub(super) fn packets_dropped(status: &StatusSnapshot) -> u64 {
    [&status.tcp, &status.udp, &status.sctp].iter().map(|traffic| traffic.dropped).sum()
}

/// All series. What is saved by one process is gone on with by the next one of a live upgrade.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// UTC seconds of the samples.
    times: VecDeque<i64>,
    rows: Vec<Row>,
}

/// Samples of one series.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Row {
    name: String,
    /// The counter's value at the last sample.
    last: u64,
    /// As many values as there are times: a gauge's values, a counter's increments; `None` where
    /// there is no data, as after a counter went back.
    values: VecDeque<Option<u64>>,
}

impl Series {
    /// Takes a sample. One that is not later than the last is left out: the clock was set back.
    pub(super) fn sample(&mut self, status: &StatusSnapshot) {
        let time = status.now.utc_ns / 1_000_000_000;
        if self.times.back().is_some_and(|last| *last >= time) {
            // A clock that was set back by more than the whole series starts it anew.
            if self.times.front().is_some_and(|first| *first > time) {
                self.times.clear();
                self.rows.iter_mut().for_each(|row| row.values.clear());
            } else {
                return;
            }
        }
        self.times.push_back(time);
        for (name, gauge, value) in SOURCES {
            let value = value(status);
            let length = self.times.len();
            let row = self.row(name);
            let increment = if gauge { Some(value) } else { value.checked_sub(row.last) };
            row.last = value;
            // A name that an earlier version did not save begins with a gap.
            row.values.resize(length - 1, None);
            row.values.push_back(increment);
        }
        if self.times.len() > SAMPLES_MAX {
            self.times.pop_front();
            for row in &mut self.rows {
                row.values.pop_front();
            }
        }
    }

    fn row(&mut self, name: &str) -> &mut Row {
        let at = self.rows.iter().position(|row| row.name == name).unwrap_or_else(|| {
            self.rows.push(Row { name: name.to_owned(), ..Row::default() });
            self.rows.len() - 1
        });
        &mut self.rows[at]
    }

    /// The last increment of a counter per second; 0 where there is none.
    pub(super) fn last_rate(&self, name: &str) -> u64 {
        let row = self.rows.iter().find(|row| row.name == name);
        row.and_then(|row| row.values.back().copied().flatten()).unwrap_or(0) / INTERVAL_S
    }

    /// Samples of one series as `counterdata` returns them; `None` where no series has this name.
    pub(super) fn json(&self, name: &str) -> Option<serde_json::Value> {
        let (_, gauge, _) = SOURCES.iter().find(|(known, ..)| *known == name)?;
        let row = self.rows.iter().find(|row| row.name == name);
        let values = row.into_iter().flat_map(|row| self.times.iter().zip(&row.values));
        // No data is -1 in this interface.
        let value = |value: &Option<u64>| value.and_then(|v| i64::try_from(v).ok()).unwrap_or(-1);
        let values: Vec<_> = values.map(|(time, count)| (*time, value(count))).collect();
        let mut json = serde_json::json!({ "interval": INTERVAL_S, "values": values });
        if *gauge {
            json["gauge"] = 1.into();
        }
        Some(json)
    }
}

#[cfg(test)]
mod tests {
    use super::{SAMPLES_MAX, Series};
    use crate::http::tests::snapshot;

    #[test]
    fn counters_are_increments_and_gauges_are_values() {
        let mut series = Series::default();
        let mut status = snapshot();
        for (seconds, clients, bytes) in [(60, 7, 600), (120, 3, 1800), (180, 4, 1000)] {
            status.now.utc_ns = seconds * 1_000_000_000;
            status.clients = clients;
            status.tcp.bytes_rx = bytes;
            series.sample(&status);
        }
        let clients = series.json("totals.clients").unwrap();
        assert_eq!(clients["values"].to_string(), "[[60,7],[120,3],[180,4]]");
        assert_eq!((&clients["gauge"], &clients["interval"]), (&1.into(), &60.into()));
        let bytes = series.json("totals.tcp_bytes_rx").unwrap();
        assert_eq!(bytes["values"].to_string(), "[[60,600],[120,1200],[180,-1]]");
        assert!(bytes.get("gauge").is_none());
        assert!(series.json("totals.nothing").is_none());
    }

    #[test]
    fn a_rate_is_the_last_minute_per_second() {
        let mut series = Series::default();
        let mut status = snapshot();
        assert_eq!(series.last_rate("totals.tcp_bytes_tx"), 0);
        status.tcp.bytes_tx = 120;
        series.sample(&status);
        assert_eq!(series.last_rate("totals.tcp_bytes_tx"), 2);
    }

    #[test]
    fn only_48_hours_are_kept_and_they_survive_being_saved() {
        let mut series = Series::default();
        let mut status = snapshot();
        for minute in 0..SAMPLES_MAX + 5 {
            status.now.utc_ns = i64::try_from(minute).unwrap() * 60_000_000_000;
            status.connects += 2;
            series.sample(&status);
        }
        let values = series.json("totals.connects").unwrap()["values"].clone();
        assert_eq!(values.as_array().unwrap().len(), SAMPLES_MAX);
        assert_eq!(values[0].to_string(), "[300,2]");
        let saved = serde_json::to_string(&series).unwrap();
        assert_eq!(serde_json::from_str::<Series>(&saved).unwrap(), series);
    }

    #[test]
    fn a_clock_that_is_set_back_neither_repeats_nor_stops_the_series() {
        let mut series = Series::default();
        let mut status = snapshot();
        for seconds in [600, 660, 630, 720, 60, 120] {
            status.now.utc_ns = seconds * 1_000_000_000;
            series.sample(&status);
        }
        let values = series.json("totals.clients").unwrap()["values"].clone();
        assert_eq!(values.as_array().unwrap().len(), 2, "{values}");
        assert_eq!(values[1][0], 120);
    }
}
