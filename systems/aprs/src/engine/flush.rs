//! When what waits is written.
//!
//! A write costs much the same whether one packet goes out or thirty, so packets are gathered. How
//! long they may wait follows from how many clients have something to get: few are served at once,
//! many in a rhythm that bounds how much of a processor the writes take. Counts and the clock decide,
//! never a measured load: a replayed day has to write the same.

use crate::config::Batching;

/// How long the oldest of what waits may wait, in nanoseconds, when `clients` are to be written to.
pub(super) fn interval_ns(batching: Batching, clients: usize) -> u64 {
    const MS: u64 = 1_000_000;
    // Nanoseconds a client, and the bounds. 60 µs a client keeps the writes, at some 10 µs each,
    // below a sixth of a processor.
    let (per_client_ns, min_ns, max_ns) = match batching {
        Batching::Adaptive => (60_000, 4 * MS, 250 * MS),
        Batching::Latency => (20_000, 2 * MS, 8 * MS),
        Batching::Throughput => (250_000, 50 * MS, 500 * MS),
    };
    (clients as u64).saturating_mul(per_client_ns).clamp(min_ns, max_ns)
}

#[cfg(test)]
mod tests {
    use super::interval_ns;
    use crate::config::Batching;

    #[test]
    fn few_clients_are_served_at_once_and_many_in_a_rhythm() {
        let adaptive = [1, 50, 400, 4000, 100_000].map(|n| interval_ns(Batching::Adaptive, n));
        assert_eq!(adaptive.map(|ns| ns / 1_000_000), [4, 4, 24, 240, 250]);
        assert_eq!(interval_ns(Batching::Latency, 10_000), 8_000_000);
        assert_eq!(interval_ns(Batching::Throughput, 1), 50_000_000);
    }
}
