//! Offset of a host's clock at any instant, with its error bound.
//!
//! A reading says: at this instant the clock was ahead by `offset_ns`, within `error_ns` (half a
//! round trip, as in NTP and PTP). Between readings a clock may drift by up to [`DRIFT_MAX_PPB`];
//! so every reading bounds the offset at any other instant, more loosely with distance, and the
//! true offset lies in the intersection of all bounds. Offsets are relative to one reference, the
//! collector.
//!
//! A [`ClockTrack`] has bounded memory: when there are too many readings, old ones are dropped and
//! the line between the remaining ones gets their distance from it as its error. The true offset
//! stays within the bound.
//!
//! Not here: measuring an offset (`collect`), the host of a row (`store`).

/// Largest assumed drift of a clock against the reference, in parts of 10⁹: 50 ppm, which covers
/// quartz oscillators over their temperature range (20 to 50 ppm by data sheets). A clock that NTP
/// slews may run 500 ppm off for a while; sufficiently frequent readings bound that too.
pub const DRIFT_MAX_PPB: u64 = 50_000;

/// Largest number of readings that a track holds, singly or as ends of lines.
pub const KNOTS_MAX: usize = 512;

/// Measured or computed offset of a clock at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockEstimate {
    /// The clock minus the reference, in nanoseconds; positive when it is ahead.
    pub offset_ns: i64,
    /// The true offset is within `offset_ns ± error_ns`.
    pub error_ns: u64,
}

/// A reading that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockKnot {
    /// Instant of the reading: UTC of the reference, nanoseconds since 1970.
    pub at_ns: i64,
    /// The measured offset.
    pub estimate: ClockEstimate,
    /// Readings between the knot before and this one that are not kept one by one.
    pub dropped: Option<Dropped>,
}

/// Bound on the dropped readings between two knots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The true offset at each dropped reading was within this distance of the line between the
    /// knots, in nanoseconds.
    pub error_ns: u64,
    /// Longest time between one of all readings and the next, in nanoseconds.
    pub gap_ns: u64,
}

/// The readings of one clock over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClockTrack {
    /// Knots by time, no two at the same instant.
    knots: Vec<ClockKnot>,
}

/// A time in which a clock's offset is bounded by the same one or two readings: before the first
/// reading, from one to the next, or behind the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockSpan<'a> {
    /// Its first instant: UTC of the reference, nanoseconds since 1970.
    pub from_ns: i64,
    /// The last reading until then.
    pub before: Option<&'a ClockKnot>,
    /// The first reading behind it.
    pub after: Option<&'a ClockKnot>,
}

/// Bounds of an offset; wide enough for any arithmetic on stamps.
#[derive(Clone, Copy)]
struct Bounds {
    low: i128,
    high: i128,
}

impl ClockTrack {
    /// A track of these knots, as [`Self::knots`] gave them; in any order.
    pub fn from_knots(mut knots: Vec<ClockKnot>) -> Self {
        knots.sort_by_key(|knot| knot.at_ns);
        knots.dedup_by_key(|knot| knot.at_ns);
        Self { knots }
    }

    /// Adds a reading; returns whether it was used. A second reading of the same instant replaces
    /// the first when its error is smaller; one between dropped readings comes too late.
    pub fn insert(&mut self, at_ns: i64, estimate: ClockEstimate) -> bool {
        let index = self.knots.partition_point(|knot| knot.at_ns < at_ns);
        match self.knots.get_mut(index) {
            Some(knot) if knot.at_ns == at_ns => {
                let surer = estimate.error_ns < knot.estimate.error_ns;
                // A knot that ends a line stays: the line's error was computed against it.
                let is_end = knot.dropped.is_some()
                    || self.knots.get(index + 1).is_some_and(|next| next.dropped.is_some());
                if surer && !is_end {
                    self.knots[index].estimate = estimate;
                }
                surer && !is_end
            }
            Some(knot) if knot.dropped.is_some() => false,
            _ => {
                self.knots.insert(index, ClockKnot { at_ns, estimate, dropped: None });
                if self.knots.len() > KNOTS_MAX {
                    self.thin();
                }
                true
            }
        }
    }

