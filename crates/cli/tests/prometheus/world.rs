//! A collector that serves metrics, and a Prometheus.

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Flags of a Prometheus that reads native histograms and exemplars.
pub(crate) const NATIVE: &str = "--enable-feature=native-histograms,exemplar-storage";
/// Flag of one that reads exemplars.
pub(crate) const CLASSIC: &str = "--enable-feature=exemplar-storage";
/// Flag of one that takes what is sent.
pub(crate) const RECEIVER: &str = "--web.enable-remote-write-receiver";

/// The repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether a program can be run; says loudly where it cannot.
pub(crate) fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        eprintln!("SKIPPED: no {program} (apt-get install prometheus): nothing tested");
    }
    found
}

/// A process that is killed when dropped, and what it said on stderr.
struct Process {
    child: Child,
    said: Arc<Mutex<String>>,
}

impl Process {
    /// Starts a program and waits until it has said where it listens.
    fn start(command: &mut Command, address_of: fn(&str) -> Option<&str>) -> (Self, String) {
        let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let said = Arc::<Mutex<String>>::default();
        let address = loop {
            let line = next_line(&mut lines);
            let line = line.unwrap_or_else(|| panic!("it ended: {}", said.lock().unwrap()));
            *said.lock().unwrap() += &line;
            if let Some(address) = address_of(&line) {
                break address.to_owned();
            }
        };
        // What it says later must not stop it.
        let kept = said.clone();
        std::thread::spawn(move || {
            while let Some(line) = next_line(&mut lines) {
                *kept.lock().unwrap() += &line;
            }
        });
        (Self { child, said }, address)
    }
}

fn next_line(lines: &mut BufReader<ChildStderr>) -> Option<String> {
    let mut line = String::new();
    (lines.read_line(&mut line).unwrap() > 0).then_some(line)
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder with rings, stored transactions, and a Prometheus's data.
pub(crate) struct World {
    dir: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir(world.path("rings")).unwrap();
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file and returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name).display().to_string()
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env("CHRONOSCOPE_DIR", self.path("rings"));
        command.env("CHRONOSCOPE_DATA", self.path("data")).env("TZ", "UTC");
        command
    }

    /// What a command of `chronoscope` prints as JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let output = self.command(env!("CARGO_BIN_EXE_chronoscope")).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// A measured program makes chains from `hops::request` to `hops::answer`.
    pub(crate) fn make_chains(&self, count: u64) {
        let hops = Path::new(env!("CARGO_BIN_EXE_chronoscope")).with_file_name("examples");
        let mut hops = self.command(hops.join("two_hops"));
        let status = hops.args([&count.to_string(), "0"]).stdout(Stdio::null()).status();
        assert!(status.unwrap().success());
    }

    /// A collector that counts what comes in from now on.
    pub(crate) fn serve(&self, args: &[&str]) -> Server {
        self.serve_at("127.0.0.1:0", args)
    }

    /// The same at an address.
    pub(crate) fn serve_at(&self, at: &str, args: &[&str]) -> Server {
        let mut command = self.command(env!("CARGO_BIN_EXE_chronoscope"));
        command.args(["serve", "--listen", at]).args(args);
        let (process, address) = Process::start(&mut command, |line| {
            line.strip_prefix("answering on http://")?.trim().strip_suffix("/status")
        });
        let server = Server { process, address };
        server.wait_for("chronoscope_metrics_following", 1.0);
        server
    }

    /// A Prometheus with a configuration, on a port that the kernel chooses.
    pub(crate) fn prometheus(&self, config: &str, flags: &[&str]) -> Prometheus {
        self.prometheus_at("127.0.0.1:0", config, flags)
    }

    /// The same at an address, on the data of the one before.
    pub(crate) fn prometheus_at(&self, at: &str, config: &str, flags: &[&str]) -> Prometheus {
        let config = self.write("prometheus.yml", config);
        let mut command = Command::new("prometheus");
        command.arg(format!("--config.file={config}"));
        command.arg(format!("--storage.tsdb.path={}", self.path("tsdb").display()));
        command.arg(format!("--web.listen-address={at}")).args(flags);
        let (process, address) = Process::start(&mut command, |line| {
            let address = line.split_once("msg=\"Listening on\" address=")?.1;
            address.split_whitespace().next()
        });
        let prometheus = Prometheus { process, address, authorization: None };
        prometheus.wait_until_ready();
        prometheus
    }
}

/// A collector that answers.
pub(crate) struct Server {
    process: Process,
    pub(crate) address: String,
}

impl Server {
    /// The configuration of a Prometheus that scrapes it each second.
    pub(crate) fn scraped(&self) -> String {
        format!(
            "global: {{ scrape_interval: 1s }}\nscrape_configs:\n  - job_name: chronoscope\n    \
             static_configs: [{{ targets: ['{}'] }}]\n",
            self.address
        )
    }

