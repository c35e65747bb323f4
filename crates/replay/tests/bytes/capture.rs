//! Any bytes as a capture: read or refused, never more than there is.

use chronoscope_replay::capture::{ArrivalContent, Arrivals, CaptureReader};

/// Holds for any bytes.
pub(crate) fn check(bytes: &[u8]) {
    let Ok(reader) = CaptureReader::new(bytes) else { return };
    let packets: Vec<_> = reader.collect();
    let errors = packets.iter().filter(|packet| packet.is_err()).count();
    assert!(errors == 0 || errors == 1 && packets.last().is_some_and(Result::is_err));
    let octets: usize = packets.iter().flatten().map(|packet| packet.octets.len()).sum();
    assert!(octets <= bytes.len());
    let Ok(reader) = CaptureReader::new(bytes) else {
        panic!("read once, refused the second time")
    };
    let mut arrivals = Arrivals::new(reader);
    let mut payload = 0;
    for arrival in arrivals.by_ref().flatten() {
        payload += match arrival.what {
            ArrivalContent::Datagram(octets) | ArrivalContent::Octets(octets) => octets.len(),
            ArrivalContent::Opened | ArrivalContent::Ended => 0,
        };
    }
    assert!(payload <= octets, "{payload} octets arrived in {octets}");
}