    /// Drops every second of the older three quarters of all knots, but the first.
    fn thin(&mut self) {
        let recent = self.knots.len() - self.knots.len() / 4;
        let mut kept: Vec<ClockKnot> = Vec::with_capacity(self.knots.len());
        let mut index = 0;
        while index < self.knots.len() {
            let knot = self.knots[index];
            match (kept.last(), self.knots.get(index + 1)) {
                (Some(before), Some(after)) if index < recent && index % 2 == 1 => {
                    let dropped = drop_between(before, &knot, after);
                    kept.push(ClockKnot { dropped: Some(dropped), ..*after });
                    index += 2;
                }
                _ => {
                    kept.push(knot);
                    index += 1;
                }
            }
        }
        self.knots = kept;
    }

    /// The clock's offset at an instant of the reference (UTC, nanoseconds since 1970); `None`
    /// when there is no reading at all.
    pub fn at(&self, at_ns: i64) -> Option<ClockEstimate> {
        self.span(self.knots.partition_point(|knot| knot.at_ns <= at_ns)).at(at_ns)
    }

    /// The span that ends with the reading of this number; behind the last there is one more.
    fn span(&self, index: usize) -> ClockSpan<'_> {
        let before = index.checked_sub(1).and_then(|index| self.knots.get(index));
        let from_ns = before.map_or(i64::MIN, |knot| knot.at_ns);
        ClockSpan { from_ns, before, after: self.knots.get(index) }
    }

    /// All of time in spans, by time: one more than there are readings, and none without any.
    pub fn spans(&self) -> impl Iterator<Item = ClockSpan<'_>> {
        let count = if self.knots.is_empty() { 0 } else { self.knots.len() + 1 };
        (0..count).map(|index| self.span(index))
    }

    /// Offset of the clock at an instant given by the clock itself.
    pub fn at_own(&self, stamp_ns: i64) -> Option<ClockEstimate> {
        let roughly = self.at(stamp_ns)?;
        let estimate = self.at(stamp_ns.saturating_sub(roughly.offset_ns))?;
        // The instant itself is known as well as the offset; meanwhile the clock drifts.
        let unsure = u64::try_from(drift(roughly.error_ns)).unwrap_or(u64::MAX);
        Some(ClockEstimate { error_ns: estimate.error_ns.saturating_add(unsure), ..estimate })
    }

    /// The readings that are kept, by time.
    pub fn knots(&self) -> &[ClockKnot] {
        &self.knots
    }
}

impl ClockSpan<'_> {
    /// The clock's offset at an instant of the span: in the intersection of what the readings say
    /// and, where readings between them were dropped, of the line between them
    /// ± [`Self::line_within_ns`]. Of disjoint bounds it is between the lowest and the highest.
    fn at(&self, at_ns: i64) -> Option<ClockEstimate> {
        let bounds = match (self.before, self.after) {
            (None, None) => return None,
            (Some(knot), None) | (None, Some(knot)) => knot.bounds_at(at_ns),
            (Some(before), Some(after)) => {
                let ends = before.bounds_at(at_ns).both(after.bounds_at(at_ns));
                let line = |within| Bounds::around(on_line(before, after, at_ns), within);
                self.line_within_ns().map_or(ends, |within| ends.both(line(within)))
            }
        };
        Some(bounds.estimate())
    }

    /// How far the offset may be from the line between both readings, in nanoseconds; `None` where no
    /// readings between them were dropped. The nearest one that was is at most half a gap away, over
    /// which both the clock's drift and the line's slope count.
    pub fn line_within_ns(&self) -> Option<i128> {
        let (before, after) = (self.before?, self.after?);
        let dropped = after.dropped?;
        let error = dropped.error_ns.max(before.estimate.error_ns).max(after.estimate.error_ns);
        let half_gap = dropped.gap_ns / 2 + 1;
        let rise = after.estimate.offset_ns.abs_diff(before.estimate.offset_ns);
        let span = u128::from(after.at_ns.abs_diff(before.at_ns)).max(1);
        let slope = u128::from(rise) * u128::from(half_gap) / span + 1;
        let slope = i128::try_from(slope).unwrap_or(i128::MAX / 4);
        Some(i128::from(error) + drift(half_gap) + slope + 1)
    }
}

