//! Cause that limits the throughput at a point, from the recorded chains.

use crate::chains::Recorded;
use crate::measure::Measured;
use crate::work::{Service, Work};
use chronoscope_figures::numbers::decimal;

/// From this share of the time on, computing or waiting for a CPU, a process is busy.
const BUSY: f64 = 0.7;
/// From this share of the window on, it is full: between a return and the next operation there is
/// always a moment.
const FULL: f64 = 0.8;

/// A measured point, with what was recorded there.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// In words: where it was measured.
    pub(crate) what: String,
    pub(crate) work: Work,
    /// Of user data, without the recorder.
    pub(crate) mbit_per_s: f64,
    /// As connections see it; none on loopback.
    pub(crate) rtt_ms: Option<f64>,
    /// iperf3's on the same path, where there is.
    pub(crate) tcp_mbit_per_s: Option<f64>,
    /// The same work again, recorded; none where that failed.
    pub(crate) recorded: Option<Recorded>,
}

/// Limiting cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// The way there and back, for as many operations as may be without their return.
    Propagation,
    /// TCP's window: operations wait before it.
    Window,
    /// Waiting for returns, though nobody is busy and nothing is far.
    Acknowledgement,
    /// CPU for each operation.
    Operation,
    /// None of these.
    Unexplained,
}

impl By {
    fn words(self) -> &'static str {
        match self {
            Self::Propagation => {
                "propagation: the operations that may be without their return are on their way"
            }
            Self::Window => {
                "the window: operations wait before TCP, for its window over the round trip or for \
                 the path's rate"
            }
            Self::Acknowledgement => "acknowledgement: the user waits for returns",
            Self::Operation => {
                "the cost of each operation: a process computes, or waits for a CPU, all the time"
            }
            Self::Unexplained => {
                "none of propagation, window, acknowledgement and cost: nothing is far, full or busy"
            }
        }
    }
}

impl Point {
    /// The limiting cause; `None` without a recording.
    pub(crate) fn by(&self) -> Option<By> {
        let Recorded { measured, chains } = self.recorded.as_ref()?;
        let propagation_us = self.propagation_us();
        let waits_us = chains.there_us - propagation_us / 2.0;
        let is_full = self.under_way()? >= FULL * self.most_under_way();
        let is_confirmed = self.work.service == Service::Fcltu;
        Some(if is_confirmed && is_full && propagation_us > chains.total_us / 2.0 {
            By::Propagation
        } else if busy(measured) >= BUSY {
            By::Operation
        } else if self.rtt_ms.is_some() && waits_us > chains.total_us / 2.0 {
            By::Window
        } else if is_confirmed && is_full {
            By::Acknowledgement
        } else {
            By::Unexplained
        })
    }

    fn propagation_us(&self) -> f64 {
        self.rtt_ms.unwrap_or(0.0) * 1e3
    }

    /// CLTUs under way on average, by Little's law: their rate times their time.
    fn under_way(&self) -> Option<f64> {
        let Recorded { measured, chains } = self.recorded.as_ref()?;
        Some(measured.units_per_s() * chains.total_us / 1e6)
    }

    fn most_under_way(&self) -> f64 {
        f64::from(self.work.window) * f64::from(self.work.together)
    }

    /// The limiting cause, in words.
    pub(crate) fn words(&self) -> String {
        let rate = decimal(self.mbit_per_s, 1);
        let (Some(by), Some(recorded)) = (self.by(), &self.recorded) else {
            return format!("{}: {rate} Mbit/s; not recorded, so nothing is said", self.what);
        };
        let mut text = format!("{}: {rate} Mbit/s. Limited by {}. ", self.what, by.words());
        text += &match self.work.service {
            Service::Fcltu => self.way_of_a_cltu(recorded),
            Service::Raf => way_of_a_buffer(recorded),
            // Their chains are not read, so nothing of them is recorded here.
            Service::Frames | Service::Sequence => String::new(),
        };
        let [user, provider] = recorded.measured.busy();
        let [used_user, used_provider] = used(&recorded.measured);
        text += &format!(
            ". Computing: user {used_user:.2}, provider {used_provider:.2} of a CPU, and with waiting \
             for one {user:.2} and {provider:.2}"
        );
        if let Some(tcp) = self.tcp_mbit_per_s {
            text += &format!(". iperf3 on this path: {} Mbit/s", decimal(tcp, 1));
        }
        text += &format!(
            ". Recorded at {} Mbit/s, {} chains",
            decimal(recorded.measured.mbit_per_s(), 1),
            decimal(recorded.chains.count as f64, 0)
        );
        if recorded.chains.dropped > 0 {
            text += &format!(", {} transactions dropped", recorded.chains.dropped);
        }
        text
    }

