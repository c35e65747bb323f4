//! The working position as its operator starts it: maps, radars, and errors.

#![allow(clippy::unwrap_used, reason = "a test helper may panic")]

#[path = "support/programs.rs"]
mod programs;

use programs::wait_for;
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output};

const DISPLAY: &str = env!("CARGO_BIN_EXE_radar-display");

/// Two radars near Sydney.
const RADARS: &str = "radar,lat_deg,lon_deg,height_m\n50/1,-33.9,151.2,30\n50/2,-35.3,149.2,900\n";
const MAP: &str = r#"{"type":"FeatureCollection","features":[
    {"type":"Feature","properties":{"name":"PILUT"},"geometry":{"type":"Point","coordinates":[151,-34]}},
    {"type":"Feature","properties":{"layer":"inhibit","name":"R1","to_fl":50},
     "geometry":{"type":"Polygon","coordinates":[[[150,-34],[151,-34],[151,-33],[150,-34]]]}}]}"#;

/// A message server that is not there: the working position waits for it.
const NOBODY: [&str; 2] = ["--messages", "127.0.0.1:9"];

fn refused(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(DISPLAY);
    command.args(NOBODY).args(arguments).current_dir(folder);
    command.env("CHRONOSCOPE_RECORD", "off").env("RUST_BACKTRACE", "1").output().unwrap()
}

#[test]
fn an_error_is_one_line_without_a_backtrace() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("map.json"), MAP.replace("-33]", "-133]")).unwrap();
    std::fs::write(folder.path().join("radars.csv"), RADARS.replace("151.2", "east")).unwrap();
    for (arguments, why) in [
        (["--map", "missing.json"], "radar-display: cannot read missing.json: No such file"),
        (
            ["--map", "map.json"],
            "radar-display: map.json: feature 1 (from 0): [151, -133] is not on Earth: longitude comes \
             first",
        ),
        (["--radars", "radars.csv"], "radar-display: radars.csv: line 2: "),
        (["--height", "0.5"], "radar-display: --height 0.5: between 1 and 5000 nautical miles"),
    ] {
        let output = refused(folder.path(), &arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.starts_with(why), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

/// Ended whatever happens.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The map that a page gets from a working position with these arguments.
fn map_of(folder: &Path, arguments: &[&str]) -> Value {
    let file = folder.join("address");
    let _ = std::fs::remove_file(&file);
    let mut command = Command::new(DISPLAY);
    command.args(NOBODY).args(["--listen", "127.0.0.1:0", "--port-file", "address"]);
    command.args(arguments).current_dir(folder).env("CHRONOSCOPE_RECORD", "off");
    let _served = Served(command.spawn().unwrap());
    wait_for("the address", || std::fs::read_to_string(&file).is_ok_and(|text| !text.is_empty()));
    let address = std::fs::read_to_string(&file).unwrap();
    let mut stream = TcpStream::connect(address.trim()).unwrap();
    let ask =
        format!("GET /map.json HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", address.trim());
    stream.write_all(ask.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let body = &answer[answer.find('{').unwrap()..=answer.rfind('}').unwrap()];
    serde_json::from_str(body).unwrap()
}

#[test]
fn the_picture_is_centred_on_the_radars_wherever_they_are() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("radars.csv"), RADARS).unwrap();
    std::fs::write(folder.path().join("map.json"), MAP).unwrap();
    let map = map_of(folder.path(), &["--radars", "radars.csv", "--map", "map.json"]);
    let centre = [&map["centre"][0], &map["centre"][1]].map(|at| at.as_f64().unwrap());
    assert!((centre[0] + 34.6).abs() < 0.1 && (centre[1] - 150.2).abs() < 0.1, "{centre:?}");
    assert_eq!(map["centre_is_given"], true);
    // 64 NM from the middle to each, and 150 NM around them.
    let height = map["height_nm"].as_f64().unwrap();
    assert!((420.0..440.0).contains(&height), "{height}");
    assert_eq!(map["radars"][1]["name"], "50/2");
    assert_eq!(map["fixes"][0]["name"], "PILUT");
    assert_eq!(
        (&map["areas"][0]["kind"], &map["areas"][0]["levels"][1]),
        (&"inhibit".into(), &50.into())
    );
    assert_eq!((map["sectors"].as_array().unwrap().len(), &map["composed"]), (0, &"".into()));
    // Without anything said the page may look for the tracks.
    let map = map_of(folder.path(), &[]);
    assert_eq!((&map["centre_is_given"], &map["centre"][0]), (&false.into(), &51.1.into()));
    assert_eq!(map["radars"].as_array().unwrap().len(), 5);
}
