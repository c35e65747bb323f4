//! Association of plots with tracks.
//!
//! Most plots carry the address of a track: they are decided at once. The others are compared with
//! the tracks around them; where several plots of one block compete for a track, all plots and
//! tracks connected in this way are assigned together at the least total cost.

use super::assignment::{FORBIDDEN, assign};
use super::costs::{answer_cost, identity_cost, level_cost, new_cost};
use super::identity::Match;
use super::measurement::Measurement;
use super::settings::Settings;
use super::table::{REACH_M, Slot, TrackTable};

/// A track that a plot may belong to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) slot: Slot,
    /// -2 ln likelihood (1/m²), identity and level included.
    pub(super) cost: f64,
    /// Whether only position and level tell that they belong together.
    pub(super) unnamed: bool,
    /// The address matches.
    pub(super) certain: bool,
    /// The same radar has updated the track in this turn already.
    pub(super) repeated: bool,
}

/// Decision about a plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Take(Slot),
    Repeat,
    Initiate,
    /// A new track, beside one that the radar has updated in this turn already.
    InitiateBeside,
}

/// Decisions about one block of plots, and the candidates that they were taken from. The memory is
/// kept from block to block.
#[derive(Debug, Default)]
pub(super) struct Association {
    decided: Vec<Option<Decision>>,
    knotted: Vec<usize>,
    candidates: Vec<Option<Vec<Candidate>>>,
}

/// A plot more expensive than this for every track begins a new one. Costs are up to 36 (the
/// gate) plus ln of the innovation's determinant, which is below 2 ln 1e9 for any real radar.
const MISS_COST: f64 = 100.0;
/// Plots solved together; a knot that is larger is cut, which costs at worst a wrong neighbour.
const KNOT_MAX: usize = 24;

impl Association {
    /// Forgets the previous block. `plots` is the number of plots in the one to come.
    pub(super) fn begin_block(&mut self, plots: usize) {
        self.decided.clear();
        self.decided.resize(plots, None);
        self.knotted.clear();
        self.candidates.clear();
        self.candidates.resize(plots, None);
    }

    pub(super) fn decide(
        &mut self,
        table: &TrackTable,
        settings: &Settings,
        block: &[Measurement],
        index: usize,
    ) -> Decision {
        if let Some(decision) = self.decided[index] {
            return decision;
        }
        if let Some(decision) = decide_by_address(table, settings, &block[index]) {
            return decision;
        }
        let knot = self.knot(table, settings, block, index);
        if let [_] = knot[..] {
            return self.decide_alone(index);
        }
        self.decide_together(&knot);
        self.knotted.extend(&knot);
        self.decided[index].unwrap_or(Decision::Initiate)
    }

    /// Likelihoods that tell how sure it is that plot `index`, which [`Association::decide`] gave to
    /// `slot`, is of that track: of the two belonging together, and of all other pairs with one of
    /// them, 1/m². `None` where a name or a code decides.
    ///
    /// Their ratio is the joint probability as Fitzgerald approximates it (*Development of Practical
    /// PDA Logic for Multitarget Tracking by Microprocessor*, 1986).
    pub(super) fn rivals(&self, index: usize, slot: Slot) -> Option<(f64, f64)> {
        let likelihood = |c: &Candidate| (-0.5 * c.cost).exp();
        let own = self.candidates[index].as_deref()?;
        let taken = own.iter().find(|c| c.slot == slot).filter(|c| c.unnamed)?;
        let usable = |c: &&Candidate| c.slot != slot && !c.repeated;
        let tracks: f64 = own.iter().filter(usable).map(likelihood).sum();
        let others = self.knotted.iter().filter(|&&other| other != index);
        let of_track = |plot: &usize| {
            let rivals = self.candidates[*plot].as_deref().unwrap_or_default();
            rivals.iter().find(|c| c.slot == slot).map_or(0.0, likelihood)
        };
        let plots: f64 = others.map(of_track).sum();
        Some((likelihood(taken), tracks + plots))
    }

    fn candidates(
        &mut self,
        table: &TrackTable,
        settings: &Settings,
        block: &[Measurement],
        index: usize,
    ) {
        if self.candidates[index].is_some() {
            return;
        }
        let m = &block[index];
        let mut found = Vec::new();
        table.grid.near(m.position, REACH_M, |slot| found.extend(fit(table, settings, slot, m)));
        self.candidates[index] = Some(found);
    }

