//! The program: `sle dump`.

use super::capture::sessions;
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn sle(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sle")).arg("dump").args(args).output().unwrap()
}

fn text(octets: Vec<u8>) -> String {
    String::from_utf8(octets).unwrap()
}

#[test]
fn a_capture_is_printed_as_text_json_and_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("capture.pcapng");
    std::fs::write(&capture, sessions(500)).unwrap();
    let capture = capture.to_str().unwrap();

    let done = sle(&[capture, "--brief", "--limit", "3"]);
    assert_eq!(done.status.code(), Some(0));
    let said = text(done.stdout);
    assert_eq!(said.lines().count(), 3);
    assert!(said.lines().nth(2).unwrap().contains("FCLTU v2 BIND invocation"), "{said}");
    assert!(text(done.stderr).contains(" connections of ISP1, 0 others"));

    let done = sle(&[capture, "--json", "--hex", "--connection", "2"]);
    let lines = text(done.stdout);
    let values: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(values.iter().all(|value| value["format"] == 1 && value["connection"] == 2));
    let bind = values.iter().find(|value| value["operation"] == "BIND invocation").unwrap();
    assert_eq!((&bind["service"], &bind["version"]), (&"FCLTU".into(), &3.into()));
    assert_eq!(bind["fields"][1]["value"], "\"CENTRE\"");
    assert_eq!(bind["octets"].as_str().unwrap().len() as u64, 2 * bind["length"].as_u64().unwrap());

    let page = folder.path().join("page.html");
    let done = sle(&[capture, "--html", page.to_str().unwrap(), "--limit", "10"]);
    assert_eq!(done.status.code(), Some(0));
    assert!(text(done.stderr).contains("are not in the page"));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("default-src 'none'") && page.contains("BIND invocation"));
}

#[test]
fn what_is_wrong_is_in_the_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.pcapng");
    let capture = sessions(500);
    std::fs::write(&path, &capture[..capture.len() / 2 + 1]).unwrap();
    let done = sle(&[path.to_str().unwrap(), "--faults"]);
    assert_eq!(done.status.code(), Some(1));
    assert!(text(done.stderr).contains("capture ends within the block"));
    let done = sle(&["/nonexistent"]);
    assert_eq!(done.status.code(), Some(1));
    assert!(text(done.stderr).starts_with("sle: /nonexistent: "));
}

#[test]
fn a_capture_comes_through_a_pipe_and_a_journal_is_told_by_its_beginning() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sle"))
        .args(["dump", "-", "--brief", "--limit", "5"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&sessions(900)).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(text(done.stdout).lines().count(), 5);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("send.journal");
    std::fs::write(&path, "{\"reserved\":8,\"check\":\"43a9b8d2\"}\n").unwrap();
    let done = sle(&[path.to_str().unwrap()]);
    assert_eq!(done.status.code(), Some(3));
    let said = text(done.stdout);
    assert_eq!(
        said,
        "1: reserved: the first 8 CLTUs may be sent from here on WRONG: the first line does not name a \
         transfer\n"
    );
}
