//! UTL as provider of `sle-user link`.

use crate::peer::{LONG, hex, utl};
use crate::station::{cltu, frame, instance, of_peer};
use chronoscope_sle::link::message::RequestedCltu;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The program with one link to a port; it is ready.
fn link(folder: &Path, service: &str, (version, port): (u16, u64), table: &str) -> Child {
    let config = folder.join("link.toml");
    let text = format!(
        "[security]\nauth = \"all\"\nhash = \"sha256\"\n\
         [user]\nid = \"TESTUSER\"\npassword = \"hex:000102030405060708\"\n\
         address = \"127.0.0.1:{port}\"\nreturn_timeout_s = 60\n\
         [[peer]]\nid = \"TESTPROV\"\npassword = \"hex:0a0b0c0d0e0f\"\n\
         [[instance]]\nid = \"{id}\"\nport = \"TESTPORT\"\nversions = [{version}]\n\
         [links]\nstatus = \"status.json\"\n[[link]]\ninstance = \"{id}\"\n{table}",
        id = instance(service)
    );
    fs::write(&config, text).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_sle-user"))
        .arg("link")
        .arg(&config)
        .env("CHRONOSCOPE_DIR", folder)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "ready"));
    child
}

/// Waits until the link gives frames to a program.
fn is_reading(folder: &Path) {
    let file = folder.join("status.json");
    loop {
        let text = fs::read_to_string(&file).unwrap_or_else(|_| "{}".to_owned());
        let status: Value = serde_json::from_str(&text).unwrap();
        let readers = &status["links"][0]["frames"]["listening"][0]["readers"];
        if readers.as_array().is_some_and(|readers| !readers.is_empty()) {
            return;
        }
        chronoscope_clock::sleep(Duration::from_millis(20));
    }
}

fn end(mut child: Child) {
    let told = Command::new("kill").arg("-TERM").arg(child.id().to_string()).status().unwrap();
    assert!(told.success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn cltus_of_a_program_reach_a_foreign_station() {
    let Some(peer) = utl("UTL as provider of a forward link") else { return };
    for version in [2, 5] {
        let auth = ("all", "sha256");
        let theirs = peer.session(&format!("provider fcltu frames=5 {}", of_peer(auth, version)));
        let port = theirs.event("listening")["port"].as_u64().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let child = link(
            folder.path(),
            "fcltu",
            (version, port),
            "[link.forward]\nlisten = \"unix:cltu1.sock\"\njournal = \"cltu1.journal\"\n",
        );
        theirs.state("ACTIVE");
        let mut program = UnixStream::connect(folder.path().join("cltu1.sock")).unwrap();
        let mut answers = BufReader::new(program.try_clone().unwrap()).lines();
        let mut answer =
            || -> Value { serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap() };
        for number in 0..3u32 {
            let request = RequestedCltu {
                reference: u64::from(number) + 100,
                earliest_utc_ns: None,
                latest_utc_ns: None,
                delay_us: 0,
                data: cltu(number).into(),
            };
            program.write_all(&request.encode()).unwrap();
            let taken = theirs.event("cltu");
            assert_eq!((&taken["id"], &taken["notify"]), (&json!(number), &json!(true)));
            assert_eq!(taken["octets"], json!(hex(&cltu(number))));
            let said = answer();
            assert_eq!((&said["fate"], &said["final"]), (&json!("acknowledged"), &json!(false)));
            theirs.done(&format!("progress {number} PRODUCTION_STARTED"));
            theirs.done(&format!("progress {number} RADIATED"));
            let said = answer();
            assert_eq!((&said["fate"], &said["final"]), (&json!("radiated"), &json!(true)));
            assert_eq!(said["reference"], json!(number + 100));
        }
        end(child);
        theirs.state("UNBOUND");
    }
}

#[test]
fn frames_of_a_foreign_station_reach_a_program() {
    let Some(peer) = utl("UTL as provider of return links") else { return };
    let channel = "channel = \"1.0.0\"\n";
    for (service, request) in [("raf", ""), ("rcf", channel), ("rocf", channel)] {
        let (auth, version) = (("all", "sha256"), 4);
        let theirs =
            peer.session(&format!("provider {service} frames=5 {}", of_peer(auth, version)));
        let port = theirs.event("listening")["port"].as_u64().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let table = format!("[link.return]\nlisten = [\"unix:frames.sock\"]\n{request}");
        let child = link(folder.path(), service, (version, port), &table);
        let program = UnixStream::connect(folder.path().join("frames.sock")).unwrap();
        program.set_read_timeout(Some(LONG)).unwrap();
        let mut program = BufReader::new(program);
        theirs.state("ACTIVE");
        is_reading(folder.path());
        for number in 0..10u8 {
            theirs.done(&format!("frame {}", hex(&frame(number))));
        }
        for number in 0..10u8 {
            let body = loop {
                let mut header = [0; 8];
                program.read_exact(&mut header).unwrap();
                assert_eq!(header[..4], *b"SLF1");
                let length = u32::from_be_bytes(header[4..].try_into().unwrap());
                let mut body = vec![0; usize::try_from(length).unwrap()];
                program.read_exact(&mut body).unwrap();
                if body[0] == 0 {
                    break body;
                }
            };
            let wanted = frame(number);
            let wanted = if service == "rocf" { &wanted[60..] } else { &wanted[..] };
            assert!(body.ends_with(wanted), "{service}, frame {number}");
            assert!(u64::from_be_bytes(body[9..17].try_into().unwrap()) > 0, "a time");
            let quality = if service == "raf" { 0 } else { 255 };
            assert_eq!(body[20], quality, "{service}");
        }
        end(child);
        theirs.state("UNBOUND");
    }
}
