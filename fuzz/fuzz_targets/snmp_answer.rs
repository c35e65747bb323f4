//! What a host answers to SNMP questions: read or refused, and the table has an end. The first octet
//! chooses the version, the rest is one datagram, which the host sends again and again.
#![no_main]

use chronoscope_net::scan::hosts::Auth;
use chronoscope_net::scan::snmp::{Passwords, Progress, Session};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

/// Its keys take a mebibyte of hashing: once.
static PASSWORDS: LazyLock<Passwords> =
    LazyLock::new(|| Passwords::new(Some((Auth::Sha1, "long-password")), Some("other-password")));

fuzz_target!(|data: &[u8]| {
    let Some((version, datagram)) = data.split_first() else { return };
    let mut session = match version % 3 {
        0 => Session::v2c("public", 0),
        1 => Session::v3("open", Passwords::new(None, None), 0, 1),
        _ => Session::v3("closed", PASSWORDS.clone(), 0, 1),
    };
    if session.start(1).is_err() {
        return;
    }
    for now_ns in 2..8 {
        if matches!(session.answer(datagram, now_ns), Ok(Progress::Done(_)) | Err(_)) {
            return;
        }
    }
});
