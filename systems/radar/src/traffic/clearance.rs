//! The levels that controllers would have cleared a flight to, from the levels that it flew.
//!
//! A flight is cleared to the level at which it next levels off, some seconds before it leaves the one that
//! it keeps, and to no other until then. Where its levels end while it climbs or descends, it is cleared to
//! the next whole thousand of feet.

/// A level that is kept for this long is one that the flight was cleared to, s.
const KEPT_S: f64 = 30.0;
/// A kept level varies by no more than this, in hundreds of feet: what Mode C rounds, and 200 ft/min.
const KEPT_LEVELS: f64 = 1.0;
/// Time from a clearance to the manoeuvre, s: read back, set on the panel, begun.
const AHEAD_S: f64 = 20.0;
/// Flight levels are assigned in steps of so many hundreds of feet …
const ASSIGNED: f64 = 10.0;
/// … and kept to this.
const DEVIATION: f64 = 2.0;

/// The cleared level at each of `levels`, which are `step_s` apart.
pub(super) fn of(levels: &[f64], step_s: f64) -> Vec<f64> {
    let Some(last) = levels.len().checked_sub(1) else { return Vec::new() };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few points")]
    let [kept, ahead] = [KEPT_S, AHEAD_S].map(|s| (s / step_s).ceil() as usize);
    let mut next = at_the_end(levels);
    let mut cleared = vec![next; levels.len()];
    for from in (0..=last).rev() {
        let row = &levels[from..=(from + kept).min(last)];
        let (low, high) = row
            .iter()
            .fold((f64::MAX, f64::MIN), |(low, high), &level| (low.min(level), high.max(level)));
        // Too short a row, at the end, is no level that is kept.
        if row.len() > kept && high - low <= KEPT_LEVELS {
            next = assigned(levels[from + kept / 2]);
            cleared[from..=from + kept].fill(next);
        }
        cleared[from] = next;
    }
    // Known earlier than it is begun.
    (0..=last).map(|at| cleared[(at + ahead).min(last)]).collect()
}

/// The level to which a flight is cleared that ends like this.
fn at_the_end(levels: &[f64]) -> f64 {
    let (&last, before) = match levels {
        [.., before, last] => (last, *before),
        [only] => (only, *only),
        [] => return 0.0,
    };
    match last - before {
        rate if rate > 0.0 => (last / ASSIGNED).ceil() * ASSIGNED,
        rate if rate < 0.0 => (last / ASSIGNED).floor() * ASSIGNED,
        _ => assigned(last),
    }
}

/// The assigned level that is kept at `level`.
fn assigned(level: f64) -> f64 {
    let nearest = (level / ASSIGNED).round() * ASSIGNED;
    if (nearest - level).abs() <= DEVIATION { nearest } else { level.round() }
}

#[cfg(test)]
mod tests {
    fn of(levels: &[f64]) -> Vec<f64> {
        super::of(levels, 10.0)
    }

    #[test]
    fn the_next_level_is_cleared_shortly_before_the_present_one_is_left() {
        // Level for 100 s, five steps of climb, and level again.
        let mut levels = vec![310.0; 11];
        levels.extend([314.0, 318.0, 322.0, 326.0, 330.25]);
        levels.extend([330.0; 10]);
        let cleared = of(&levels);
        // The climb begins after point 10.
        let changes = cleared.iter().position(|level| *level == 330.0).unwrap();
        assert_eq!(changes, 9);
        assert!(cleared[..changes].iter().all(|level| *level == 310.0), "{cleared:?}");
        assert!(cleared[changes..].iter().all(|level| *level == 330.0), "{cleared:?}");
    }

    #[test]
    fn who_climbs_to_the_end_is_cleared_to_the_next_thousand_of_feet() {
        let climbs: Vec<f64> = (0..12).map(|step| 300.0 + 4.0 * f64::from(step)).collect();
        assert!(of(&climbs).iter().all(|level| *level == 350.0), "{:?}", of(&climbs));
        let descends: Vec<f64> = climbs.iter().rev().map(|level| level - 1.0).collect();
        assert!(of(&descends).iter().all(|level| *level == 290.0), "{:?}", of(&descends));
    }

    #[test]
    fn odd_levels_are_kept_as_they_are_and_no_levels_are_none() {
        assert_eq!(of(&[345.25; 8]), [345.0; 8]);
        assert_eq!(of(&[351.75; 8]), [350.0; 8]);
        assert_eq!(of(&[35.0]), [35.0]);
        assert_eq!(of(&[]), [0.0; 0]);
    }
}
