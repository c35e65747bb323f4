//! What a run found.

use crate::status::StatusPage;
use hdrhistogram::Histogram;

/// Results of a run.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub(crate) struct Outcome {
    /// Lines sent in all, and how many of them were repeated ones.
    pub(crate) sent: u64,
    /// Lines sent that were repeated ones.
    pub(crate) repeated: u64,
    /// Lines sent per second in the window.
    pub(crate) rate: f64,
    /// Packets that receivers got in the window, a second.
    pub(crate) delivered_per_s: f64,
    /// Octets of them, a second.
    pub(crate) octets_per_s: f64,
    /// Packets that full feeds did not get.
    pub(crate) missing: u64,
    /// Packets that arrived after a later one of their sender, or twice.
    pub(crate) misordered: u64,
    /// Receivers that were cut.
    pub(crate) cut: u64,
    /// Packets that clients which name callsigns should have got, and did get.
    pub(crate) named: [u64; 2],
    /// Packets of bursts that full feeds got, all of them together.
    pub(crate) of_bursts: u64,
    /// CPU time of the server a million packets delivered, in seconds.
    pub(crate) cpu_s_per_million: f64,
    /// CPU time of the server a million lines sent, in seconds.
    pub(crate) cpu_s_per_million_in: f64,
    /// CPU time of the server a second.
    pub(crate) cpu: f64,
    /// Of it, the server's own, and the kernel's for it.
    pub(crate) user: f64,
    pub(crate) system: f64,
    /// Reads of receivers that brought something, a second: about as many as the server's writes,
    /// where the generator keeps up.
    pub(crate) reads_per_s: f64,
    /// CPU time of the generator's thread a second.
    pub(crate) generator_cpu: f64,
    /// The machine's load average over a minute, at the end.
    pub(crate) load_average: f64,
    /// Voluntary context switches of the server's threads a second.
    pub(crate) voluntary_per_s: f64,
    /// Involuntary ones.
    pub(crate) involuntary_per_s: f64,
    /// Threads of the server before the first client, and at the end of the window.
    pub(crate) threads: [usize; 2],
    /// Latency from sending to receiving.
    #[serde(flatten)]
    pub(crate) latency: Latency,
    /// The same while a burst of other clients went on.
    pub(crate) in_bursts: Latency,
    /// Resident memory at the end, in kB.
    pub(crate) rss_kb: u64,
    /// The server's own counters.
    pub(crate) status: Option<StatusPage>,
}

/// Quantiles of latencies.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub(crate) struct Latency {
    /// Median, in milliseconds.
    pub(crate) p50_ms: f64,
    /// 90 % within.
    pub(crate) p90_ms: f64,
    /// 99 % within.
    pub(crate) p99_ms: f64,
    /// Largest, ms.
    pub(crate) max_ms: f64,
}

impl Latency {
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn of(latency_us: &Histogram<u64>) -> Self {
        let quantile = |share| latency_us.value_at_quantile(share) as f64 / 1e3;
        Self {
            p50_ms: quantile(0.5),
            p90_ms: quantile(0.9),
            p99_ms: quantile(0.99),
            max_ms: latency_us.max() as f64 / 1e3,
        }
    }
}
