//! `chronoscope token`, and a server that knows what it made.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// Killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.args(args).current_dir(dir);
    command.env("CHRONOSCOPE_DIR", dir.join("rings")).env("CHRONOSCOPE_DATA", dir.join("data"));
    command
}

fn token(dir: &Path, args: &[&str]) -> Output {
    command(dir, &[&["token"], args, &["--tokens", "tokens"]].concat()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_token_is_made_listed_shown_and_revoked() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::create_dir(dir.join("rings")).unwrap();
    assert_eq!(token(dir, &["add", "a"]).status.code(), Some(2), "it has to be for something");
    let made = text(&token(dir, &["add", "people", "--read"]).stdout);
    assert_eq!(made.trim_end().len(), 64, "{made}");
    assert!(token(dir, &["add", "host-a", "--write"]).status.success());
    let again = token(dir, &["add", "host-a", "--write"]);
    assert!(text(&again.stderr).contains("a token \"host-a\" exists already"));
    assert_eq!(text(&token(dir, &["list"]).stdout), "people  read\nhost-a  write\n");

    let args = ["serve", "--listen", "127.0.0.1:0", "--tokens", "tokens"];
    let mut server = command(dir, &args).stderr(Stdio::piped()).spawn().unwrap();
    let pid = server.id().to_string();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines();
    let _server = Running(server);
    let url = lines.find_map(|line| {
        let line = line.unwrap();
        Some(line.strip_prefix("the page is at ")?.trim_end_matches('/').to_owned())
    });
    let url = url.unwrap();
    let status = || {
        let agent: ureq::Agent =
            ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let ask = agent.get(format!("{url}/api/v1/now"));
        let ask = ask.header("authorization", format!("Bearer {}", made.trim_end()));
        ask.call().unwrap().status().as_u16()
    };
    assert_eq!(status(), 200);
    assert!(token(dir, &["revoke", "people"]).status.success());
    let hang_up = || assert!(Command::new("kill").args(["-HUP", &pid]).status().unwrap().success());
    hang_up();
    lines.find(|line| line.as_ref().unwrap().contains(" info reloaded")).unwrap().unwrap();
    assert_eq!(status(), 401);
    assert_eq!(text(&token(dir, &["list"]).stdout), "host-a  write\n");
}
