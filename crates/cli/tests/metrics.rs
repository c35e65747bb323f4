//! What Prometheus sees of a running collector.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A collector that answers; killed when dropped.
struct Collector {
    child: Child,
    url: String,
}

impl Collector {
    fn start(dir: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_chronoscope"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(dir.join("data"))
            .env("CHRONOSCOPE_DIR", dir.join("rings"))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let url = lines.find_map(|line| {
            let line = line.unwrap();
            Some(line.strip_prefix("answering on ")?.strip_suffix("/status")?.to_owned())
        });
        // What it says later goes nowhere, and must not stop it.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url: url.unwrap() }
    }

    fn metrics(&self) -> String {
        let mut response = ureq::get(format!("{}/metrics", self.url)).call().unwrap();
        response.body_mut().read_to_string().unwrap()
    }

    /// The sum of the samples that begin so.
    fn value(&self, begin: &str) -> f64 {
        let page = self.metrics();
        let samples = page.lines().filter(|line| line.starts_with(begin));
        samples.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
    }

    fn wait_for(&self, sample: &str, value: f64) {
        for _ in 0..600 {
            if (self.value(sample) - value).abs() < 0.5 {
                return;
            }
            chronoscope_clock::sleep(Duration::from_millis(50));
        }
        panic!("30 s passed and not yet: {sample} {value}; {}", self.metrics());
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn every_transaction_is_counted_once() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("rings")).unwrap();
    let collector = Collector::start(dir.path());
    collector.wait_for("chronoscope_metrics_following", 1.0);
    for round in 1..=2 {
        let hops = Path::new(env!("CARGO_BIN_EXE_chronoscope")).with_file_name("examples");
        let mut hops = Command::new(hops.join("two_hops"));
        hops.args(["300", "0"]).stdout(Stdio::null());
        assert!(hops.env("CHRONOSCOPE_DIR", dir.path().join("rings")).status().unwrap().success());
        let count = 300.0 * f64::from(round);
        let chains = "chronoscope_chain_duration_seconds_count\
                      {root=\"hops::request\",leaf=\"hops::answer\",level=\"1\"}";
        collector.wait_for(chains, count);
        for class in ["request", "answer"] {
            let of =
                |name: &str| format!("chronoscope_{name}{{application=\"hops\",class=\"{class}\",");
            collector.wait_for(&of("transactions_total"), count);
            collector.wait_for(&of("transaction_elapsed_seconds_count"), count);
            if class == "answer" {
                // Every hundredth fails.
                collector.wait_for(&of("transactions_not_good_total"), count / 100.0);
            }
        }
        let page = collector.metrics();
        assert!(page.contains("\nchronoscope_metrics_missed_rows_total 0\n"), "{page}");
    }
}
