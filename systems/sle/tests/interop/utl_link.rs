//! UTL as provider of `sle-user link`.

use crate::peer::{hex, utl};
use crate::station::{cltu, instance, of_peer};
use chronoscope_sle::link::message::RequestedCltu;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The program with one link to a port; it is ready.
fn link(folder: &Path, service: &str, (version, port): (u16, u64), table: &str) -> Child {
    let config = folder.join("link.toml");
    let text = format!(
        "[security]\nauth = \"all\"\nhash = \"sha256\"\n\
         [user]\nid = \"TESTUSER\"\npassword = \"hex:000102030405060708\"\n\
         address = \"127.0.0.1:{port}\"\nreturn_timeout_s = 60\n\
         [[peer]]\nid = \"TESTPROV\"\npassword = \"hex:0a0b0c0d0e0f\"\n\
         [[instance]]\nid = \"{id}\"\nport = \"TESTPORT\"\nversions = [{version}]\n\
         [[link]]\ninstance = \"{id}\"\n{table}",
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
