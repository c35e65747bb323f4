//! Time for which a packet occupies an element, from round trips of several packets.
//!
//! While an element serves a packet, those before it are on their way and those after it wait. What a
//! round trip takes longer for each further packet is therefore the time of one packet in the slowest
//! element of its path, and tells nothing of the others. The element between two probes is that
//! slowest one where further packets take longer with it than without it, and longer than in the
//! segments behind it.

use super::element::AtSize;
use super::message::{Message, UDP_HEADERS};
use super::parts::Passes;
use super::topology::ElementType;
use chronoscope_statistics::{Quantile, nearest_rank};

/// An element counts as the slowest where further packets take longer by this factor.
const SLOWER: f64 = 1.05;

/// Time of each packet beside its octets, in microseconds and in either direction, from round trips
/// around an element at several sizes: two or more of one packet, and one of three packets or more
/// (of several, the longest). `besides` are the types of the segments that are passed with it, one
/// packet of which was taken off. `None`: the sizes do not tell, or another element is slower.
#[must_use]
pub(super) fn packet_us(measured: &[AtSize], besides: &[ElementType], mtu: u32) -> Option<f64> {
    let single = measured.partition_point(|at| at.octets + UDP_HEADERS <= mtu);
    let (low, high) = (measured[..single].first()?, measured[..single].last()?);
    let long = measured[single..].last()?;
    let packets = Message::from(long.octets).packets(mtu);
    let further = packets.get(1..).filter(|further| further.len() > 1)?;
    let sizes = f64::from(high.octets) - f64::from(low.octets);
    let slope = |of: fn(&AtSize) -> &[u64]| (median(of(high)) - median(of(low))) / sizes;
    if sizes == 0.0 || long.without_ns.is_empty() {
        return None;
    }
    // Round trips longer than those of one full packet.
    let full_octets = f64::from(mtu - UDP_HEADERS);
    let longer_ns = |of: fn(&AtSize) -> &[u64]| {
        let full_ns = median(of(high)) + slope(of) * (full_octets - f64::from(high.octets));
        median(of(long)) - full_ns
    };
    let (with_ns, without_ns) = (longer_ns(with), longer_ns(without));
    let beside_ns = besides.iter().map(|kind| {
        let hops = Passes::new(kind, mtu).hops(further);
        2.0 * hops.iter().map(|hop| hop.occupied_ns).sum::<f64>()
    });
    let others_ns = beside_ns.fold(without_ns, f64::max);
    if with_ns <= SLOWER * others_ns.max(0.0) {
        return None;
    }
    let octets: f64 = further.iter().map(|octets| f64::from(*octets)).sum();
    let octet_ns = (slope(with) - slope(without)).max(0.0);
    let packets_ns = (with_ns - octet_ns * octets) / 2.0;
    Some((packets_ns / further.len() as f64 / 1e3).max(0.0))
}

fn with(at: &AtSize) -> &[u64] {
    &at.with_ns
}

fn without(at: &AtSize) -> &[u64] {
    &at.without_ns
}

fn median(ascending: &[u64]) -> f64 {
    nearest_rank(ascending, Quantile::P50).unwrap_or(0) as f64
}

#[cfg(test)]
mod tests {
    use super::super::message::MTU;
    use super::super::topology::ElementKind;
    use super::*;

    /// Round trips of 64, 1472 and 14,000 octets (ten packets): hosts of 100 µs, and an element of
    /// `packet_us` a packet and 1 µs an octet, behind a segment of `segment_us` a packet.
    fn measured(packet_us: f64, segment_us: f64, sizes: &[u32]) -> Vec<AtSize> {
        let at = |octets: &u32| {
            let packets = Message::from(*octets).packets(MTU);
            let of = |octets: u32| packet_us + f64::from(octets);
            let first = of(packets[0]);
            let further: f64 = packets[1..].iter().map(|octets| of(*octets).max(segment_us)).sum();
            let with_us = 100.0 + 2.0 * (first + further);
            let without_us = 100.0 + 2.0 * segment_us * (packets.len() - 1) as f64;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let series = |us: f64| vec![(us * 1e3) as u64; 3];
            AtSize::new(*octets, series(with_us), series(without_us))
        };
        sizes.iter().map(at).collect()
    }

    const SIZES: [u32; 3] = [64, 1472, 14_000];

    #[test]
    fn the_slowest_element_is_told() {
        for packet_us in [0.0, 500.0, 5000.0] {
            let found = packet_us_of(&measured(packet_us, 10.0, &SIZES));
            assert!((found.unwrap() - packet_us).abs() < 1e-6, "{found:?} for {packet_us}");
        }
    }

    fn packet_us_of(measured: &[AtSize]) -> Option<f64> {
        packet_us(measured, &[], MTU)
    }

    /// A slower segment hides it, before it or behind it.
    #[test]
    fn a_faster_element_is_not_told() {
        assert_eq!(packet_us_of(&measured(500.0, 5000.0, &SIZES)), None);
        // 1 Mbit/s: 12 ms a packet.
        let slow = ElementType { rate_bits: Some(1e6), ..ElementType::new(ElementKind::Link) };
        assert_eq!(packet_us(&measured(500.0, 10.0, &SIZES), &[slow], MTU), None);
    }

    #[test]
    fn sizes_of_one_packet_do_not_tell() {
        for sizes in [&[64, 512, 1472][..], &[64, 14_000], &[2000, 14_000], &[64, 1472, 2000], &[]]
        {
            assert_eq!(packet_us_of(&measured(500.0, 10.0, sizes)), None, "{sizes:?}");
        }
    }
}
