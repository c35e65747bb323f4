//! What holds for any octets; the fuzz target and the replay of its corpus share it.

use chronoscope_aprs::packet::{DropReason, parse};

/// Reads `line` as a packet and checks that
/// * its parts are the line, but for one comma at the end of its path,
/// * what goes out has the same payload, and reads and goes out the same again,
/// * what is known of it is inside of it.
///
/// Whether it was taken.
pub(crate) fn check(line: &[u8]) -> Result<(), DropReason> {
    let parsed = parse(line)?;
    let mut parts = [parsed.source, b">", parsed.destination].concat();
    let comma = usize::from(line[parts.len()] == b',');
    parts.extend_from_slice(&b","[..comma]);
    parts.extend_from_slice(parsed.path);
    let spare = usize::from(line[parts.len()] == b',');
    parts.extend_from_slice(&b","[..spare]);
    parts.extend_from_slice(&[b":", parsed.payload].concat());
    assert_eq!(parts, line);

    let packet = parsed.build(b"WIDE1*,qAR,IGATE,SERVER1")?;
    assert_eq!(packet.payload(), parsed.payload);
    assert_eq!((packet.source(), packet.destination()), (parsed.source, parsed.destination));
    assert_eq!(packet.digis().collect::<Vec<_>>(), [b"WIDE1*"]);
    assert_eq!(packet.entries().collect::<Vec<_>>(), [&b"IGATE"[..], b"SERVER1"]);
    for part in [packet.name(), packet.addressee(), packet.inner_source()].into_iter().flatten() {
        assert!((1..=9).contains(&part.len()));
        assert!(parsed.payload.windows(part.len()).any(|window| window == part));
    }
    if let Some(position) = packet.position {
        assert!(position.latitude.abs() <= 90.0 && position.longitude.abs() <= 180.0);
    }
    let out = packet.line.strip_suffix(b"\r\n").unwrap();
    let again = parse(out).unwrap();
    assert_eq!(again.build(again.path).as_ref(), Ok(&packet));
    Ok(())
}
