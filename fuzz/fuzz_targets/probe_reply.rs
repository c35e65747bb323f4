//! What servers reply to probes, bounded; the first octet says of which kind.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((kind, octets)) = input.split_first() else { return };
    let kinds = [
        (b't', "tcp"),
        (b'h', "http"),
        (b'd', "dns"),
        (b's', "snmp"),
        (b'e', "exec"),
        (b'f', "ftp"),
        (b'r', "rpc"),
    ];
    if let Some((_, by)) = kinds.into_iter().find(|(letter, _)| letter == kind) {
        let _ = chronoscope_net::probe::judge(by, octets);
    }
});
