//! The octets of whole sessions of every service, in both dialects: from the first context message
//! to the close, with both sides ours. They are as in `sessions.txt`, octet for octet.
#![allow(clippy::unwrap_used)]

mod csts;
mod session;
mod sle;

use std::fmt::Write;
use std::path::Path;

use chronoscope_sle::time::Now;
use chronoscope_sle::tml::TransportOutput;

const SECOND_NS: u64 = 1_000_000_000;

fn now() -> Now {
    Now { monotonic_ns: 1_000 * SECOND_NS, utc_ns: 1_700_000_000 * SECOND_NS }
}

/// Appends what one side wants done, as one line: octets, urgent octet, close or reset.
fn line(text: &mut String, side: &str, output: &TransportOutput) {
    text.push_str(side);
    text.push(' ');
    for octet in &output.octets {
        write!(text, "{octet:02x}").unwrap();
    }
    if let Some(octet) = output.urgent {
        write!(text, " urgent {octet}").unwrap();
    }
    if output.close {
        text.push_str(" close");
    }
    if output.reset {
        text.push_str(" reset");
    }
    text.push('\n');
}

#[test]
fn sessions_have_the_same_octets_as_ever() {
    let text = sle::sessions() + &csts::sessions();
    let expected = include_str!("sessions.txt");
    if text != expected {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sessions.txt");
        std::fs::write(&path, &text).unwrap();
        let at = text.lines().zip(expected.lines()).position(|(is, was)| is != was);
        panic!("other octets, first in line {at:?} (from 0): {}", path.display());
    }
}