impl ClockKnot {
    /// Bounds that this reading puts on the offset at another instant.
    fn bounds_at(&self, at_ns: i64) -> Bounds {
        let away = drift(self.at_ns.abs_diff(at_ns));
        Bounds::around(self.estimate.offset_ns.into(), i128::from(self.estimate.error_ns) + away)
    }
}

/// Largest drift of a clock in `span_ns`, in nanoseconds, rounded up.
fn drift(span_ns: u64) -> i128 {
    (i128::from(span_ns) * i128::from(DRIFT_MAX_PPB)) / 1_000_000_000 + 1
}

/// The offset on the line between two knots, at an instant between them.
fn on_line(before: &ClockKnot, after: &ClockKnot, at_ns: i64) -> i128 {
    let (from, to) = (i128::from(before.estimate.offset_ns), i128::from(after.estimate.offset_ns));
    let span = i128::from(after.at_ns.abs_diff(before.at_ns)).max(1);
    // A product of two differences of 64-bit numbers may exceed 128 bits by their signs only.
    from + (to - from).saturating_mul(i128::from(at_ns.abs_diff(before.at_ns))) / span
}

/// The error bound for `knot`, and for readings dropped around it, when the line between its
/// neighbours replaces it.
fn drop_between(before: &ClockKnot, knot: &ClockKnot, after: &ClockKnot) -> Dropped {
    let line = on_line(before, after, knot.at_ns);
    // The old lines and the new one differ most at the knot that goes. 1 for the rounding of each.
    let moved = line.abs_diff(knot.estimate.offset_ns.into()) + 2;
    let sides = [(before, knot), (knot, after)];
    let error = sides.iter().filter_map(|(_, end)| end.dropped).map(|dropped| dropped.error_ns);
    let error = error.max().unwrap_or(0).max(knot.estimate.error_ns);
    let gap = |(from, end): &(&ClockKnot, &ClockKnot)| {
        end.dropped.map_or(end.at_ns.abs_diff(from.at_ns), |dropped| dropped.gap_ns)
    };
    Dropped {
        error_ns: u64::try_from(moved.saturating_add(error.into())).unwrap_or(u64::MAX),
        gap_ns: sides.iter().map(gap).max().unwrap_or(0),
    }
}

impl Bounds {
    fn around(offset: i128, error: i128) -> Self {
        Self { low: offset.saturating_sub(error), high: offset.saturating_add(error) }
    }

