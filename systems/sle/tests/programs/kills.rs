//! One of the two is killed, told to end, or cut off, in the middle of a transfer: states recover,
//! and every CLTU's fate is known.

use crate::cable::Cable;
use crate::station::{Station, results, signal, until};
use chronoscope_clock as clock;
use serde_json::Value;
use std::fs;
use std::process::{Child, Output};
use std::time::Duration;

/// The CLTUs of a line.
fn numbers(one: &Value) -> std::ops::Range<u64> {
    let first = one["cltu"].as_u64().unwrap();
    first..first + one["count"].as_u64().unwrap()
}

/// Every CLTU is acknowledged, refused, or unknown and listed; the summary.
fn every_fate_is_known(output: &Output) -> Value {
    let mut all = results(output);
    let summary = all.pop().unwrap();
    let of_fate = |fates: &[&str]| -> u64 {
        let is_of = |one: &&Value| fates.contains(&one["fate"].as_str().unwrap());
        all.iter().filter(is_of).map(|one| one["count"].as_u64().unwrap()).sum()
    };
    let count = |key: &str| summary[key].as_u64().unwrap();
    assert!(count("acknowledged") > 0, "{summary}");
    assert_eq!(count("sent"), count("acknowledged") + count("refused") + count("unknown"));
    assert_eq!(of_fate(&["unknown"]), count("unknown"));
    assert_eq!(of_fate(&["acknowledged", "radiated", "discarded"]), count("acknowledged"));
    assert_eq!(of_fate(&["refused"]), count("refused"));
    // No CLTU is listed twice, and none is left out: those that were refused at the very end, when
    // they could not go again, are listed as that alone.
    all.sort_by_key(|one| one["cltu"].as_u64());
    let (refused, known): (Vec<_>, Vec<_>) = all.iter().partition(|one| one["fate"] == "refused");
    let mut next = 0;
    for one in known {
        let settled = numbers(one);
        assert!(settled.start >= next, "{one}");
        let mut missing = next..settled.start;
        let is_refused = |number| refused.iter().any(|one| numbers(one).contains(&number));
        assert!(missing.all(is_refused), "before {one}");
        next = settled.end;
    }
    summary
}

/// A user who sends for a long time, and has had more answers than may be open at a time.
fn sending(station: &Station) -> Child {
    let args = ["-i", "cltu1", "--json", "send", "--generate", "10000000"];
    let user = station.command(&args).spawn().unwrap();
    until(|| station.count("cltu1", "received") > 3000);
    user
}

#[test]
fn a_provider_that_is_killed_leaves_no_fate_open() {
    let mut station = Station::with("bit_rate = 8000000", "");
    let user = sending(&station);
    station.child.kill().unwrap();
    station.child.wait().unwrap();
    let output = user.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    every_fate_is_known(&output);
    // Started again where it was, it takes CLTUs from the first on.
    let again = Station::at(&station.address, &station.instances, &[]);
    again.json(&["-i", "cltu1", "send", "--generate", "10"]);
}

#[test]
fn a_provider_that_is_told_to_end_aborts_and_no_fate_is_open() {
    let mut station = Station::with("bit_rate = 8000000", "");
    let user = sending(&station);
    signal(&station.child, "-TERM");
    assert_eq!(station.child.wait().unwrap().code(), Some(0));
    let output = user.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    let summary = every_fate_is_known(&output);
    let ending = summary["ending"].as_str().unwrap();
    assert!(ending.contains("OperationalRequirement"), "{ending}");
}

#[test]
fn a_user_that_is_told_to_end_has_its_answers_and_unbinds() {
    let station = Station::with("bit_rate = 8000000", "");
    let user = sending(&station);
    signal(&user, "-TERM");
    let output = user.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(5), "STOP discards what was not radiated");
    let summary = every_fate_is_known(&output);
    assert_eq!((&summary["unknown"], &summary["ending"]), (&0.into(), &"unbound".into()));
    assert!(station.status("cltu1").contains("no user bound"));
}

/// The cable is cut: no end of the stream, no reset, nothing. Both sides find out by heartbeats.
#[test]
fn a_cable_that_is_cut_frees_the_instance_and_leaves_no_fate_open() {
    let mut instances = Station::new().instances.replace("BIT_RATE", "");
    instances.push_str("[transport]\nheartbeat_s = 1\ndead_factor = 2\n");
    let station = Station::of(&instances, &[]);
    let cable = Cable::to(&station.address);
    station.lead_users_to(&cable.address);
    let user = sending(&station);
    cable.cut();
    let output = user.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    let summary = every_fate_is_known(&output);
    assert!(summary["unknown"].as_u64().unwrap() > 0, "{summary}");
    let ending = summary["ending"].as_str().unwrap();
    assert!(ending.contains("nothing was heard from the peer"), "{ending}");
    until(|| station.status("cltu1").contains("no user bound"));
    station.lead_users_to(&station.address);
    station.json(&["-i", "cltu1", "send", "--generate", "10"]);
}

/// Frames of complete delivery that one user did not come to take are the next one's.
#[test]
fn a_receiver_that_is_killed_leaves_the_rest_to_the_next() {
    let instances = "[[instance]]\nid = \"sagr=1.spack=A.rsl-fg=1.raf=onlc1\"\n\
                     [instance.return.generator]\noctets = 100\nrate = 2000\n";
    let station = Station::of(instances, &[]);
    let mut user = station.command(&["--json", "receive"]).spawn().unwrap();
    until(|| station.count("onlc1", "delivered") > 0);
    user.kill().unwrap();
    user.wait().unwrap();
    until(|| station.status("onlc1").contains("no user bound"));
    let got = station.json(&["receive", "--frames", "500"]);
    assert_eq!((&got[0]["frames"], &got[0]["backlogs"]), (&500.into(), &0.into()));
}

#[test]
fn a_user_that_is_killed_leaves_the_instance_free() {
    let station = Station::new();
    let mut user = sending(&station);
    user.kill().unwrap();
    user.wait().unwrap();
    until(|| station.order("status").contains("Fcltu Unbound"));
    station.json(&["-i", "cltu1", "send", "--generate", "10"]);
}

#[test]
fn interrupted_it_keeps_what_it_had_and_unbinds() {
    let station = Station::new();
    let frames = station.folder.path().join("frames");
    let args = ["-i", "onlc1", "--json", "receive", "--out", frames.to_str().unwrap()];
    let user = station.command(&args).spawn().unwrap();
    until(|| station.order("status").contains("Raf Active"));
    clock::sleep(Duration::from_millis(100));
    signal(&user, "-INT");
    let output = user.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let got = results(&output).pop().unwrap();
    let length = fs::metadata(&frames).unwrap().len();
    assert_eq!(length, got["frames"].as_u64().unwrap() * 104);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("unbound"), "{said}");
}
