//! What limits throughput at a point, from what was measured there.

use crate::measure::Measured;
use crate::pair::Work;
use crate::table::grouped;

/// A measured point, with what bounds it.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// In words: where it was measured.
    pub(crate) what: String,
    /// Of user data.
    pub(crate) mbit_per_s: f64,
    /// The bounds, the tightest first.
    pub(crate) bounds: Vec<Bound>,
}

/// A bound of throughput.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    pub(crate) by: By,
    pub(crate) mbit_per_s: f64,
}

/// What bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// Operations without their return, per round trip: confirmation, and propagation with it.
    Acknowledgement,
    /// What TCP carries on the same path with the same buffers, by iperf3.
    Tcp,
    /// CPU of the busier process for each operation.
    Operation,
}

impl By {
    fn words(self) -> &'static str {
        match self {
            Self::Acknowledgement => "the window of unacknowledged operations over the round trip",
            Self::Tcp => "TCP: its window over the round trip, or the path",
            Self::Operation => "the cost of each operation",
        }
    }
}

impl Point {
    /// `rtt_ms`: as connections saw it; `tcp_mbit_per_s`: iperf3's on the same path, where there is.
    pub(crate) fn new(
        what: String,
        work: &Work,
        measured: &Measured,
        rtt_ms: f64,
        tcp_mbit_per_s: Option<f64>,
        is_confirmed: bool,
    ) -> Self {
        let bits = f64::from(work.octets) * 8.0;
        let mut bounds = Vec::new();
        if is_confirmed && rtt_ms > 0.0 {
            let in_flight = f64::from(work.window) * f64::from(work.together) * bits;
            let mbit_per_s = in_flight / rtt_ms / 1e3;
            bounds.push(Bound { by: By::Acknowledgement, mbit_per_s });
        }
        if let Some(mbit_per_s) = tcp_mbit_per_s {
            bounds.push(Bound { by: By::Tcp, mbit_per_s });
        }
        // CPU of all threads of the busier process: one that has threads to share its work may
        // pass this bound.
        let us = measured.user_us().max(measured.provider_us());
        if us > 0.0 {
            bounds.push(Bound { by: By::Operation, mbit_per_s: bits / us });
        }
        bounds.sort_by(|a, b| a.mbit_per_s.total_cmp(&b.mbit_per_s));
        Self { what, mbit_per_s: measured.mbit_per_s(), bounds }
    }

    /// What limits here, in words.
    pub(crate) fn words(&self) -> String {
        let Some(tightest) = self.bounds.first() else {
            return format!("{}: {} Mbit/s", self.what, grouped(self.mbit_per_s, 1));
        };
        let others: Vec<String> = self.bounds[1..]
            .iter()
            .map(|bound| {
                format!("{} would allow {}", bound.by.words(), grouped(bound.mbit_per_s, 0))
            })
            .collect();
        let reached = self.mbit_per_s / tightest.mbit_per_s;
        let mut text = format!(
            "{}: {} Mbit/s. Limited by {} ({} Mbit/s; reached {:.2} of it)",
            self.what,
            grouped(self.mbit_per_s, 1),
            tightest.by.words(),
            grouped(tightest.mbit_per_s, 1),
            reached
        );
        if !others.is_empty() {
            text += &format!("; {}", others.join(", "));
        }
        if reached < 0.5 {
            text += "; less than half of the bound: waiting that none of these explains";
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{By, Point};
    use crate::measure::{Measured, Round};
    use crate::pair::Work;

    fn measured(units: u64, octets: u64, user_cpu_ns: u64) -> Measured {
        Measured(vec![Round {
            units,
            octets,
            elapsed_ns: 1_000_000_000,
            user_cpu_ns,
            provider_cpu_ns: 1,
        }])
    }

    /// 10 CLTUs of 1544 octets every 100 ms are 1.2352 Mbit/s, whatever TCP and CPU could do.
    #[test]
    fn ten_in_flight_over_a_tenth_of_a_second() {
        let work = Work::fcltu(1544, 10);
        let measured = measured(97, 97 * 1544, 97 * 5_000);
        let point = Point::new("here".into(), &work, &measured, 100.0, Some(5.2), true);
        assert_eq!(point.bounds[0].by, By::Acknowledgement);
        assert!((point.bounds[0].mbit_per_s - 1.2352).abs() < 1e-9);
        assert_eq!(point.bounds[1].by, By::Tcp);
        assert!((point.bounds[2].mbit_per_s - 2470.4).abs() < 1e-6);
        assert!(point.words().contains("reached 0.97 of it"), "{}", point.words());
    }

    #[test]
    fn unconfirmed_without_delay_it_is_the_cpu() {
        let work = Work::raf(100, 80);
        let measured = measured(1_000_000, 100_000_000, 900_000_000);
        let point = Point::new("there".into(), &work, &measured, 0.1, None, false);
        assert_eq!(point.bounds.len(), 1);
        assert_eq!(point.bounds[0].by, By::Operation);
        assert!((point.mbit_per_s / point.bounds[0].mbit_per_s - 0.9).abs() < 1e-9);
    }
}