    /// The intersection of both bounds. Where they are disjoint (the clock was set in between), the
    /// smallest interval that contains both.
    fn both(self, other: Self) -> Self {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        if low <= high {
            return Self { low, high };
        }
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn estimate(self) -> ClockEstimate {
        let middle = self.low.midpoint(self.high);
        let offset = middle.clamp(i64::MIN.into(), i64::MAX.into());
        let error = self.high.saturating_sub(offset).max(offset.saturating_sub(self.low));
        ClockEstimate {
            offset_ns: i64::try_from(offset).unwrap_or(0),
            error_ns: u64::try_from(error).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: i64 = 1_000_000_000;

    fn read(offset_ns: i64, error_ns: u64) -> ClockEstimate {
        ClockEstimate { offset_ns, error_ns }
    }

    #[test]
    fn bounds_by_hand() {
        let mut track = ClockTrack::default();
        assert_eq!(track.at(0), None);
        track.insert(10 * S, read(1_000_000, 200_000));
        // 50 ppm of 2 s are 100 µs, and 1 ns for rounding.
        assert_eq!(track.at(8 * S), Some(read(1_000_000, 300_001)));
        track.insert(14 * S, read(1_100_000, 200_000));
        // At 12 s: 1.0 ± 0.3 ms and 1.1 ± 0.3 ms agree on 0.8 to 1.3 ms.
        assert_eq!(track.at(12 * S), Some(read(1_050_000, 250_001)));
        // At a reading the bound grows only by rounding.
        assert_eq!(track.at(10 * S), Some(read(1_000_000, 200_001)));
    }

    #[test]
    fn a_clock_that_was_set_may_be_anything_between_the_readings() {
        let mut track = ClockTrack::default();
        track.insert(0, read(0, 10));
        track.insert(S, read(3 * S, 10));
        let between = track.at(S / 2).unwrap();
        let reach = |estimate: ClockEstimate, true_ns: i64| {
            estimate.offset_ns.abs_diff(true_ns) <= estimate.error_ns
        };
        assert!(reach(between, 0) && reach(between, 3 * S), "{between:?}");
    }

    #[test]
    fn the_surer_of_two_readings_of_an_instant_stays() {
        let mut track = ClockTrack::default();
        assert!(track.insert(5, read(1, 10)));
        assert!(!track.insert(5, read(2, 10)));
        assert!(track.insert(5, read(3, 9)));
        assert_eq!(track.knots().len(), 1);
        assert_eq!(track.knots()[0].estimate, read(3, 9));
    }

    /// A clock that drifts within the bound, by pieces.
    fn true_offset(pieces: &[(i64, i64)], at_ns: i64) -> i64 {
        let (mut offset, mut from) = (5_000_000, 0);
        for (until, ppb) in pieces {
            let span = at_ns.min(*until) - from;
            if span <= 0 {
                break;
            }
            offset += i64::try_from(i128::from(span) * i128::from(*ppb) / 1_000_000_000).unwrap();
            from = *until;
        }
        offset
    }

    proptest! {
        /// The promise of the docs: whatever the clock does within its drift, and whatever the
        /// errors of the readings, the truth is within the bound: between readings, beyond them,
        /// and after thinning.
        #[test]
        fn the_truth_is_within_the_bound(
            rates in prop::collection::vec(-49_000i64..49_000, 40),
            steps in prop::collection::vec((1i64..20_000, 0u64..3_000_000, -100i64..=100), 1..1500),
            asked in prop::collection::vec(0i64..12_000_000, 60),
        ) {
            let pieces: Vec<(i64, i64)> =
                (1..).zip(&rates).map(|(n, rate)| (n * 300 * S, *rate)).collect();
            let mut track = ClockTrack::default();
            let mut at_ns = 0;
            for (after_ms, error_ns, share) in steps {
                at_ns = (at_ns + after_ms * 1_000_000).min(12_000 * S);
                let off = i64::try_from(error_ns).unwrap() * share / 100;
                track.insert(at_ns, read(true_offset(&pieces, at_ns) + off, error_ns));
            }
            prop_assert!(track.knots().len() <= KNOTS_MAX);
            for at_ms in asked {
                let at_ns = at_ms * 1_000_000;
                let true_ns = true_offset(&pieces, at_ns);
                let said = track.at(at_ns).unwrap();
                prop_assert!(said.offset_ns.abs_diff(true_ns) <= said.error_ns + 40,
                    "at {at_ms} ms {true_ns}, {said:?}");
                // The same for an instant given by the clock itself.
                let own = track.at_own(at_ns + true_ns).unwrap();
                prop_assert!(own.offset_ns.abs_diff(true_ns) <= own.error_ns + 40 + 100);
            }
        }

        /// Thinning may not make the recent past unsure: near a reading the error is its own.
        #[test]
        fn recent_readings_stay_sharp(count in 600usize..5000) {
            let mut track = ClockTrack::default();
            let last = i64::try_from(count).unwrap() * 10 * S;
            for n in 0..=count {
                track.insert(i64::try_from(n).unwrap() * 10 * S, read(700, 1000));
            }
            let recent = track.at(last - 55 * S).unwrap();
            prop_assert!(recent.error_ns <= 1000 + 250_002, "{recent:?}");
            let old = track.at(last / 3 + 3 * S).unwrap();
            prop_assert!(old.error_ns <= 1000 + 600_000, "{old:?}");
        }

        #[test]
        fn strange_numbers_are_survived(
            readings in prop::collection::vec((any::<i64>(), any::<i64>(), any::<u64>()), 0..1200),
            at in any::<i64>(),
        ) {
            let mut track = ClockTrack::default();
            for (at_ns, offset_ns, error_ns) in readings {
                track.insert(at_ns, read(offset_ns, error_ns));
            }
            let _ = (track.at(at), track.at_own(at));
            prop_assert_eq!(ClockTrack::from_knots(track.knots().to_vec()), track);
        }
    }
}