    /// The type of the answer to a request for metrics, and its body.
    pub(crate) fn metrics_as(&self, accept: &str) -> (String, Vec<u8>) {
        let request = ureq::get(format!("http://{}/metrics", self.address));
        let mut answer = request.header("accept", accept).call().unwrap();
        let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
        (kind, answer.body_mut().read_to_vec().unwrap())
    }

    pub(crate) fn metrics(&self) -> String {
        String::from_utf8(self.metrics_as("text/plain").1).unwrap()
    }

    /// The sum of the samples that begin so.
    pub(crate) fn value(&self, begin: &str) -> f64 {
        let page = self.metrics();
        let samples = page.lines().filter(|line| line.starts_with(begin));
        samples.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
    }

    pub(crate) fn wait_for(&self, sample: &str, value: f64) {
        wait_until(sample, || (self.value(sample) - value).abs() < 0.5);
    }

    /// Waits until so many chains are counted.
    pub(crate) fn wait_for_chains(&self, count: f64) {
        self.wait_for("chronoscope_chain_duration_seconds_count{root=\"hops::request\"", count);
    }

    /// The lines of its log that have this event.
    pub(crate) fn logged(&self, event: &str) -> Vec<String> {
        let said = self.process.said.lock().unwrap();
        let lines = said.lines().filter(|line| line.split(' ').any(|word| word == event));
        lines.map(str::to_owned).collect()
    }

    /// Ends it as an operator does, and waits until it has.
    pub(crate) fn terminate(mut self) {
        let pid = rustix::process::Pid::from_child(&self.process.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.process.child.wait().unwrap();
    }
}

/// A real Prometheus.
pub(crate) struct Prometheus {
    #[allow(dead_code)] // it lives as long
    process: Process,
    pub(crate) address: String,
    /// Value of the header `authorization` of each request, where one is needed.
    pub(crate) authorization: Option<String>,
}

impl Prometheus {
    fn wait_until_ready(&self) {
        let url = format!("http://{}/-/ready", self.address);
        // One that asks for a password is ready to say so.
        let is_ready = || match ureq::get(&url).call() {
            Ok(_) | Err(ureq::Error::StatusCode(401)) => true,
            Err(_) => false,
        };
        wait_until("Prometheus is ready", is_ready);
    }

    /// The field `data` of an answer of its API.
    pub(crate) fn api(&self, path: &str, parameters: &[(&str, &str)]) -> Value {
        let mut request = ureq::get(format!("http://{}/api/v1/{path}", self.address))
            .config()
            .http_status_as_error(false)
            .build();
        if let Some(authorization) = &self.authorization {
            request = request.header("authorization", authorization);
        }
        let request = request.query_pairs(parameters.iter().copied());
        let answer = request.call().unwrap().body_mut().read_to_string().unwrap();
        let mut answer: Value =
            serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{answer}"));
        assert_eq!(answer["status"], "success", "{path} {parameters:?}: {answer}");
        answer["data"].take()
    }

    /// The series of an instant query, with their labels and values.
    pub(crate) fn series(&self, query: &str) -> Vec<Value> {
        self.api("query", &[("query", query)])["result"].as_array().unwrap().clone()
    }

    /// The value of an instant query that has one series.
    pub(crate) fn value(&self, query: &str) -> Option<f64> {
        value_of(&self.series(query), query)
    }

    /// The value that it had at an instant: UTC, nanoseconds since 1970.
    pub(crate) fn value_at(&self, query: &str, at_ns: i64) -> Option<f64> {
        let at = format!("{:.3}", at_ns as f64 / 1e9);
        let data = self.api("query", &[("query", query), ("time", &at)]);
        value_of(data["result"].as_array().unwrap(), query)
    }

    pub(crate) fn wait_for(&self, query: &str, value: f64) {
        let mut last = None;
        for _ in 0..600 {
            last = self.value(query);
            if last.is_some_and(|found| (found - value).abs() < 1e-9) {
                return;
            }
            chronoscope_clock::sleep(Duration::from_millis(50));
        }
        panic!("30 s passed and {query} is {last:?}, not {value}");
    }

    /// The exemplars of a series: labels and value of each.
    pub(crate) fn exemplars(&self, query: &str) -> Vec<Value> {
        let now_s = chronoscope_clock::utc_now_ns() / 1_000_000_000;
        let (start, end) = ((now_s - 3600).to_string(), (now_s + 60).to_string());
        let found = self
            .api("query_exemplars", &[("query", query), ("start", &start), ("end", &end)])
            .as_array()
            .unwrap()
            .clone();
        found.iter().flat_map(|series| series["exemplars"].as_array().unwrap().clone()).collect()
    }
}

fn value_of(series: &[Value], query: &str) -> Option<f64> {
    assert!(series.len() <= 1, "{query}: {series:?}");
    series.first()?["value"][1].as_str()?.parse().ok()
}

pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        chronoscope_clock::sleep(Duration::from_millis(50));
    }
    panic!("30 s passed and not yet: {what}");
}
