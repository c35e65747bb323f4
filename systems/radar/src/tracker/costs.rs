//! What identity, level and answers of a transponder say for a plot being of a track, beside where it
//! is: costs in units of -2 ln likelihood.

use super::assignment::FORBIDDEN;
use super::identity::Match;
use super::measurement::Measurement;
use super::settings::Settings;
use super::table::TrackTable;
use super::track::Track;
use super::transponders::Transponders;

/// Cost of a plot with or without a code, where the track's others are otherwise.
pub(super) fn answer_cost(
    table: &TrackTable,
    settings: &Settings,
    track: &Track,
    m: &Measurement,
) -> f64 {
    let Transponders { bare_cost, named_cost, .. } = settings.transponders;
    if table.is_bare(track, m) {
        bare_cost
    } else if table.is_first_answer(track, m) {
        // Of the first few, each may have been without by chance.
        (f64::from(track.hits) * bare_cost).min(named_cost)
    } else {
        0.0
    }
}

/// Cost of an aircraft that was not there before, in units of -2 ln likelihood (1/m²).
pub(super) fn new_cost(settings: &Settings, period_s: f64) -> f64 {
    -2.0 * settings.initiation.arrivals_m2(period_s).ln()
}

/// Logarithm of the likelihood ratio of an identity and a level that a track's plot has, against
/// those of a false plot.
pub(super) fn evidence(
    table: &TrackTable,
    settings: &Settings,
    track: &Track,
    m: &Measurement,
) -> f64 {
    let answer = -0.5 * answer_cost(table, settings, track, m);
    if table.is_bare(track, m) {
        return answer;
    }
    let identity = match track.identity.compare(&m.identity) {
        Match::Same => 12.0,
        // One code of some thousands, received right in most plots.
        Match::Alike => 7.0,
        Match::Open => 0.0,
        Match::Unlike | Match::Different => -3.0,
    };
    identity + answer - 0.5 * level_cost(track, m)
}

/// Cost of an identity, in units of -2 ln likelihood.
pub(super) fn identity_cost(identity: Match) -> f64 {
    match identity {
        Match::Same => -40.0,
        Match::Alike => -12.0,
        Match::Open => 0.0,
        // A wrong code in 2 of 100 plots, or a change of code.
        Match::Unlike => 8.0,
        Match::Different => FORBIDDEN,
    }
}

/// The most that a level costs, because it may be garbled: -2 ln of the probability, which is taken for 1 in
/// 400.
const GARBLED_COST: f64 = 12.0;
/// A difference in level that costs nothing, hundreds of feet: an aircraft that begins to climb between two
/// plots.
const LEVEL_SLACK: f64 = 3.0;

/// Cost of a difference in level, in units of -2 ln likelihood.
pub(super) fn level_cost(track: &Track, m: &Measurement) -> f64 {
    let Some((vertical, level)) = track.vertical.zip(m.flight_level) else { return 0.0 };
    vertical.distance_squared(level, m.time_s, LEVEL_SLACK).min(GARBLED_COST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracker::existence::Existence;
    use crate::tracker::identity::Identity;
    use crate::tracker::linear::{Sym2, Vec2};
    use crate::tracker::outliers::Outliers;

    fn plot(time_s: f64, level: f64) -> Measurement {
        Measurement {
            radar: 0,
            time_s,
            position: Vec2::new(60_000.0 + 100.0 * time_s, 0.0),
            covariance: Sym2::isotropic(100.0 * 100.0),
            identity: Identity::default(),
            flight_level: Some(level),
            slant: None,
        }
    }

    /// The cost of `level`, `after_s` after the last of ten plots 6 s apart at FL50 and a climb of `fl_s`.
    fn cost(fl_s: f64, after_s: f64, level: f64) -> f64 {
        let settings = Settings::default();
        let mut table = TrackTable::new(6.0);
        let existence = Existence::new(1e-10, 6.0, &settings.initiation);
        let slot = table.insert(&plot(0.0, 50.0), &settings.motion, existence).unwrap();
        let mut track = table.track(slot).cloned().unwrap();
        for turn in 1..10 {
            let time_s = 6.0 * f64::from(turn);
            let m = plot(time_s, (50.0 + fl_s * time_s).round());
            let assumed = (&settings.motion, &Outliers::default());
            track.update(&m, assumed, (1.0, 6.0)).unwrap();
        }
        level_cost(&track, &plot(54.0 + after_s, level))
    }

    #[test]
    fn another_level_is_as_dear_as_it_is_unlikely_for_how_the_aircraft_climbs() {
        // Missed for two turns, and then 19 levels below: garbled, or somebody else's.
        assert_eq!(cost(0.0, 18.0, 31.0), GARBLED_COST);
        assert_eq!(cost(0.0, 6.0, 53.0), 0.0, "it begins to climb");
        // 3,000 ft/min go on.
        assert_eq!(cost(0.5, 6.0, 80.0), 0.0);
        assert!(cost(0.5, 6.0, 70.0) > 0.5 * GARBLED_COST);
        // After a minute without plots it may have climbed.
        assert!(cost(0.0, 60.0, 62.0) < 2.0, "{}", cost(0.0, 60.0, 62.0));
    }
}
