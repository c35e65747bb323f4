//! Evaluation of a recorded run: the chains of its CLTUs or buffers, across both programs, and the
//! time of each part of their path.

use crate::measure::Measured;
use crate::work::Service;
use anyhow::{Result, bail};
use chronoscope_record::read::{Cursors, Ring, find_rings};
use chronoscope_statistics::median;
use std::collections::HashMap;
use std::path::Path;

/// Records of a ring that are read at most.
const RECORDS_MAX: usize = 1 << 20;

/// A measurement, with the chains of the same run.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) measured: Measured,
    pub(crate) chains: Chains,
}

/// Medians over the chains that were whole when both rings were read, in µs. User and provider are
/// on one host, so that stamps of both are of one clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Chains {
    /// Number of chains.
    pub(crate) count: usize,
    /// CLTU: from handing it over to its return. Buffer: from its first frame's receipt until the
    /// program has it.
    pub(crate) total_us: f64,
    /// CLTU: from handing it over until it is an operation at the provider. Buffer: from its
    /// handing over to the connection until it is an operation at the user.
    pub(crate) there_us: f64,
    /// CLTU: at the provider, until it is answered. Buffer: at the user, until the program has it.
    pub(crate) receive_us: f64,
    /// CLTU: from the answer until it is an operation at the user.
    pub(crate) back_us: f64,
    /// CLTU: from that until its fate is known.
    pub(crate) acknowledge_us: f64,
    /// CLTU: in the provider's queue, beside the way of the answer.
    pub(crate) queue_us: f64,
    /// CLTU: being radiated, likewise.
    pub(crate) radiate_us: f64,
    /// Buffer: from its first frame's receipt until it is handed to the connection.
    pub(crate) fill_us: f64,
    /// Transactions that the recorder had no room for, in both programs.
    pub(crate) dropped: u64,
}

/// When a transaction started, UTC, and how long it took; ns.
type Span = (i64, u64);

/// The transactions of one chain.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    root: Option<Span>,
    receive: Option<Span>,
    queue: Option<Span>,
    radiate: Option<Span>,
    acknowledge: Option<Span>,
}

impl Chains {
    /// Reads all rings of a folder.
    ///
    /// # Errors
    /// When a ring cannot be read, or no chain is whole.
    pub(crate) fn read(folder: &Path, service: Service) -> Result<Self> {
        let mut found: HashMap<(u64, u64), Found> = HashMap::new();
        let mut dropped = 0;
        for path in find_rings(folder) {
            let mut ring = Ring::open(&path)?;
            let mut batch = Default::default();
            ring.drain(&mut Cursors::default(), RECORDS_MAX, &mut batch)?;
            ring.refresh_names()?;
            dropped += ring.counters()?.dropped();
            for record in batch.records() {
                let Some(name) = ring.names().class(record.class) else { continue };
                let chain = found.entry((record.chain_high, record.chain_low)).or_default();
                let place = match name.class.as_str() {
                    "cltuTransferData" | "deliverBuffer" => &mut chain.root,
                    "receiveCltu" | "receiveBuffer" => &mut chain.receive,
                    "queueCltu" => &mut chain.queue,
                    "radiateCltu" => &mut chain.radiate,
                    "acknowledgeCltu" => &mut chain.acknowledge,
                    _ => continue,
                };
                *place = Some((record.start_ns, record.elapsed_ns));
            }
        }
        let chains = match service {
            Service::Fcltu => Self::of_cltus(found.values()),
            Service::Raf => Self::of_buffers(found.values()),
            Service::Frames | Service::Sequence => bail!("only chains of SLE are read"),
        };
        if chains.count == 0 {
            bail!(
                "no chain is complete: {} chains found, {dropped} transactions dropped",
                found.len()
            );
        }
        Ok(Self { dropped, ..chains })
    }

