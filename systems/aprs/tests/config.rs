//! Configuration files as operators have them.
#![allow(clippy::unwrap_used)]

mod config_bytes;

use chronoscope_aprs::args::Args;
use chronoscope_aprs::config::{self, DIRECTIVES, Surroundings};
use chronoscope_aprs::packet::DropReason;
use clap::CommandFactory;
use proptest::prelude::*;
use std::path::{Path, PathBuf};

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Inputs of the fuzzer that are worth keeping are read or refused.
#[test]
fn kept_inputs_are_read_or_refused() {
    let mut count = 0;
    for entry in std::fs::read_dir(here("tests/corpus/aprs_config")).unwrap() {
        config_bytes::check_config(&std::fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 5);
}

/// The file that operators begin with is right, apart from what they have to fill in, and shows
/// every directive.
#[test]
fn the_example_is_right() {
    let path = here("dist/aprs-server.conf");
    let text = std::fs::read_to_string(&path).unwrap();
    let untouched = config::parse(text.as_bytes(), &path, &Surroundings::SYSTEM).unwrap_err();
    assert_eq!(untouched.0.len(), 1, "{untouched}");
    assert!(untouched.to_string().contains("YourCallsignHere"), "{untouched}");
    let mine = text.replace("YourCallsignHere", "T2TEST").replace("\n#L ", "\n");
    let config = config::parse(mine.as_bytes(), &path, &Surroundings::SYSTEM).unwrap();
    assert_eq!(config.warnings, []);
    for directive in DIRECTIVES {
        assert!(text.contains(directive), "{directive} is not in the example");
    }
}

/// The manual names every directive, every option and every reason of a drop.
#[test]
fn the_manual_is_complete() {
    let manual = std::fs::read_to_string(here("../../docs/aprs.md")).unwrap();
    for directive in DIRECTIVES {
        assert!(manual.contains(&format!("`{directive}")), "{directive} is not in docs/aprs.md");
    }
    for reason in DropReason::ALL {
        let name = reason.name();
        assert!(manual.contains(&format!("`{name}`")), "{name} is not in docs/aprs.md");
    }
    for option in Args::command().get_arguments().filter(|option| !option.is_hide_set()) {
        let long = option.get_long().unwrap();
        assert!(manual.contains(&format!("`--{long}")), "--{long} is not in docs/aprs.md");
        let short = option.get_short().map(|short| format!("`-{short}"));
        assert!(short.is_none_or(|short| manual.contains(&short)), "{long}");
    }
}

/// What configurations are made of: a file of these in any order comes far into the reader.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: &[&str] = &[
        " ",
        "\n",
        "\n",
        "\t",
        "\\\n",
        "\"",
        "\"",
        "\\",
        "\\x4",
        "\\0",
        "#",
        "a",
        "7",
        "-1",
        "65535",
        "1h30m",
        "99999999999999999999",
        "yes",
        "full",
        "multiro",
        "igate",
        "udpsubmit",
        "dupefeed",
        "tcp",
        "udp",
        "websocket",
        "::1",
        "::1",
        "127.0.0.1",
        "127.0.0.1:9",
        "[::1]:9",
        "host",
        "tlskey",
        "tlscert",
        "tlsca",
        "filter",
        "m/5",
        "acl",
        "hidden",
        "maxclients",
        "ShowEmail=1",
        "T2X",
        "allow",
        "deny",
        "10.0.0.0/8",
        "Listen a igate tcp ::1 1 ",
        "\nServerId T2X\nMyAdmin a\n",
        "PeerGroup a udp ::1:9 A ::1:8 ",
        "Uplink a ro tcp h 1 ",
        "\u{e4}",
    ];
    let directive = proptest::sample::select(DIRECTIVES).prop_map(|name| format!("\n{name} "));
    let piece = proptest::sample::select(PIECES).prop_map(str::to_owned);
    let octet = any::<u8>().prop_map(|octet| vec![octet]);
    let part = prop_oneof![
        3 => directive.prop_map(String::into_bytes),
        9 => piece.prop_map(String::into_bytes),
        1 => octet,
    ];
    proptest::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn any_configuration_is_read_or_refused(bytes in pieces()) {
        config_bytes::check_config(&bytes);
    }
}
