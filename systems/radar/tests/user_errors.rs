//! Errors of the user: one line that says what and where, the documented exit code, and no backtrace, even
//! where the environment asks for them.

#![allow(clippy::unwrap_used, reason = "a test helper may panic")]

use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const GENERATOR: &str = env!("CARGO_BIN_EXE_radar-generator");
const TRACKER: &str = env!("CARGO_BIN_EXE_radar-tracker");
const MESSAGES: &str = env!("CARGO_BIN_EXE_radar-messages");
const DISPLAY: &str = env!("CARGO_BIN_EXE_radar-display");
const EVALUATE: &str = env!("CARGO_BIN_EXE_radar-evaluate");
const PROGRAMS: [&str; 5] = [GENERATOR, TRACKER, MESSAGES, DISPLAY, EVALUATE];

/// A raw recording of one block, of a category that nobody uses.
const EMPTY: [u8; 5] = [240, 0, 5, 0x80, 1];

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.env("RUST_BACKTRACE", "full").env("RUST_LIB_BACKTRACE", "1");
    command.env("CHRONOSCOPE_RECORD", "off").output().unwrap()
}

fn name(program: &str) -> &str {
    Path::new(program).file_name().unwrap().to_str().unwrap()
}

/// Its last line on stderr, which names the program and `what`, after notices of the program at most.
fn refused(folder: &Path, program: &str, arguments: &[&str], code: i32, what: &str) {
    let output = run(folder, program, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    let about = format!("{} {arguments:?}: {said}", name(program));
    assert_eq!(output.status.code(), Some(code), "{about}");
    let last = said.lines().last().unwrap_or_default();
    assert!(last.starts_with(&format!("{}: ", name(program))), "{about}");
    assert!(last.contains(what), "{what:?} is not in: {about}");
    assert!(said.lines().all(|line| line.starts_with("radar-")), "{about}");
    assert!(output.stdout.is_empty(), "{about}");
}

#[test]
fn a_wrong_option_is_named_with_the_usage() {
    let folder = tempfile::tempdir().unwrap();
    for program in PROGRAMS {
        let output = run(folder.path(), program, &["--no-such-option"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.starts_with("error: ") && said.contains("--no-such-option"), "{said}");
        assert!(said.contains("Usage: ") && !said.contains("stack backtrace"), "{said}");
    }
}

#[test]
fn a_file_that_is_missing_or_no_such_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("garbage"), [0xFF, 0x00, 0x9C, b'\n', 0x31, 0x80]).unwrap();
    std::fs::write(folder.path().join("empty.ast"), EMPTY).unwrap();
    let to = ["--to", "127.0.0.1:9"];
    let radars = ["--tracker", "127.0.0.1:9"];
    let nobody = ["--messages", "127.0.0.1:9"];
    let cases: [(&str, Vec<&str>, i32); 13] = [
        (GENERATOR, [&to[..], &["--recording"]].concat(), 1),
        (GENERATOR, vec!["day", "--out", "day", "--hours", "0.02", "--recording"], 1),
        (TRACKER, vec!["--capture"], 1),
        (TRACKER, vec!["--radars"], 1),
        (TRACKER, vec!["--config"], 1),
        (MESSAGES, [&radars[..], &["--flight-plans"]].concat(), 1),
        (DISPLAY, [&nobody[..], &["--map"]].concat(), 1),
        (DISPLAY, [&nobody[..], &["--radars"]].concat(), 1),
        (EVALUATE, vec!["--truth", "garbage", "--tracks"], 4),
        (EVALUATE, vec!["--plots", "garbage", "--tracks"], 4),
        (EVALUATE, vec!["--tracks", "empty.ast", "--reference"], 4),
        (EVALUATE, vec!["--tracks", "empty.ast", "--plots"], 4),
        (EVALUATE, vec!["--tracks", "empty.ast", "--plots", "empty.ast", "--config"], 4),
    ];
    for (program, arguments, code) in &cases {
        for file in ["missing", "garbage"] {
            let arguments = [&arguments[..], &[file]].concat();
            refused(folder.path(), program, &arguments, *code, file);
        }
    }
}

#[test]
fn an_address_in_use_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (tcp, udp) =
        (TcpListener::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
    let taken = tcp.local_addr().unwrap().to_string();
    let plots = udp.local_addr().unwrap().to_string();
    for (program, arguments) in [
        (TRACKER, vec!["--plots", &plots]),
        (TRACKER, vec!["--listen", &taken]),
        (MESSAGES, vec!["--tracker", "127.0.0.1:9", "--listen", &taken]),
        (MESSAGES, vec!["--tracker", "127.0.0.1:9", "--queries", &taken]),
        (DISPLAY, vec!["--messages", "127.0.0.1:9", "--listen", &taken]),
    ] {
        refused(folder.path(), program, &arguments, 1, "in use");
        let address = arguments.last().copied().unwrap();
        refused(folder.path(), program, &arguments, 1, address);
    }
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = "no-such-folder/file";
    std::fs::write(folder.path().join("empty.ast"), EMPTY).unwrap();
    std::fs::write(folder.path().join("file"), "in the way of a folder").unwrap();
    let day = ["day", "--hours", "0.01", "--flights", "1", "--positions", "1", "--out", "file/day"];
    refused(folder.path(), GENERATOR, &day, 1, "file/day");
    let page = ["--tracks", "empty.ast", "--reference", "empty.ast", "--html", nowhere];
    refused(folder.path(), EVALUATE, &page, 4, nowhere);
    for (program, arguments) in [
        (TRACKER, vec!["--capture", "empty.ast", "--out"]),
        (TRACKER, vec!["--capture", "empty.ast", "--smoothed"]),
        (DISPLAY, vec!["--messages", "127.0.0.1:9", "--png"]),
        (GENERATOR, vec!["--scenario", "circles", "--to", "127.0.0.1:9", "--flight-plans"]),
        (GENERATOR, vec!["--scenario", "circles", "--to", "127.0.0.1:9", "--truth"]),
        (TRACKER, vec!["--port-file"]),
        (MESSAGES, vec!["--tracker", "127.0.0.1:9", "--port-file"]),
    ] {
        let arguments = [&arguments[..], &[nowhere]].concat();
        refused(folder.path(), program, &arguments, 1, nowhere);
    }
}
