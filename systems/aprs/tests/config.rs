//! Configuration files as operators have them.
#![allow(clippy::unwrap_used)]

mod config_bytes;

use chronoscope_aprs::args::Args;
use chronoscope_aprs::config::{self, DIRECTIVES, Surroundings};
use clap::CommandFactory;
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

/// The manual names every directive and every option.
#[test]
fn the_manual_is_complete() {
    let manual = std::fs::read_to_string(here("../../docs/aprs.md")).unwrap();
    for directive in DIRECTIVES {
        assert!(manual.contains(&format!("`{directive}")), "{directive} is not in docs/aprs.md");
    }
    for option in Args::command().get_arguments().filter(|option| !option.is_hide_set()) {
        let long = option.get_long().unwrap();
        assert!(manual.contains(&format!("`--{long}")), "--{long} is not in docs/aprs.md");
        let short = option.get_short().map(|short| format!("`-{short}"));
        assert!(short.is_none_or(|short| manual.contains(&short)), "{long}");
    }
}
