//! Any bytes as a packet between coordinator and process: what is read comes back the same.

use chronoscope_replay::wire::Packet;

/// Holds for any bytes.
pub(crate) fn check(bytes: &[u8]) {
    if let Ok(packet) = Packet::decode(bytes) {
        assert!(
            packet.text.contains('\u{fffd}')
                || Packet::decode(&packet.encode()).as_ref() == Ok(&packet)
        );
    }
}
