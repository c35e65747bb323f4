//! Interface counters of a Prometheus `node_exporter`: text exposition format 0.0.4.
//!
//! Only the eight metrics that are needed and the start of the exporter's host are parsed; all
//! other lines are skipped.

use super::{INTERFACES_MAX, Interface};
use crate::counters::Counters;
use std::collections::BTreeMap;

/// Names of the metrics, in the order of [`Counters::values`].
const METRICS: [&str; 8] = [
    "node_network_receive_packets_total",
    "node_network_transmit_packets_total",
    "node_network_receive_bytes_total",
    "node_network_transmit_bytes_total",
    "node_network_receive_errs_total",
    "node_network_transmit_errs_total",
    "node_network_receive_drop_total",
    "node_network_transmit_drop_total",
];
const BOOT: &str = "node_boot_time_seconds";

/// Metrics found in an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exported {
    /// Counters by interface.
    pub interfaces: Vec<Interface>,
    /// Start of the host, UTC seconds.
    pub boot_s: Option<f64>,
}

/// A line that cannot be read, or an answer without interfaces.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExporterError {
    /// A line of one of the metrics has another form.
    #[error("line {line}: {text:?}: a metric with a label device and a number expected")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// Text of the line.
        text: String,
    },
    /// More interfaces than any host has.
    #[error("more than {0} interfaces")]
    TooMany(usize),
    /// The answer has no counter of an interface.
    #[error("no node_network_… metric: not a node_exporter, or one without its netdev collector")]
    Nothing,
}

/// Reads an answer.
///
/// # Errors
/// [`ExporterError`].
pub fn read(text: &str) -> Result<Exported, ExporterError> {
    let mut devices: BTreeMap<&str, [u64; METRICS.len()]> = BTreeMap::new();
    let mut boot_s = None;
    for (number, line) in (1..).zip(text.lines()) {
        let refuse =
            || ExporterError::Line { line: number, text: line.chars().take(200).collect() };
        if let Some(value) = line.strip_prefix(BOOT) {
            boot_s = Some(value.trim().parse().map_err(|_| refuse())?);
        }
        if !line.starts_with("node_network_") {
            continue;
        }
        let Some((metric, rest)) = line.split_once('{') else { continue };
        let Some(index) = METRICS.iter().position(|name| *name == metric) else { continue };
        let (device, value) = device_and_value(rest).ok_or_else(refuse)?;
        if devices.len() >= INTERFACES_MAX && !devices.contains_key(device) {
            return Err(ExporterError::TooMany(INTERFACES_MAX));
        }
        devices.entry(device).or_default()[index] = value;
    }
    if devices.is_empty() {
        return Err(ExporterError::Nothing);
    }
    let interface = |(name, values): (&str, _)| Interface {
        name: name.chars().filter(|c| !c.is_control()).take(64).collect(),
        counters: Counters::from_values(values),
        bits_per_s: None,
    };
    Ok(Exported { interfaces: devices.into_iter().map(interface).collect(), boot_s })
}

/// Parses the rest of a line, as `device="eth0"} 1.2e+06`, perhaps with other labels.
fn device_and_value(rest: &str) -> Option<(&str, u64)> {
    let (labels, value) = rest.rsplit_once('}')?;
    let (_, device) = labels.split_once("device=\"")?;
    let (device, _) = device.split_once('"')?;
    // A value may be followed by a time.
    let value: f64 = value.split_ascii_whitespace().next()?.parse().ok()?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked
    (0.0..1.8e19).contains(&value).then_some((device, value as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = r#"# HELP node_network_receive_bytes_total Network device statistic receive_bytes.
# TYPE node_network_receive_bytes_total counter
node_network_receive_bytes_total{device="eth0"} 1.234567e+06
node_network_receive_bytes_total{device="lo"} 10
node_network_transmit_packets_total{device="eth0"} 42 1700000000000
node_network_up{device="eth0"} 1
node_network_info{address="00:00",device="eth0"} 1
node_boot_time_seconds 1.7e+09
node_cpu_seconds_total{cpu="0",mode="idle"} nonsense
"#;

    #[test]
    fn what_counts_is_found() {
        let found = read(TEXT).unwrap();
        assert_eq!(found.boot_s, Some(1.7e9));
        let eth0 = &found.interfaces[0];
        let expected = Counters { in_bytes: 1_234_567, out_packets: 42, ..Counters::default() };
        assert_eq!((eth0.name.as_str(), eth0.counters), ("eth0", expected));
        assert_eq!(found.interfaces[1].counters.in_bytes, 10);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = read("node_network_receive_bytes_total{device=\"eth0\"} -1\n").unwrap_err();
        assert!(wrong.to_string().starts_with("line 1: \"node_network_receive"), "{wrong}");
        assert_eq!(read("<html>"), Err(ExporterError::Nothing));
        let line = |n| format!("node_network_receive_bytes_total{{device=\"eth{n}\"}} 1\n");
        let many: String = (0..5000).map(line).collect();
        assert_eq!(read(&many), Err(ExporterError::TooMany(4096)));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(
            text in r#"((node_network_receive_bytes_total|node_boot_time_seconds)?[{}a-z=" 0-9.e-]{0,30}\n){0,8}"#,
        ) {
            let _ = read(&text);
        }
    }
}