    fn of_cltus<'a>(found: impl Iterator<Item = &'a Found>) -> Self {
        let mut parts = Parts::<7>::default();
        for chain in found {
            let (Some(root), Some(receive), Some(acknowledge)) =
                (chain.root, chain.receive, chain.acknowledge)
            else {
                continue;
            };
            parts.add([
                Some(root.1 as f64),
                Some((receive.0 - root.0) as f64),
                Some(receive.1 as f64),
                Some((acknowledge.0 - end(receive)) as f64),
                Some(acknowledge.1 as f64),
                chain.queue.map(|queue| queue.1 as f64),
                chain.radiate.map(|radiate| radiate.1 as f64),
            ]);
        }
        let count = parts.0[0].len();
        let [total_us, there_us, receive_us, back_us, acknowledge_us, queue_us, radiate_us] =
            parts.medians_us();
        Self {
            count,
            total_us,
            there_us,
            receive_us,
            back_us,
            acknowledge_us,
            queue_us,
            radiate_us,
            ..Self::default()
        }
    }

    fn of_buffers<'a>(found: impl Iterator<Item = &'a Found>) -> Self {
        let mut parts = Parts::<4>::default();
        for chain in found {
            let (Some(root), Some(receive)) = (chain.root, chain.receive) else { continue };
            parts.add([
                Some((end(receive) - root.0) as f64),
                Some(root.1 as f64),
                Some((receive.0 - end(root)) as f64),
                Some(receive.1 as f64),
            ]);
        }
        let count = parts.0[0].len();
        let [total_us, fill_us, there_us, receive_us] = parts.medians_us();
        Self { count, total_us, fill_us, there_us, receive_us, ..Self::default() }
    }
}

fn end((start_ns, elapsed_ns): Span) -> i64 {
    start_ns.saturating_add_unsigned(elapsed_ns)
}

/// Durations of N parts, in ns.
struct Parts<const N: usize>([Vec<f64>; N]);

impl<const N: usize> Default for Parts<N> {
    fn default() -> Self {
        Self([const { Vec::new() }; N])
    }
}

impl<const N: usize> Parts<N> {
    fn add(&mut self, durations: [Option<f64>; N]) {
        for (all, one) in self.0.iter_mut().zip(durations) {
            all.extend(one);
        }
    }

    /// 0 where there is nothing.
    fn medians_us(self) -> [f64; N] {
        self.0.map(|all| median(all).map_or(0.0, |ns| ns / 1e3))
    }
}

#[cfg(test)]
mod tests {
    use super::{Chains, Found};

    /// Sent at 1000 ns, there at 4000 for 2000, its return back at 9000 and understood at 9500.
    #[test]
    fn the_parts_of_a_cltus_way_are_its_whole() {
        let chain = Found {
            root: Some((1000, 8500)),
            receive: Some((4000, 2000)),
            queue: Some((4500, 7000)),
            radiate: None,
            acknowledge: Some((9000, 500)),
        };
        let other = Found { root: Some((1, 1)), ..Found::default() };
        let chains = Chains::of_cltus([chain, other].iter());
        assert_eq!(chains.count, 1, "one is not whole");
        assert_eq!(chains.total_us, 8.5);
        assert_eq!(
            [chains.there_us, chains.receive_us, chains.back_us, chains.acknowledge_us],
            [3.0, 2.0, 3.0, 0.5]
        );
        assert_eq!([chains.queue_us, chains.radiate_us], [7.0, 0.0]);
    }

    /// Its first frame at 0, handed over at 10 µs, there at 15 µs, taken 1 µs later.
    #[test]
    fn the_parts_of_a_buffers_way_are_its_whole() {
        let chain =
            Found { root: Some((0, 10_000)), receive: Some((15_000, 1000)), ..Found::default() };
        let chains = Chains::of_buffers([chain].iter());
        assert_eq!(chains.total_us, 16.0);
        assert_eq!([chains.fill_us, chains.there_us, chains.receive_us], [10.0, 5.0, 1.0]);
    }
}
