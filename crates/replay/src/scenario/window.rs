//! A window of a recording: the part that is measured, and what is replayed before it.

use crate::moment::Moment;
use std::time::Duration;

/// A window as it is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Its begin; that of the recording without.
    pub from: Option<Moment>,
    /// Its end, which is not in it; that of the recording without.
    pub to: Option<Moment>,
    /// Recorded time before the window whose inputs of kind `state` are replayed and not measured;
    /// all since the begin of the recording without.
    pub lead_in: Option<Duration>,
}

/// Instants of a replay, UTC ns since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// Begin of the replay.
    pub(super) start_ns: i64,
    /// Begin of what is measured.
    pub(super) from_ns: i64,
    /// End, where one is known.
    pub(super) end_ns: Option<i64>,
    /// Whether a window was asked for.
    pub(super) is_window: bool,
}

impl Span {
    /// The span of a recording from `start_ns` to `end_ns`, cut to a window.
    ///
    /// # Errors
    /// A sentence, when the window is empty or not in the recording.
    pub(super) fn of(
        window: Option<Window>,
        start_ns: i64,
        end_ns: Option<i64>,
    ) -> Result<Self, String> {
        let Some(Window { from, to, lead_in }) = window else {
            return Ok(Self { start_ns, from_ns: start_ns, end_ns, is_window: false });
        };
        let from_ns = from.map_or(start_ns, |from| from.at_or_after(start_ns));
        let to_ns = to.map(|to| to.at_or_after(from_ns));
        let of_day = |at_ns: i64| {
            let s = at_ns.div_euclid(1_000_000_000);
            format!("{:02}:{:02}:{:02}", s / 3600 % 24, s / 60 % 60, s % 60)
        };
        if from_ns < start_ns {
            let (from, start) = (of_day(from_ns), of_day(start_ns));
            return Err(format!(
                "the window begins at {from}, before the recording does ({start} UTC)"
            ));
        }
        if let Some(end_ns) = end_ns.filter(|end_ns| from_ns >= *end_ns) {
            let (from, end) = (of_day(from_ns), of_day(end_ns));
            return Err(format!(
                "the window begins at {from}, when the replay is over ({end} UTC)"
            ));
        }
        if let Some(to_ns) = to_ns.filter(|to_ns| *to_ns <= from_ns) {
            let (from, to) = (of_day(from_ns), of_day(to_ns));
            return Err(format!("the window ends at {to}, not after its begin at {from}"));
        }
        let lead_in_ns = |lead_in: Duration| i64::try_from(lead_in.as_nanos()).unwrap_or(i64::MAX);
        let begin_ns = lead_in.map_or(start_ns, |l| from_ns.saturating_sub(lead_in_ns(l)));
        Ok(Self {
            start_ns: begin_ns.max(start_ns),
            from_ns,
            end_ns: [end_ns, to_ns].into_iter().flatten().min(),
            is_window: true,
        })
    }

    /// Replayed time until the end, where one is known.
    pub(super) fn duration(&self) -> Option<Duration> {
        self.end_ns.map(|end_ns| between(self.start_ns, end_ns))
    }

    /// Replayed time until the window begins; `None` without a window.
    pub(super) fn window_after(&self) -> Option<Duration> {
        self.is_window.then(|| between(self.start_ns, self.from_ns))
    }
}

fn between(from_ns: i64, to_ns: i64) -> Duration {
    Duration::from_nanos(to_ns.saturating_sub(from_ns).max(0).unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    fn window(from: &str, to: &str, lead_in_s: Option<u64>) -> Option<Window> {
        let lead_in = lead_in_s.map(Duration::from_secs);
        Some(Window { from: from.parse().ok(), to: to.parse().ok(), lead_in })
    }

    #[test]
    fn a_window_has_its_lead_in_before_it() {
        let of = |window| Span::of(window, 3600 * S, Some(7200 * S)).unwrap();
        let span = of(window("01:30", "01:40", Some(60)));
        assert_eq!((span.start_ns, span.from_ns), (5340 * S, 5400 * S));
        assert_eq!(span.end_ns, Some(6000 * S));
        assert_eq!(span.window_after(), Some(Duration::from_secs(60)));
        let whole = of(window("01:30", "", None));
        assert_eq!((whole.start_ns, whole.end_ns), (3600 * S, Some(7200 * S)));
        let short = of(window("01:30", "", Some(86_400)));
        assert_eq!(short.start_ns, 3600 * S, "never before the recording");
        assert_eq!(of(None).window_after(), None);
    }

    #[test]
    fn a_window_that_is_none_is_refused() {
        let of = |window| Span::of(window, 3600 * S, Some(7200 * S)).unwrap_err();
        assert!(of(window("02:00", "", None)).contains("when the replay is over (02:00:00 UTC)"));
        assert!(of(window("1969-12-31T00:00", "", None)).contains("before the recording"));
        let error = of(window("01:30", "1970-01-01T01:30", None));
        assert!(error.contains("the window ends at 01:30:00, not after"), "{error}");
    }
}
