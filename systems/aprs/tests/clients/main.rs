//! Programs that people use against APRS-IS: they log in, have a filter, send and receive. A program
//! that cannot be had here is said on stderr, and its test proves nothing.

#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;

mod igates;

use common::{Client, Sends, Server, passcode, text};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Output of a tool in `tools/`; nothing, with a message, if it is missing.
fn tool(name: &str, test: &str) -> Option<String> {
    let made = Command::new(root().join("tools").join(name)).arg("aprs").output();
    match made {
        Ok(output) if output.status.success() => {
            Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
        }
        _ => {
            eprintln!("SKIPPED: {test}: tools/{name} aprs cannot be had here");
            None
        }
    }
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name)
}

/// A client's process, ended with this value.
struct Program {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Program {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program `call` sends its hello, and gets what its filter `p/OH` lets through.
fn converses(server: &Server, full: &mut Client, call: &str, mut program: Program) {
    assert_eq!(text(&full.packet()), format!("{call}>APRS,TCPIP*,qAC,TESTING:>hello"));
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    tx.send("SP1X>APRS,qAR,N5CAL-1:>not for it");
    let position = "OH2RDP>APRS,qAR,N5CAL-1:!6028.51N/02505.68E#for it";
    tx.send(position);
    assert_eq!(program.line(), format!("OH2RDP {position}"));
    tx.send("OH2RDP>APRS,qAR,N5CAL-1:>and this");
    assert_eq!(program.line(), "OH2RDP OH2RDP>APRS,qAR,N5CAL-1:>and this");
}

fn python(name: &str, call: &str) {
    let Some(python) = tool("venv", name) else { return };
    let server = Server::basic();
    let mut full = Client::login(server.port("full"), "N5CAL-2");
    let address = server.port("igate");
    let mut command = Command::new(python);
    command.arg(script(&format!("{name}_client.py")));
    command.args([
        address.ip().to_string(),
        address.port().to_string(),
        call.into(),
        "p/OH".into(),
    ]);
    converses(&server, &mut full, call, Program::start(&mut command));
}

#[test]
fn aprslib() {
    python("aprslib", "PY1LIB-1");
}

#[test]
fn aioaprs() {
    python("aioaprs", "PY1AIO-1");
}

#[test]
fn js_aprs_is() {
    let Some(modules) = tool("node", "js_aprs_is") else { return };
    let server = Server::basic();
    let mut full = Client::login(server.port("full"), "N5CAL-2");
    let address = server.port("igate");
    let mut command = Command::new("node");
    command.env("NODE_PATH", modules).arg(script("js_aprs_is_client.js"));
    command.args([address.ip().to_string(), address.port().to_string(), "JS1S-1".into()]);
    command.args([passcode("JS1S").to_string(), "p/OH".into()]);
    converses(&server, &mut full, "JS1S-1", Program::start(&mut command));
}
