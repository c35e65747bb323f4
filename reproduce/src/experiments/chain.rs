//! The radar chain: generator, tracker, message server and displays, with the collector beside.

use crate::run::{Background, Run};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is run.
pub(super) struct Chain<'s> {
    /// Options of the generator besides where to send and for how long.
    pub(super) scenario: Vec<OsString>,
    /// The rule of each display for collecting updates (`radar-display --mpa`).
    pub(super) displays: &'s [&'s str],
    pub(super) seconds: u32,
}

/// What came of it.
pub(super) struct Ran {
    /// The store.
    pub(super) data: PathBuf,
    /// The picture of the first display.
    pub(super) picture: PathBuf,
    /// Summaries of the displays, in order.
    pub(super) displays: Vec<Value>,
    /// Summary of the tracker.
    pub(super) tracker: Value,
}

/// Recorded flights where they can be had; else artificial ones, as many.
pub(super) fn live(run: &mut Run<'_>) -> Result<(Vec<OsString>, &'static str)> {
    let flights = run.root.join("tools/flights");
    match run.tool("flights", &flights).text() {
        Ok(path) => {
            let words = ["--scenario", "live", "--recording", path.trim()];
            Ok((words.map(OsString::from).to_vec(), "recorded flights over Germany"))
        }
        Err(error) => {
            run.go_on()?; // it was not the signal
            eprintln!("without recorded flights: {error:#}");
            let words = ["--scenario", "circles", "--flights", "24"];
            Ok((words.map(OsString::from).to_vec(), "720 artificial flights: no recorded ones"))
        }
    }
}

impl Chain<'_> {
    /// Runs it, in a folder of its own.
    pub(super) fn run(&self, run: &mut Run<'_>, name: &str) -> Result<Ran> {
        let folder = run.fresh(name)?;
        let (data, picture) = (folder.join("data"), folder.join("display.png"));
        let rings = run.rings().join(name);
        std::fs::create_dir_all(&rings)?;
        let rings = rings.as_os_str();
        let file = |name: &str| folder.join(name);
        let serve = run.call("chronoscope")?.arg("serve").arg("--data").arg(&data);
        let serve = serve.arg("--rings").arg(rings).args(["--wait-late", "5s", "--json"]);
        let mut serve = serve.start("serve")?;
        let tracker = run.call("radar-tracker")?.env("CHRONOSCOPE_DIR", rings).arg("--json");
        let tracker = tracker.arg("--plots-port-file").arg(file("plots"));
        let mut tracker = tracker.arg("--port-file").arg(file("tracks")).start("tracker")?;
        let plots = address(run, &file("plots"), &mut tracker)?;
        let tracks = address(run, &file("tracks"), &mut tracker)?;
        let plans = file("plans.csv");
        let generator = run.call("radar-generator")?.env("CHRONOSCOPE_DIR", rings);
        let generator = generator.args(&self.scenario).arg("--to").arg(plots).arg("--json");
        let generator = generator.arg("--duration").arg(self.seconds.to_string());
        let mut generator = generator.arg("--flight-plans").arg(&plans).start("generator")?;
        // It writes the flight plans first; the message server reads them when they are there.
        address(run, &plans, &mut generator)?;
        let messages = run.call("radar-messages")?.env("CHRONOSCOPE_DIR", rings).arg("--json");
        let messages = messages.arg("--tracker").arg(tracks).arg("--flight-plans").arg(&plans);
        let mut messages = messages.arg("--port-file").arg(file("updates")).start("messages")?;
        let updates = address(run, &file("updates"), &mut messages)?;
        let mut displays = Vec::new();
        for (number, policy) in self.displays.iter().enumerate() {
            let mut display = run.call("radar-display")?.env("CHRONOSCOPE_DIR", rings);
            display = display.arg("--messages").arg(&updates).args(["--mpa", policy, "--json"]);
            if number == 0 {
                display = display.args(["--size", "820x620"]).arg("--png").arg(&picture);
            }
            displays.push(display.start(&format!("display{number}"))?);
        }
        while generator.is_running()? {
            run.wait(Duration::from_millis(200))?;
        }
        // The last plots need a moment to reach the displays; then sources end before those they feed.
        run.wait(Duration::from_secs(2))?;
        let tracker = summary(tracker)?;
        messages.end()?;
        let displays = displays.into_iter().map(summary).collect::<Result<_>>()?;
        run.wait(Duration::from_secs(1))?;
        if !serve.is_running()? {
            bail!("the collector ended before what it collects (log.txt says why)");
        }
        serve.end()?;
        Ok(Ran { data, picture, displays, tracker })
    }
}

/// The last line of JSON that a program printed.
fn summary(program: Background) -> Result<Value> {
    let text = program.end()?;
    serde_json::from_str(text.trim()).with_context(|| format!("its summary: {text}"))
}

/// What a program has written into a file, once it has.
fn address(run: &Run<'_>, path: &Path, program: &mut Background) -> Result<String> {
    for _ in 0..400 {
        if let Ok(text) = std::fs::read_to_string(path)
            && !text.is_empty()
        {
            return Ok(text.trim().to_owned());
        }
        if !program.is_running()? {
            bail!("a program ended before it wrote {} (log.txt says why)", path.display());
        }
        run.wait(Duration::from_millis(50))?;
    }
    bail!("{} was not written within 20 s", path.display())
}
