//! iperf3 beside: what TCP can carry on the same path, with the same buffers and congestion control.

use crate::delay::End;
use crate::measure::{Measured, Round};
use crate::test_path::TestPath;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

/// Whether there is an iperf3, and which; if not a line for standard error.
pub(crate) fn version() -> Result<String> {
    let output = Command::new("iperf3").arg("--version").output().context("no iperf3")?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or("iperf3").to_owned())
}

/// With a congestion control, or (empty) the machine's. One connection, `seconds` after `warm` seconds that do not count; intervals are the rounds.
pub(crate) fn run(
    place: &TestPath,
    congestion: &str,
    warm_time: Duration,
    time: Duration,
) -> Result<Measured> {
    // It knows whole seconds.
    let [warm, seconds] = [warm_time, time].map(|time| time.as_millis().div_ceil(1000).max(1));
    let port = place.free_port()?;
    let address = place.far_address().to_string();
    let mut serve = Command::new("iperf3");
    serve.args(["--server", "--one-off", "--forceflush", "--bind", &address, "--port"]);
    let mut server = place.start(End::Far, "iperf3 server", serve.arg(port.to_string()))?;
    while !server.line(Duration::from_secs(20))?.contains("listening") {}
    let (to, _relay) = place.reach(port)?;
    let mut command = Command::new("iperf3");
    command.args(["--client", &to.ip().to_string(), "--port", &to.port().to_string()]);
    if !congestion.is_empty() {
        command.args(["--congestion", congestion]);
    }
    // It counts whole blocks. Its own 128 kB are two thirds of a second's octets where 64 kB are
    // under way over 400 ms: such a rate would be read in steps of half of it.
    command.args(["--json", "--interval", "1", "--length", "4096"]);
    command.args(["--time", &seconds.to_string(), "--omit", &warm.to_string()]);
    let mut client = place.start(End::Near, "iperf3", &mut command)?;
    let mut text = String::new();
    let patience = warm_time + time + Duration::from_secs(30);
    // Its JSON ends with a lone brace.
    loop {
        let line = client.line(patience)?;
        text += &line;
        text.push('\n');
        if line == "}" {
            break;
        }
    }
    server.end();
    read(&serde_json::from_str(&text).context("iperf3's JSON")?)
}

/// The receiver's sum where the server told it, in one round; else the sender's.
fn read(report: &Value) -> Result<Measured> {
    if let Some(error) = report["error"].as_str() {
        bail!("iperf3: {error}");
    }
    let intervals = report["intervals"].as_array().context("iperf3 has no intervals")?;
    let round = |interval: &Value| {
        let sum = &interval["sum"];
        let octets = sum["bytes"].as_u64()?;
        let elapsed = Duration::try_from_secs_f64(sum["seconds"].as_f64()?).ok()?;
        let elapsed_ns = u64::try_from(elapsed.as_nanos()).ok()?;
        let counts = !sum["omitted"].as_bool()? && elapsed_ns > 500_000_000;
        counts.then_some(Round { units: octets, octets, elapsed_ns, ..Round::default() })
    };
    let rounds: Vec<Round> = intervals.iter().filter_map(round).collect();
    if rounds.is_empty() {
        bail!("iperf3 measured nothing");
    }
    Ok(Measured(rounds))
}

#[cfg(test)]
mod tests {
    use super::read;
    use serde_json::json;

    #[test]
    fn intervals_that_count_are_rounds() {
        let interval = |bytes: u64, seconds: f64, omitted: bool| json!({"sum": {"bytes": bytes, "seconds": seconds, "omitted": omitted}});
        let report = json!({"intervals": [
            interval(1, 1.0, true), interval(1_000_000, 1.0, false), interval(3_000_000, 1.0, false),
            interval(2_000_000, 1.0, false), interval(9, 0.01, false)]});
        let measured = read(&report).unwrap();
        assert_eq!(measured.0.len(), 3);
        assert!((measured.mbit_per_s() - 16.0).abs() < 1e-9);
        assert!(read(&json!({"error": "unable to connect"})).is_err());
        assert!(read(&json!({"intervals": []})).is_err());
    }
}
