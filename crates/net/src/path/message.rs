//! Packets of a message: how a request or a reply is cut for its way.
//!
//! A datagram that is longer than a packet of the path goes in fragments (RFC 791 §3.2), octets of a
//! connection go in segments. Each packet has headers, and each is passed on by itself
//! ([`transit`](super::transit)).
//!
//! Not here: IPv6, whose headers are 20 octets longer; fragments that a gateway on the way makes
//! (the smallest packet of the path counts for all of it, as for a sender that discovers it).

/// Octets of a packet where a topology does not say otherwise: Ethernet's.
pub const MTU: u32 = 1500;
/// Smallest packet that every link passes (RFC 791 §3.2), in octets.
pub const MTU_MIN: u32 = 68;
/// Octets of a datagram's headers in its first packet: IPv4 and UDP.
pub const UDP_HEADERS: u32 = IP_HEADER + 8;
/// Longest datagram, in octets of its payload.
pub const DATAGRAM_MAX: u32 = 65_507;
/// Octets of an acknowledgement without data.
pub(crate) const ACKNOWLEDGEMENT: u32 = TCP_HEADERS;

const IP_HEADER: u32 = 20;
/// IPv4, TCP, and the option of timestamps in its usual padding (RFC 7323, appendix A).
const TCP_HEADERS: u32 = IP_HEADER + 20 + 12;
/// Our echo over a connection writes the count of octets before them.
const COUNT: u32 = 4;

/// A request, and a reply of the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Payload of either, in octets.
    pub octets: u32,
    /// How it is carried.
    pub transport: Transport,
}

/// Carriage of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// One datagram.
    #[default]
    Udp,
    /// Octets of a connection that exists.
    Tcp {
        /// Packets that may be on their way at the beginning of a message (the congestion window);
        /// each acknowledged one lets two more go. `None`: as many as there are.
        window: Option<u32>,
    },
}

impl From<u32> for Message {
    /// A datagram of so many octets.
    fn from(octets: u32) -> Self {
        Self { octets, transport: Transport::Udp }
    }
}

impl Message {
    /// Sizes of its packets in their order, with headers, in octets; at least one. `mtu` is the
    /// largest packet of the path, taken as [`MTU_MIN`] at least.
    #[must_use]
    pub fn packets(&self, mtu: u32) -> Vec<u32> {
        let mtu = mtu.max(MTU_MIN);
        match self.transport {
            Transport::Udp => fragments(self.octets.saturating_add(UDP_HEADERS - IP_HEADER), mtu),
            Transport::Tcp { .. } => {
                cut(self.octets.saturating_add(COUNT), mtu - TCP_HEADERS, TCP_HEADERS)
            }
        }
    }
}

/// Fragments of an IP packet's payload: all but the last carry a multiple of 8 octets.
fn fragments(payload: u32, mtu: u32) -> Vec<u32> {
    let room = mtu - IP_HEADER;
    let each = if payload <= room { room } else { room & !7 };
    cut(payload, each, IP_HEADER)
}

fn cut(payload: u32, each: u32, header: u32) -> Vec<u32> {
    let count = payload.div_ceil(each).max(1);
    let rest = payload - (count - 1) * each;
    let full = (1..count).map(|_| each + header);
    full.chain([rest + header]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tcp(octets: u32) -> Message {
        Message { octets, transport: Transport::Tcp { window: None } }
    }

    #[test]
    fn datagrams_are_fragmented_and_connections_segmented() {
        let udp = |octets| Message::from(octets).packets(MTU);
        assert_eq!((udp(0), udp(64), udp(1472)), (vec![28], vec![92], vec![1500]));
        assert_eq!(udp(1473), [1500, 21]);
        assert_eq!(udp(4000), [1500, 1500, 1068]);
        assert_eq!(udp(14_000).len(), 10);
        assert_eq!((udp(64_000).len(), udp(64_000)[43]), (44, 388));
        assert_eq!(tcp(1444).packets(MTU), [1500]);
        assert_eq!(tcp(1445).packets(MTU), [1500, 53]);
        // 1006 octets (SLIP's): 986 of payload in one packet, else multiples of 8.
        assert_eq!(Message::from(978).packets(1006), [1006]);
        assert_eq!(Message::from(979).packets(1006), [1004, 23]);
        assert_eq!(Message::from(50).packets(0), [68, 30], "no link passes less");
    }

    proptest! {
        /// Nothing is lost, nothing is longer than a packet, and only the last is shorter.
        #[test]
        fn packets_carry_the_message(octets in 0..200_000_u32, mtu in MTU_MIN..9000, udp: bool) {
            let message = if udp { Message::from(octets) } else { tcp(octets) };
            let packets = message.packets(mtu);
            let (header, more) = if udp { (IP_HEADER, 8) } else { (TCP_HEADERS, COUNT) };
            let carried: u32 = packets.iter().map(|packet| packet - header).sum();
            prop_assert_eq!(carried, octets + more);
            prop_assert!(packets.iter().all(|packet| *packet <= mtu && *packet >= header));
            let (_, full) = packets.split_last().unwrap();
            prop_assert!(full.iter().all(|packet| *packet == full[0]));
        }
    }
}
