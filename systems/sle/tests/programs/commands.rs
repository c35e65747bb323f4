//! Configurations that are explained, one-shot commands, and the terminal.

use crate::station::{Station, results};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn the_example_is_right_for_both() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("dist/sle.toml");
    for program in [env!("CARGO_BIN_EXE_sle-provider"), env!("CARGO_BIN_EXE_sle-user")] {
        let output = Command::new(program).arg("--check").arg("-c").arg(&example).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("right: "), "{said}");
    }
}

#[test]
fn what_is_wrong_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sle.toml");
    let check = |program: &str| {
        let output = Command::new(program).arg("--check").arg("-c").arg(&file).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), output.stderr)
    };
    fs::write(&file, "[user]\nid = \"M\"\n[[instance]]\nid = \"cltu=1\"\n").unwrap();
    let (code, said, _) = check(env!("CARGO_BIN_EXE_sle-user"));
    assert_eq!(code, Some(3), "{said}");
    assert!(
        said.contains("wrong: user.id = \"M\": use 3 to 16 printable ASCII characters"),
        "{said}"
    );
    assert!(
        said.contains("wrong: line 3: \"cltu=1\": an identifier has four parts: sagr"),
        "{said}"
    );
    let (code, said, _) = check(env!("CARGO_BIN_EXE_sle-provider"));
    assert_eq!(code, Some(3));
    assert!(said.contains("wrong: there is no [provider]"), "{said}");
    fs::write(&file, "[user]\nidd = \"M\"\n").unwrap();
    let (code, _, stderr) = check(env!("CARGO_BIN_EXE_sle-user"));
    assert_eq!(code, Some(1));
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(stderr.contains("line 2, column 1: unknown field `idd`"), "{stderr}");
}

#[test]
fn one_command_each() {
    let station = Station::new();
    let sent = station.json(&["-i", "cltu1", "send", "--generate", "3000", "--octets", "100"]);
    let (total, fates) = sent.split_last().unwrap();
    assert!(fates.iter().all(|one| one["fate"] == "radiated"), "{fates:?}");
    assert_eq!(fates.iter().map(|one| one["count"].as_u64().unwrap()).sum::<u64>(), 3000);
    assert_eq!(total["acknowledged"], 3000);
    let report = station.json(&["-i", "cltu1", "report"]);
    assert_eq!((&report[0]["received"], &report[0]["format"]), (&3000.into(), &1.into()));
    let length = station.json(&["-i", "cltu1", "get", "maximum-sldu-length"]);
    assert_eq!(length[0]["value"], 4096);
    assert!(station.json(&["-i", "onlc1", "get"]).len() > 5);
    let event = station.json(&["-i", "cltu1", "event", "1"]);
    assert_eq!(event[0]["event"], "action-list-completed");
    let frames = station.folder.path().join("frames");
    let out = frames.to_str().unwrap();
    let got = station.json(&["-i", "onlc1", "receive", "--frames", "1000", "--out", out]);
    assert_eq!((&got[0]["frames"], &got[0]["missing"]), (&1000.into(), &0.into()));
    assert_eq!(fs::read(&frames).unwrap().len(), 1000 * 104);
    let got = station.json(&["-i", "onlc2", "receive", "--channel", "1.0.0"]);
    assert_eq!((&got[0]["frames"], &got[0]["end_of_data"]), (&250.into(), &true.into()));
    let refused = station.user(&["-i", "onlc2", "receive", "--channel", "1.0.7"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("START was refused: invalid GVCID"), "{said}");
}

#[test]
fn a_link_by_hand() {
    let station = Station::new();
    let mut command = station.command(&["-i", "cltu1", "--json", "terminal"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let lines = "stop\nbind\nstart 5\nsend 0102030405060708090a0b0c\nsend 10 200\ndrain\nwait 2\n\
                 get minimum-delay-time\nstatus\nstop\nunbind\nquit\n";
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let all = results(&output);
    assert_eq!(output.status.code(), Some(1), "stop before bind fails");
    assert_eq!(all[0]["error"], "not bound: enter bind first");
    assert_eq!(all[1]["version"], 5);
    let of = |key: &str| all.iter().find(|one| !one[key].is_null()).unwrap();
    assert_eq!(of("cltu")["cltu"], 5);
    assert_eq!(of("last_cltu")["last_cltu"], 15);
    assert_eq!(of("parameter")["value"], 0);
    assert_eq!(of("acknowledged")["acknowledged"], 11);
    assert!(all.iter().any(|one| one["event"] == "cltu-radiated"), "{all:?}");
    assert_eq!((&of("fate")["cltu"], &of("fate")["count"]), (&5.into(), &11.into()));
}

/// It was found out when the first user started, in the provider's log.
#[test]
fn an_offline_store_that_is_none_is_found_before_a_user_starts() {
    let folder = tempfile::tempdir().unwrap();
    let (file, none) = (folder.path().join("sle.toml"), folder.path().join("frames"));
    fs::write(&none, "no frames").unwrap();
    let text = format!(
        "[provider]\nid = \"STATION\"\nlisten = [\"127.0.0.1:0\"]\n[user]\nid = \"MCC\"\n\
         [[instance]]\nid = \"sagr=1.spack=A.rsl-fg=1.raf=offl1\"\n[instance.return]\n\
         delivery = \"offline\"\nfile = \"{}\"\n",
        none.display()
    );
    fs::write(&file, text).unwrap();
    let provider = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sle-provider"));
        command.arg("-c").arg(&file).env("CHRONOSCOPE_DIR", folder.path());
        command
    };
    let checked = provider().arg("--check").output().unwrap();
    let said = String::from_utf8(checked.stdout).unwrap();
    assert_eq!(checked.status.code(), Some(3), "{said}");
    assert!(said.contains("the file is not a frame store"), "{said}");
    let started = provider().stdin(Stdio::null()).output().unwrap();
    assert!(!started.status.success(), "{started:?}");
}

#[test]
fn a_name_of_two_instances_is_an_error_that_lists_them() {
    let station = Station::new();
    let more =
        station.instances.clone() + "[[instance]]\nid = \"sagr=1.spack=B.rsl-fg=1.rcf=onlc1\"\n";
    let again = Station::of(
        &more.replace(
            "rcf=onlc1\"",
            "rcf=onlc1\"\n[instance.return]\n\
        channels = [\"1.0.0\"]\n[instance.return.generator]\noctets = 100\nrate = 10\n",
        ),
        &[],
    );
    let said = |output: &std::process::Output| String::from_utf8(output.stderr.clone()).unwrap();
    let two = again.user(&["-i", "onlc1", "receive", "--frames", "1"]);
    assert_eq!(two.status.code(), Some(1));
    assert!(said(&two).contains("raf=onlc1 or sagr=1.spack=B.rsl-fg=1.rcf=onlc1"), "{two:?}");
    assert!(again.order("interrupt onlc1").starts_with("error: \"onlc1\" could be"));
    assert_eq!(again.json(&["-i", "raf=onlc1", "receive", "--frames", "1"])[0]["frames"], 1);
    let locks = again.status("raf=onlc1");
    assert!(locks.contains("production Running") && locks.contains("frame sync"), "{locks}");
}