    /// The plots of the block, `index` first, that compete for tracks with each other.
    fn knot(
        &mut self,
        table: &TrackTable,
        settings: &Settings,
        block: &[Measurement],
        index: usize,
    ) -> Vec<usize> {
        self.candidates(table, settings, block, index);
        let mut knot = vec![index];
        let mut next = 0;
        while next < knot.len() && knot.len() < KNOT_MAX {
            let member = knot[next];
            next += 1;
            for other in index + 1..block.len() {
                if knot.contains(&other)
                    || self.decided[other].is_some()
                    || knot.len() >= KNOT_MAX
                    || (block[other].position - block[member].position).norm() > REACH_M
                    || decide_by_address(table, settings, &block[other]).is_some()
                {
                    continue;
                }
                self.candidates(table, settings, block, other);
                if self.compete(member, other) {
                    knot.push(other);
                }
            }
        }
        knot
    }

    fn compete(&self, a: usize, b: usize) -> bool {
        let of = |plot: usize| self.candidates[plot].as_deref().unwrap_or_default();
        of(a).iter().any(|x| !x.repeated && of(b).iter().any(|y| !y.repeated && x.slot == y.slot))
    }

    fn decide_alone(&self, index: usize) -> Decision {
        let found = self.candidates[index].as_deref().unwrap_or_default();
        let best = found
            .iter()
            .filter(|c| !c.repeated && c.cost < MISS_COST)
            .min_by(|a, b| a.cost.total_cmp(&b.cost));
        match best {
            Some(candidate) => Decision::Take(candidate.slot),
            None if found.iter().any(|c| c.repeated && c.certain) => Decision::Repeat,
            None if found.iter().any(|c| c.repeated) => Decision::InitiateBeside,
            None => Decision::Initiate,
        }
    }

    fn decide_together(&mut self, knot: &[usize]) {
        let mut columns: Vec<Slot> = Vec::new();
        for &plot in knot {
            for c in self.candidates[plot].iter().flatten() {
                if !c.repeated && !columns.contains(&c.slot) {
                    columns.push(c.slot);
                }
            }
        }
        let costs: Vec<Vec<f64>> = knot
            .iter()
            .map(|&plot| {
                let mut row = vec![FORBIDDEN; columns.len()];
                for c in self.candidates[plot].iter().flatten().filter(|c| !c.repeated) {
                    if let Some(column) = columns.iter().position(|&s| s == c.slot) {
                        row[column] = c.cost;
                    }
                }
                row
            })
            .collect();
        for (&plot, column) in knot.iter().zip(assign(&costs, MISS_COST)) {
            let decision = column.map_or(Decision::Initiate, |c| Decision::Take(columns[c]));
            self.decided[plot] = Some(decision);
        }
    }
}

/// The plain case: a track has this address and the plot is where it can be.
fn decide_by_address(table: &TrackTable, settings: &Settings, m: &Measurement) -> Option<Decision> {
    let slot = *table.by_address.get(&m.identity.address?)?;
    let candidate = fit(table, settings, slot, m)?;
    if candidate.repeated {
        return Some(Decision::Repeat);
    }
    candidate.certain.then_some(Decision::Take(slot))
}

