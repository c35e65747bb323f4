//! Recorded packets: a log of a full feed, each line with its time of arrival in front
//! (`2020-05-30 11:04:52.431806: SOURCE>DESTINATION,…,qAS,IGATE:payload`).

use anyhow::{Context, Result, ensure};
use std::path::Path;

/// Longest packet of APRS-IS with CR LF, octets.
const PACKET_LEN_MAX: usize = 512;
/// Octets by which a packet may grow when it is sent: mark, CR LF and another igate.
const GROWTH: usize = crate::packets::MARK_LEN + 2 + 9;

/// A recorded feed.
#[derive(Debug)]
pub(crate) struct Recording {
    packets: Vec<RecordedPacket>,
    /// Lines of the file that are no packets of igates.
    left_out: usize,
    /// From the first to the last, in seconds.
    length_s: f64,
}

/// A packet as it was received, without its igate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RecordedPacket {
    /// To the comma after the q construct.
    pub(crate) header: String,
    /// All after the colon.
    pub(crate) payload: String,
}

impl Recording {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or has no packets.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
        Self::parse(&bytes).with_context(|| path.display().to_string())
    }

    fn parse(bytes: &[u8]) -> Result<Self> {
        let (mut packets, mut left_out) = (Vec::new(), 0);
        let (mut first_s, mut last_s) = (None, 0.0);
        for line in bytes.split(|octet| *octet == b'\n').filter(|line| !line.is_empty()) {
            let Some((time_s, packet)) = std::str::from_utf8(line).ok().and_then(line_of) else {
                left_out += 1;
                continue;
            };
            first_s.get_or_insert(time_s);
            last_s = time_s;
            packets.push(packet);
        }
        let first_s = first_s.context("no recorded packet of an igate")?;
        // It may go on after midnight.
        let length_s: f64 = if last_s < first_s { last_s + 86_400.0 } else { last_s } - first_s;
        ensure!(length_s > 0.0, "all packets are of one instant");
        Ok(Self { packets, left_out, length_s })
    }

    /// The packets, in their order.
    pub(crate) fn packets(&self) -> &[RecordedPacket] {
        &self.packets
    }

    /// Lines of the file that are left out: comments, packets of servers, too long ones.
    pub(crate) fn left_out(&self) -> usize {
        self.left_out
    }

    /// Packets a second.
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn rate(&self) -> f64 {
        self.packets.len() as f64 / self.length_s
    }
}

/// Second of the day, and the packet.
fn line_of(line: &str) -> Option<(f64, RecordedPacket)> {
    let (stamp, line) = line.trim_end_matches('\r').split_once(": ")?;
    let (header, payload) = line.split_once(':')?;
    // A packet that a server added for a station of its own has no igate that could send it.
    let at = [",qAS,", ",qAR,", ",qAO,", ",qAo,"].iter().find_map(|q| header.find(q))?;
    let fits = line.len() + GROWTH <= PACKET_LEN_MAX && !header.starts_with('#');
    let packet =
        RecordedPacket { header: header[..at + 5].to_owned(), payload: payload.to_owned() };
    fits.then_some((second_of_day(stamp)?, packet))
}

/// Of `2020-05-30 11:04:52.431806`.
fn second_of_day(stamp: &str) -> Option<f64> {
    let mut parts = stamp.split_once(' ')?.1.split(':');
    let mut part = || parts.next()?.parse::<f64>().ok();
    Some(part()? * 3600.0 + part()? * 60.0 + part()?)
}

#[cfg(test)]
mod tests {
    use super::{RecordedPacket, Recording};

    const LOG: &str = "2020-05-30 23:59:59.000000: # aprsc 2.1.5-g8af3cdc\n\
        2020-05-30 23:59:59.500000: FLRD0058A>APRS,qAS,EDKW:/110444h5109.77N\\00740.38E^353/052\n\
        2020-05-30 23:59:59.600000: EDKW>APRS,TCPIP*,qAC,GLIDERN2:/110444h5109.77NI00740.38E&\n\
        no time\n\
        2020-05-31 00:00:01.500000: OGN1>APRS,RELAY*,qAS,LFLE:/110445h:with colons: two\r\n";

    #[test]
    fn packets_of_igates_are_read_without_their_igate() {
        let recording = Recording::parse(LOG.as_bytes()).unwrap();
        let packet = |header: &str, payload: &str| RecordedPacket {
            header: header.to_owned(),
            payload: payload.to_owned(),
        };
        let expected = [
            packet("FLRD0058A>APRS,qAS,", "/110444h5109.77N\\00740.38E^353/052"),
            packet("OGN1>APRS,RELAY*,qAS,", "/110445h:with colons: two"),
        ];
        assert_eq!((recording.packets(), recording.left_out()), (&expected[..], 3));
        // Two packets in two seconds, over midnight.
        assert!((recording.rate() - 1.0).abs() < 1e-9, "{}", recording.rate());
    }

    #[test]
    fn a_file_without_packets_is_refused() {
        let error = Recording::parse(b"# nothing\n").unwrap_err();
        assert!(error.to_string().contains("no recorded packet"), "{error}");
    }
}