    fn way_of_a_cltu(&self, Recorded { chains, .. }: &Recorded) -> String {
        let far = self.rtt_ms.map(|ms| format!(" ({} of both are propagation)", time(ms * 1e3)));
        let far = far.unwrap_or_default();
        format!(
            "A CLTU's {} from send to return: {} there, {} at the provider, {} back{far}, {} \
             acknowledging; {} in the queue and {} radiated beside. {} of {} CLTUs were under way",
            time(chains.total_us),
            time(chains.there_us),
            time(chains.receive_us),
            time(chains.back_us),
            time(chains.acknowledge_us),
            time(chains.queue_us),
            time(chains.radiate_us),
            decimal(self.under_way().unwrap_or(0.0).min(self.most_under_way()), 0),
            decimal(self.most_under_way(), 0)
        )
    }
}

fn way_of_a_buffer(Recorded { chains, .. }: &Recorded) -> String {
    format!(
        "A buffer's {} from its first frame's receipt until the program has it: {} until it is \
         handed over, {} there, {} at the user",
        time(chains.total_us),
        time(chains.fill_us),
        time(chains.there_us),
        time(chains.receive_us)
    )
}

/// Share of the time in which the busier process computes or waits for a CPU: above 1 where its
/// threads share the work.
fn busy(measured: &Measured) -> f64 {
    let [user, provider] = measured.busy();
    user.max(provider)
}

/// CPUs that user and provider used.
fn used(measured: &Measured) -> [f64; 2] {
    [measured.user_us(), measured.provider_us()].map(|us| us * measured.units_per_s() / 1e6)
}

/// A duration with its unit.
fn time(us: f64) -> String {
    match us.abs() {
        us_abs if us_abs < 1000.0 => format!("{us:.1} µs"),
        us_abs if us_abs < 1e6 => format!("{:.1} ms", us / 1e3),
        _ => format!("{:.2} s", us / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::{By, Point};
    use crate::chains::{Chains, Recorded};
    use crate::measure::{Measured, Round};
    use crate::work::Work;

    /// One second in which so many units were done, with so much CPU for each on either side.
    fn point(
        work: Work,
        units: u64,
        cpu_us: u64,
        rtt_ms: impl Into<Option<f64>>,
        chains: Chains,
    ) -> Point {
        let measured = Measured(vec![Round {
            units,
            octets: units * u64::from(work.octets),
            elapsed_ns: 1_000_000_000,
            user_cpu_ns: units * cpu_us * 1000,
            provider_cpu_ns: units * cpu_us * 1000,
            ..Round::default()
        }]);
        Point {
            what: "here".to_owned(),
            work,
            mbit_per_s: measured.mbit_per_s(),
            rtt_ms: rtt_ms.into(),
            tcp_mbit_per_s: None,
            recorded: Some(Recorded { measured, chains }),
        }
    }

    fn way(total_us: f64, there_us: f64, back_us: f64) -> Chains {
        Chains { count: 1, total_us, there_us, back_us, ..Chains::default() }
    }

    /// 10 CLTUs every 101 ms, of which 100 are the round trip.
    #[test]
    fn few_operations_over_a_long_way() {
        let point = point(Work::fcltu(1544, 10), 99, 50, 100.0, way(101_000.0, 50_500.0, 50_500.0));
        assert_eq!(point.by(), Some(By::Propagation));
        let words = point.words();
        assert!(words.contains("A CLTU's 101.0 ms from send to return"), "{words}");
        assert!(words.contains("10 of 10 CLTUs were under way"), "{words}");
    }

    /// 170 CLTUs under way, 240 of 340 ms before the wire.
    #[test]
    fn many_operations_before_a_small_window() {
        let chains = way(340_000.0, 290_000.0, 50_000.0);
        assert_eq!(point(Work::fcltu(1544, 170), 500, 8, 100.0, chains).by(), Some(By::Window));
    }

    /// The same, but the provider computes all the time: it would be no faster without the window.
    #[test]
    fn many_operations_before_a_busy_process() {
        let chains = way(600_000.0, 550_000.0, 50_000.0);
        let work = Work::fcltu(1544, 60_000);
        assert_eq!(point(work, 90_000, 10, 100.0, chains).by(), Some(By::Operation));
    }

    /// One at a time, 25 µs each, 5 µs of CPU on either side.
    #[test]
    fn one_at_a_time_near() {
        let chains = way(25.0, 12.0, 12.0);
        let point = point(Work::fcltu(1544, 1), 38_000, 5, None, chains);
        assert_eq!(point.by(), Some(By::Acknowledgement));
    }

    #[test]
    fn frames_are_limited_by_whoever_computes() {
        let point = point(Work::raf(100, 80), 1_000_000, 1, None, way(900.0, 100.0, 0.0));
        assert_eq!(point.by(), Some(By::Operation));
        let point = point_without_record();
        assert_eq!(point.by(), None);
        assert!(point.words().contains("not recorded"));
    }

    fn point_without_record() -> Point {
        Point { recorded: None, ..point(Work::raf(100, 80), 1, 1, None, Chains::default()) }
    }
}
