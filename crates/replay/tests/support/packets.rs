//! Recorded streams for tests: IPv4 and TCP as they would have been captured.

use chronoscope_replay::capture::CaptureWriter;
use std::io::Write;
use std::net::SocketAddrV4;

/// One direction of a recorded connection.
pub(crate) struct Sender {
    from: SocketAddrV4,
    to: SocketAddrV4,
    sequence: u32,
}

impl Sender {
    pub(crate) fn new(from: &str, to: &str) -> Self {
        Self { from: from.parse().unwrap(), to: to.parse().unwrap(), sequence: 1000 }
    }

    pub(crate) fn open(&mut self, out: &mut CaptureWriter<impl Write>, at_ns: u64) {
        self.packet(out, at_ns, 0x02, b"");
        self.sequence += 1;
    }

    pub(crate) fn send(&mut self, out: &mut CaptureWriter<impl Write>, at_ns: u64, octets: &[u8]) {
        for part in octets.chunks(40_000) {
            self.packet(out, at_ns, 0x18, part);
            self.sequence += u32::try_from(part.len()).unwrap();
        }
    }

    pub(crate) fn end(&mut self, out: &mut CaptureWriter<impl Write>, at_ns: u64) {
        self.packet(out, at_ns, 0x11, b"");
        self.sequence += 1;
    }

    fn packet(&self, out: &mut CaptureWriter<impl Write>, at_ns: u64, flags: u8, payload: &[u8]) {
        let mut ip = vec![0x45, 0];
        ip.extend(u16::try_from(40 + payload.len()).unwrap().to_be_bytes());
        ip.extend([0, 0, 0, 0, 64, 6, 0, 0]);
        ip.extend(self.from.ip().octets());
        ip.extend(self.to.ip().octets());
        ip.extend(self.from.port().to_be_bytes());
        ip.extend(self.to.port().to_be_bytes());
        ip.extend(self.sequence.to_be_bytes());
        ip.extend([0, 0, 0, 0, 0x50, flags, 255, 255, 0, 0, 0, 0]);
        ip.extend(payload);
        out.packet(at_ns, &ip).unwrap();
    }
}
