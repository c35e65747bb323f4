//! The radar chain's own rules on the real chain: a radar whose data come irregularly or late raises an
//! alarm with its name, which no rule has, and the alarm clears when its data are regular again.

#![allow(clippy::unwrap_used)] // helpers of tests

use chronoscope_clock as clock;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A program, killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The rules that the radar chain is shipped with, over ten seconds instead of five minutes.
fn rules() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../systems/radar/dist/rules.toml");
    let text = std::fs::read_to_string(file).unwrap();
    assert_eq!(text.matches("window = \"5min\"").count(), 2);
    text.replace("window = \"5min\"", "window = \"10s\"")
}

/// Server, tracker and generator.
struct World {
    url: String,
    _programs: [Running; 3],
    _dir: tempfile::TempDir,
}

impl World {
    fn start(faults: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (rings, limits) = (dir.path().join("rings"), dir.path().join("rules.toml"));
        std::fs::create_dir(&rings).unwrap();
        std::fs::write(&limits, rules()).unwrap();
        let start = |program: &Path, arguments: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).current_dir(dir.path()).env("CHRONOSCOPE_DIR", &rings);
            Running(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap())
        };
        let chronoscope = Path::new(env!("CARGO_BIN_EXE_chronoscope"));
        let serve =
            ["serve", "--listen", "127.0.0.1:0", "--data", "data", "--limits", "rules.toml"];
        let mut server = start(chronoscope, &serve);
        let mut lines = BufReader::new(server.0.stderr.take().unwrap()).lines();
        let url = lines.find_map(|line| {
            Some(line.unwrap().strip_prefix("the page is at ")?.strip_suffix('/')?.to_owned())
        });
        let url = url.expect("the server tells its address");
        std::thread::spawn(move || lines.for_each(drop));
        let radar = |name: &str| {
            let program = chronoscope.with_file_name(name);
            assert!(program.exists(), "{name} is not built: cargo build --workspace --bins");
            program
        };
        let ports = ["--plots-port-file", "plots", "--port-file", "tracks", "--json"];
        let mut tracker = start(&radar("radar-tracker"), &ports);
        let said = tracker.0.stderr.take().unwrap();
        std::thread::spawn(move || BufReader::new(said).lines().for_each(drop));
        let address = until(|| std::fs::read_to_string(dir.path().join("plots")).ok());
        let mut arguments =
            vec!["--scenario", "circles", "--circles", "4", "--flights", "10", "--radars", "4"];
        arguments.extend(["--to", address.trim(), "--duration", "300"]);
        faults.iter().for_each(|fault| arguments.extend(["--fault", fault]));
        let mut generator = start(&radar("radar-generator"), &arguments);
        let said = generator.0.stderr.take().unwrap();
        std::thread::spawn(move || BufReader::new(said).lines().for_each(drop));
        Self { url, _programs: [server, tracker, generator], _dir: dir }
    }

    fn get(&self, path: &str) -> Value {
        let mut response = ureq::get(format!("{}/api/v1/{path}", self.url)).call().unwrap();
        serde_json::from_str(&response.body_mut().read_to_string().unwrap()).unwrap()
    }

    /// Names of the rules' alarms that Now shows.
    fn alarms(&self) -> BTreeSet<String> {
        let now = self.get("now");
        let alarms = now["alarms"].as_array().unwrap().iter();
        let named = alarms.filter(|alarm| alarm["kind"] == "rule").map(|alarm| {
            let name = alarm["rule"]["name"].as_str().unwrap().to_owned();
            assert!(alarm["sentence"].as_str().unwrap().starts_with(&name), "{alarm}");
            name
        });
        named.collect()
    }

    /// Judgements so far, as the rule of each radar has them.
    fn judged(&self) -> Vec<Value> {
        let rules = self.get("rules")["rules"].as_array().unwrap().clone();
        rules.into_iter().filter(|rule| rule["not_judged"].is_null()).collect()
    }
}

/// Waits for something; two minutes at most.
fn until<T>(mut is: impl FnMut() -> Option<T>) -> T {
    for _ in 0..600 {
        if let Some(found) = is() {
            return found;
        }
        clock::sleep(Duration::from_millis(200));
    }
    panic!("not within two minutes");
}

#[test]
fn an_irregular_and_a_late_radar_are_named_in_now_until_they_are_regular_again() {
    let world = World::start(&["98/3=outage,14,26", "98/2=late,0.3,3"]);
    let irregular = "irregular-radar[radar=98/3]".to_owned();
    let late = "late-radar[radar=98/2]".to_owned();
    let mut seen = BTreeSet::new();
    let mut shown = |name: &String, wanted: bool| {
        until(|| {
            let now = world.alarms();
            seen.extend(now.iter().cloned());
            (now.contains(name) == wanted).then_some(())
        });
    };
    shown(&late, true);
    shown(&irregular, true);
    shown(&irregular, false);
    // Late data may be irregular, too. The other two radars are neither.
    let of_others = |name: &&String| name.contains("98/1") || name.contains("98/4");
    assert_eq!(seen.iter().filter(of_others).collect::<Vec<_>>(), [] as [&String; 0]);
    assert!(!seen.contains("late-radar[radar=98/3]"), "{seen:?}");
}

#[test]
fn regular_radars_raise_no_alarm_in_the_same_time() {
    let world = World::start(&[]);
    // Four radars, two rules, and as many judgements as the other test takes.
    until(|| (world.judged().len() == 8).then_some(()));
    for _ in 0..80 {
        assert_eq!(world.alarms(), BTreeSet::new());
        clock::sleep(Duration::from_millis(500));
    }
    assert_eq!(world.judged().len(), 8);
}
