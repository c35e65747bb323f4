//! Captures of sessions, packet by packet.

use chronoscope_replay::capture::CaptureWriter;

pub(crate) const FIN: u8 = 1;
pub(crate) const SYN: u8 = 2;
pub(crate) const RST: u8 = 4;
pub(crate) const ACK: u8 = 16;
pub(crate) const URG: u8 = 32;

/// Time between two packets.
const STEP_NS: u64 = 1_000_000;
/// Time of the first packet: 2023-11-14T22:13:20Z.
const FIRST_NS: u64 = 1_700_000_000_000_000_000;

/// A capture of connections of one user with one provider, one after the other.
pub(crate) struct Packets {
    writer: CaptureWriter<Vec<u8>>,
    count: u64,
    /// Port of the user.
    port: u16,
    /// Next sequence numbers of user and provider.
    next: [u32; 2],
}

impl Packets {
    pub(crate) fn new() -> Self {
        let writer = CaptureWriter::new(Vec::new()).unwrap();
        Self { writer, count: 0, port: 40_000, next: [0, 0] }
    }

    /// Opens another connection.
    pub(crate) fn open(&mut self) {
        self.port += 1;
        self.next = [u32::MAX - 20, 7_000];
        self.segment(true, SYN, &[]);
        self.segment(false, SYN | ACK, &[]);
    }

    /// Octets that the capture does not have.
    pub(crate) fn miss(&mut self, is_user: bool, octets: u32) {
        let next = &mut self.next[usize::from(!is_user)];
        *next = next.wrapping_add(octets);
    }

    /// A segment; with `URG` all of its octets are urgent.
    pub(crate) fn segment(&mut self, is_user: bool, flags: u8, octets: &[u8]) {
        let ports = [self.port, 5008];
        let [from, to] = if is_user { [0, 1] } else { [1, 0] };
        let length = u16::try_from(40 + octets.len()).unwrap();
        let mut packet = vec![0x45, 0];
        packet.extend(length.to_be_bytes());
        packet.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        for host in [from, to] {
            packet.extend([10, 0, 0, 1 + u8::try_from(host).unwrap()]);
        }
        packet.extend(ports[from].to_be_bytes());
        packet.extend(ports[to].to_be_bytes());
        packet.extend(self.next[from].to_be_bytes());
        packet.extend(self.next[to].to_be_bytes());
        packet.extend([0x50, flags, 0xff, 0xff, 0, 0]);
        let urgent = if flags & URG == 0 { 0 } else { u16::try_from(octets.len()).unwrap() };
        packet.extend(urgent.to_be_bytes());
        packet.extend(octets);
        let occupied = u32::try_from(octets.len()).unwrap() + u32::from(flags & (SYN | FIN) != 0);
        self.next[from] = self.next[from].wrapping_add(occupied);
        self.writer.packet(FIRST_NS + self.count * STEP_NS, &packet).unwrap();
        self.count += 1;
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.writer.finish().unwrap()
    }
}

/// The sessions of `sessions.txt` as one capture: whole sessions of every service in every version, both
/// sides ours. `cut` octets are in a segment at most.
pub(crate) fn sessions(cut: usize) -> Vec<u8> {
    let mut packets = Packets::new();
    let mut is_open = false;
    for line in include_str!("../sessions/sessions.txt").lines() {
        if line.starts_with("###") {
            is_open = false;
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        let is_user = words[0] == "user";
        if words[1] == "hears:" {
            continue;
        }
        if !is_open {
            packets.open();
            is_open = true;
        }
        let octets = unhex(words[1]);
        for piece in octets.chunks(cut) {
            packets.segment(is_user, ACK, piece);
        }
        for pair in words[2..].windows(2).filter(|pair| pair[0] == "urgent") {
            packets.segment(is_user, ACK | URG, &[pair[1].parse().unwrap()]);
        }
        if words.contains(&"close") {
            packets.segment(is_user, ACK | FIN, &[]);
        }
        if words.contains(&"reset") {
            packets.segment(is_user, RST, &[]);
        }
    }
    packets.finish()
}

pub(crate) fn unhex(digits: &str) -> Vec<u8> {
    let pairs = (0..digits.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}
