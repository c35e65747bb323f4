//! What must hold for any bytes: also the body of the fuzz target.

use chronoscope_track::callgrind::{Call, Limits, Profile, WriteOptions, read, write};

/// Small enough that a hostile file meets them.
const LIMITS: Limits = Limits { line_bytes: 4096, name_bytes: 1 << 16, counts: 1 << 12, events: 8 };

/// A profile's content without its numbering.
pub(crate) fn rows(profile: &Profile) -> Vec<String> {
    let function = |id: u32| {
        let callable = profile.functions[id as usize];
        [callable.name, callable.file, callable.object].map(|id| profile.names.get(id).to_owned())
    };
    let lines = profile.lines.iter().map(|(site, costs)| {
        let file = profile.names.get(site.file);
        format!("{:?} {file:?} {} {:?}", function(site.function), site.line, costs.counts())
    });
    let calls = profile.calls.iter().map(|((site, callee), call)| {
        let file = profile.names.get(site.file);
        let (from, to) = (function(site.function), function(*callee));
        let Call { count, inclusive } = call;
        format!("{from:?} {file:?} {} -> {to:?} {count} {:?}", site.line, inclusive.counts())
    });
    let mut rows: Vec<_> = lines.chain(calls).collect();
    rows.sort();
    rows
}

/// Reads; what is a profile is the same after it was written and read back.
pub(crate) fn check(bytes: &[u8]) {
    let Ok(profile) = read(bytes, LIMITS) else { return };
    let _ = profile.discrepancies();
    if profile.events.iter().any(|event| profile.total(event).is_none()) {
        return; // parts that are in range, whose sum is not
    }
    let mut written = Vec::new();
    write(&profile, WriteOptions::default(), &mut written).expect("writes into memory");
    let again = read(&written[..], Limits::default()).unwrap_or_else(|error| {
        panic!("{error} in {}", String::from_utf8_lossy(&written));
    });
    assert_eq!(rows(&again), rows(&profile));
    assert_eq!(again.events, profile.events);
}
