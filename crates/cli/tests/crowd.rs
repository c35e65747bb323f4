//! A crowd of connections takes no file descriptor that rings need.

#![allow(clippy::unwrap_used)] // helpers of tests

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// File descriptors of the server, and connections to it.
const FILES: usize = 160;
const CROWD: usize = 300;
const CHAINS: u64 = 50;

/// Killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// 1,100 idle connections took all that there were: no ring was read any more.
#[test]
fn idle_connections_do_not_starve_rings() {
    let dir = tempfile::tempdir().unwrap();
    let rings = dir.path().join("rings");
    std::fs::create_dir(&rings).unwrap();
    let bin = env!("CARGO_BIN_EXE_chronoscope");
    let mut child = Command::new("sh")
        .args(["-c", &format!("ulimit -n {FILES}; exec \"$0\" \"$@\""), bin])
        .args(["serve", "--quiet", "--listen", "127.0.0.1:0", "--data", "data"])
        .current_dir(dir.path())
        .env("CHRONOSCOPE_DIR", &rings)
        .env("CHRONOSCOPE_DATA", dir.path().join("data"))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let _server = Running(child);
    let url = lines.find_map(|line| {
        let line = line.unwrap();
        Some(line.strip_prefix("the page is at ")?.trim_end_matches('/').to_owned())
    });
    std::thread::spawn(move || lines.for_each(drop));
    let url = url.unwrap();
    let address = url.strip_prefix("http://").unwrap();
    let crowd: Vec<_> = (0..CROWD).map(|_| TcpStream::connect(address).unwrap()).collect();
    // All of them have been looked at once this one is answered.
    assert!(status(&url).is_ok(), "the crowd keeps everybody out");
    let program = Path::new(bin).with_file_name("examples").join("two_hops");
    let hops = Command::new(program)
        .args([CHAINS.to_string(), "0".to_owned()])
        .stdout(Stdio::null())
        .env("CHRONOSCOPE_DIR", &rings)
        .status()
        .unwrap();
    assert!(hops.success());
    let has_all = || status(&url).is_ok_and(|status| status["rows"] == 2 * CHAINS);
    let is_read = (0..600).any(|_| {
        chronoscope_clock::sleep(Duration::from_millis(50));
        has_all()
    });
    assert!(is_read, "30 s passed: {:?}", status(&url));
    drop(crowd);
}

fn status(url: &str) -> Result<Value, ureq::Error> {
    let mut answer = ureq::get(format!("{url}/status")).call()?;
    let body = answer.body_mut().read_to_string()?;
    Ok(serde_json::from_str(&body).unwrap())
}