/// Whether `m` may belong to the track in `slot`, and how well it fits.
fn fit(table: &TrackTable, settings: &Settings, slot: Slot, m: &Measurement) -> Option<Candidate> {
    let track = table.track(slot)?;
    let track = track.without_bare(m, table.period_s(m.radar)).map_or(track, |(before, _)| before);
    let identity = track.identity.compare(&m.identity);
    if identity == Match::Different {
        return None;
    }
    let levelled;
    let m = if m.flight_level.is_none() {
        levelled = track.levelled(m, &table.traffic);
        &levelled
    } else {
        m
    };
    let dt = m.time_s - track.time_s;
    // Before any algebra: can it have got here at all?
    let reach = 350.0 * dt.abs() + 3_000.0;
    let offset = m.position - track.estimate().position;
    if offset.norm_squared() > reach * reach {
        return None;
    }
    let expected = track.expected_at(m.time_s, &settings.motion);
    let fit = expected.innovation(m.position, m.covariance)?;
    let gate = match identity {
        Match::Same => settings.gates.same_address,
        Match::Alike => settings.gates.same_code,
        _ => settings.gates.position,
    };
    if fit.distance_squared > gate {
        return None;
    }
    let repeated = track
        .seen_by(m.radar)
        .is_some_and(|t| (m.time_s - t).abs() < 0.5 * table.period_s(m.radar));
    let transponders = &settings.transponders;
    if table.is_bare(track, m) && dt > transponders.bare_turns * table.period_s(m.radar) {
        return None;
    }
    let cost = -2.0 * fit.log_likelihood
        + identity_cost(identity)
        + level_cost(track, m)
        + answer_cost(table, settings, track, m);
    // Whose first code it is, as likely as it is that there is anybody at all, or else a new aircraft's.
    if table.is_first_answer(track, m) {
        let existence = -2.0 * track.existence.probability().ln();
        if cost + existence > new_cost(settings, table.period_s(m.radar)) {
            return None;
        }
    }
    // A code that is not this track's is heard wrong, or changed: or is that of an aircraft that was lost a
    // short time ago, and comes back out of the cone above a radar that both flew into.
    if matches!(identity, Match::Unlike | Match::Open) && table.remembered.knows(&m.identity) {
        return None;
    }
    let (certain, unnamed) = (identity == Match::Same, identity != Match::Alike);
    Some(Candidate { slot, cost, unnamed: unnamed && !certain, certain, repeated })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracker::existence::Existence;
    use crate::tracker::identity::Identity;
    use crate::tracker::linear::{Sym2, Vec2};

    fn plot(x_m: f64, time_s: f64, mode_3a: Option<u16>) -> Measurement {
        Measurement {
            radar: 0,
            time_s,
            position: Vec2::new(x_m, 0.0),
            covariance: Sym2::isotropic(150.0 * 150.0),
            identity: Identity { mode_3a, ..Identity::default() },
            flight_level: None,
            slant: None,
        }
    }

    /// The radar hears transponders. A track of one plot without a code is 2e-6 likely an aircraft's
    /// among 0.3 false plots a turn and km², and 7e-3 among 1e-4.
    #[test]
    fn the_first_code_is_a_new_aircrafts_where_the_track_is_hardly_one() {
        let settings = Settings::default();
        let fits = |clutter_km2: f64, code: Option<u16>| {
            let mut table = TrackTable::new(8.0);
            table.heard(&plot(90_000.0, 0.0, Some(0o1234)));
            let existence = Existence::new(clutter_km2 * 1e-6, 8.0, &settings.initiation);
            let first = plot(0.0, 0.0, None);
            let slot = table.insert(&first, &settings.motion, existence).unwrap();
            fit(&table, &settings, slot, &plot(1_000.0, 8.0, code)).is_some()
        };
        assert!(fits(0.3, None) && fits(1e-4, None));
        assert!(fits(1e-4, Some(0o2345)));
        assert!(!fits(0.3, Some(0o2345)));
    }

    #[test]
    fn the_code_of_an_aircraft_that_was_lost_is_not_taken_for_a_wrong_one_of_another() {
        let settings = Settings::default();
        let fits = |lost_code| {
            let mut table = TrackTable::new(8.0);
            let existence = Existence::new(1e-10, 8.0, &settings.initiation);
            let mut begin = |x_m, code| {
                let first = plot(x_m, 0.0, code);
                table.heard(&first);
                table.insert(&first, &settings.motion, existence).unwrap()
            };
            let (coasts, lost) = (begin(0.0, Some(0o1234)), begin(4_000.0, lost_code));
            let ended = table.track(lost).cloned().unwrap();
            table.remember(&ended);
            table.remove(lost);
            fit(&table, &settings, coasts, &plot(1_000.0, 24.0, Some(0o2345))).is_some()
        };
        assert!(!fits(Some(0o2345)));
        assert!(fits(Some(0o3456)) && fits(None));
    }

    /// An aircraft does not get an address after many plots without, where its radars ask for them.
    #[test]
    fn a_first_address_is_as_rare_as_a_first_code() {
        let settings = Settings::default();
        let addressed = |time_s: f64| {
            let of = plot(1_000.0, time_s, Some(0o1234));
            Measurement { identity: Identity { address: Some(0x3C_6444), ..of.identity }, ..of }
        };
        let cost = |asks: bool| {
            let mut table = TrackTable::new(8.0);
            table.heard(&if asks { addressed(0.0) } else { plot(0.0, 0.0, Some(0o7777)) });
            let existence = Existence::new(1e-10, 8.0, &settings.initiation);
            let first = plot(0.0, 0.0, Some(0o1234));
            let slot = table.insert(&first, &settings.motion, existence).unwrap();
            fit(&table, &settings, slot, &addressed(8.0)).unwrap().cost
        };
        let more = cost(true) - cost(false);
        assert!((more - settings.transponders.bare_cost).abs() < 1e-9, "{more}");
    }

    #[test]
    fn after_a_gap_a_plot_without_a_code_is_anybodys() {
        let settings = Settings::default();
        let mut table = TrackTable::new(8.0);
        let first = plot(0.0, 0.0, Some(0o1234));
        table.heard(&first);
        let existence = Existence::new(1e-10, 8.0, &settings.initiation);
        let slot = table.insert(&first, &settings.motion, existence).unwrap();
        let fits = |after_s: f64, code| {
            fit(&table, &settings, slot, &plot(1_000.0, after_s, code)).is_some()
        };
        assert!(fits(16.0, None));
        assert!(!fits(40.0, None) && fits(40.0, Some(0o1234)));
    }
}
