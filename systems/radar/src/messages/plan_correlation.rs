//! Correlation of flight plans with tracks.
//!
//! A plan is found by address, then by callsign, then by discrete Mode A code, each only where no
//! other field of the track contradicts the plan. A plan belongs to one track at a time; a track
//! with a better basis takes it over.

use crate::traffic::plans::FlightPlan;
use std::collections::HashMap;

/// Basis of a correlation, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Basis {
    /// The 24-bit address.
    Address,
    /// The callsign that the aircraft sends.
    Callsign,
    /// A Mode A code that one plan has and that is not a shared one.
    ModeA,
}

/// Identification of a track.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrackView<'a> {
    /// Track number (I062/040).
    pub number: u16,
    /// 24-bit address of the aircraft.
    pub address: Option<u32>,
    /// Callsign without trailing blanks.
    pub callsign: Option<&'a str>,
    /// Mode 3/A code.
    pub mode_a: Option<u16>,
}

#[derive(Debug)]
struct Holding {
    plan: Option<(usize, Basis)>,
    updated_ns: u64,
}

/// All flight plans and who has them.
#[derive(Debug, Default)]
pub struct PlanCorrelation {
    plans: Vec<FlightPlan>,
    by_address: HashMap<u32, usize>,
    by_callsign: HashMap<String, usize>,
    /// `None` for a code that several plans have.
    by_code: HashMap<u16, Option<usize>>,
    /// Track that has the plan, by plan.
    holder: Vec<Option<u16>>,
    tracks: HashMap<u16, Holding>,
}

/// Codes that many aircraft fly with at a time.
const SHARED_CODES: [u16; 4] = [0, 0o1000, 0o2000, 0o7000];
/// A track not heard of for this long has given its plan back, ns.
const FORGOTTEN_NS: u64 = 120_000_000_000;

impl PlanCorrelation {
    /// A correlation of `plans`. Where two have the same address or callsign the first one counts.
    pub fn new(plans: Vec<FlightPlan>) -> Self {
        let mut correlation = Self { holder: vec![None; plans.len()], ..Self::default() };
        for (index, plan) in plans.iter().enumerate() {
            correlation.by_address.entry(plan.address).or_insert(index);
            correlation.by_callsign.entry(plan.callsign.clone()).or_insert(index);
            correlation
                .by_code
                .entry(plan.mode_a)
                .and_modify(|one| *one = None)
                .or_insert(Some(index));
        }
        correlation.plans = plans;
        correlation
    }

    /// Flight plans in the correlation.
    pub fn plan_count(&self) -> usize {
        self.plans.len()
    }

    /// Tracks that have a plan now.
    pub fn correlated_count(&self) -> usize {
        self.holder.iter().flatten().count()
    }

    /// All plans; an index of one is its place here.
    pub fn plans(&self) -> &[FlightPlan] {
        &self.plans
    }

    /// The plan with an index.
    pub fn plan(&self, index: usize) -> Option<&FlightPlan> {
        self.plans.get(index)
    }

    /// The index of the plan with a callsign.
    pub fn by_callsign(&self, callsign: &str) -> Option<usize> {
        self.by_callsign.get(callsign).copied()
    }

    /// The index of the plan with a 24-bit address.
    pub fn by_address(&self, address: u32) -> Option<usize> {
        self.by_address.get(&address).copied()
    }

    /// The track that has the plan with an index.
    pub fn holder(&self, index: usize) -> Option<u16> {
        self.holder.get(index).copied().flatten()
    }

    /// The index of the plan for a track that was just updated, at monotonic `now_ns`.
    pub fn correlate(&mut self, track: &TrackView<'_>, now_ns: u64) -> Option<usize> {
        let held = self.tracks.get(&track.number).and_then(|h| h.plan);
        // A plan once given stays while nothing contradicts it: labels must not flicker.
        let kept = held.filter(|&(plan, _)| self.is_plausible(plan, track));
        let found = match kept {
            Some(kept) => Some(kept),
            None => {
                self.give_back(track.number);
                self.find(track, now_ns)
            }
        };
        if let Some((plan, _)) = found
            && self.holder[plan] != Some(track.number)
            && let Some(loser) = self.holder[plan].replace(track.number)
            && let Some(holding) = self.tracks.get_mut(&loser)
        {
            holding.plan = None;
        }
        self.tracks.insert(track.number, Holding { plan: found, updated_ns: now_ns });
        found.map(|(plan, _)| plan)
    }

    /// The track has ended: its plan is free again.
    pub fn end(&mut self, number: u16) {
        self.give_back(number);
        self.tracks.remove(&number);
    }

    /// Removes tracks whose end was never reported. To be called from time to time.
    pub fn expire(&mut self, now_ns: u64) {
        let old: Vec<u16> = self
            .tracks
            .iter()
            .filter(|(_, h)| now_ns.saturating_sub(h.updated_ns) > FORGOTTEN_NS)
            .map(|(&number, _)| number)
            .collect();
        for number in old {
            self.end(number);
        }
    }

    fn give_back(&mut self, number: u16) {
        if let Some(holding) = self.tracks.get_mut(&number)
            && let Some((plan, _)) = holding.plan.take()
        {
            self.holder[plan] = None;
        }
    }

    fn find(&self, track: &TrackView<'_>, now_ns: u64) -> Option<(usize, Basis)> {
        let by_address = track.address.and_then(|a| self.by_address.get(&a));
        let by_callsign = track.callsign.and_then(|c| self.by_callsign.get(c));
        let by_code = track
            .mode_a
            .filter(|code| !SHARED_CODES.contains(code))
            .and_then(|code| self.by_code.get(&code)?.as_ref());
        [(by_address, Basis::Address), (by_callsign, Basis::Callsign), (by_code, Basis::ModeA)]
            .into_iter()
            .filter_map(|(plan, basis)| Some((*plan?, basis)))
            .find(|&(plan, basis)| {
                self.is_plausible(plan, track) && self.is_free(plan, basis, now_ns)
            })
    }

    /// Whether no field of the track contradicts the plan. The code alone does not, because it
    /// changes in flight.
    fn is_plausible(&self, plan: usize, track: &TrackView<'_>) -> bool {
        let plan = &self.plans[plan];
        track.address.is_none_or(|a| a == plan.address)
            && track.callsign.is_none_or(|c| c.is_empty() || c == plan.callsign)
    }

    fn is_free(&self, plan: usize, basis: Basis, now_ns: u64) -> bool {
        let Some(holder) = self.holder[plan] else { return true };
        let Some(holding) = self.tracks.get(&holder) else { return true };
        let silent = now_ns.saturating_sub(holding.updated_ns) > FORGOTTEN_NS / 4;
        silent || holding.plan.is_none_or(|(_, held_by)| basis < held_by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(callsign: &str, address: u32, mode_a: u16) -> FlightPlan {
        FlightPlan {
            callsign: callsign.to_owned(),
            address,
            mode_a,
            departure: "EDDF".to_owned(),
            destination: "EDDM".to_owned(),
            aircraft_type: "A320".to_owned(),
            composed: String::new(),
            times_utc_s: None,
        }
    }

    fn correlation() -> PlanCorrelation {
        PlanCorrelation::new(vec![
            plan("DLH1AB", 0x3C_0001, 0o1234),
            plan("DLH2CD", 0x3C_0002, 0o1000),
            plan("DLH3EF", 0x3C_0003, 0o4321),
            plan("DLH4GH", 0x3C_0004, 0o4321),
        ])
    }

    fn callsign(
        correlation: &mut PlanCorrelation,
        track: TrackView<'_>,
        now_ns: u64,
    ) -> Option<String> {
        let plan = correlation.correlate(&track, now_ns)?;
        correlation.plan(plan).map(|plan| plan.callsign.clone())
    }

    #[test]
    fn address_then_callsign_then_a_code_of_its_own() {
        let mut correlation = correlation();
        let by =
            |number, address, callsign, mode_a| TrackView { number, address, callsign, mode_a };
        assert_eq!(
            callsign(&mut correlation, by(1, Some(0x3C_0001), None, Some(0o7000)), 0).as_deref(),
            Some("DLH1AB")
        );
        assert_eq!(
            callsign(&mut correlation, by(2, None, Some("DLH2CD"), None), 0).as_deref(),
            Some("DLH2CD")
        );
        // 4321 is in two plans, 1000 is everybody's.
        assert_eq!(callsign(&mut correlation, by(3, None, None, Some(0o4321)), 0), None);
        assert_eq!(callsign(&mut correlation, by(4, None, None, Some(0o1000)), 0), None);
        assert_eq!(correlation.correlated_count(), 2);
    }

    #[test]
    fn a_contradiction_keeps_the_plan_away_and_takes_it_back() {
        let mut correlation = correlation();
        let wrong =
            TrackView { number: 1, address: Some(0x3C_0099), callsign: None, mode_a: Some(0o1234) };
        assert_eq!(callsign(&mut correlation, wrong, 0), None);
        let right = TrackView { address: None, ..wrong };
        assert_eq!(callsign(&mut correlation, right, 0).as_deref(), Some("DLH1AB"));
        assert_eq!(callsign(&mut correlation, wrong, 1), None);
        assert_eq!(correlation.correlated_count(), 0);
    }

    #[test]
    fn a_better_reason_takes_the_plan_over_and_a_worse_one_does_not() {
        let mut correlation = correlation();
        let by_code = TrackView { number: 1, mode_a: Some(0o1234), ..TrackView::default() };
        let by_address = TrackView { number: 2, address: Some(0x3C_0001), ..TrackView::default() };
        assert!(callsign(&mut correlation, by_code, 0).is_some());
        assert!(callsign(&mut correlation, by_address, 1).is_some());
        assert_eq!(callsign(&mut correlation, by_code, 2), None);
        assert_eq!(correlation.correlated_count(), 1);
        correlation.end(2);
        assert!(callsign(&mut correlation, by_code, 3).is_some());
    }

    #[test]
    fn a_track_that_fell_silent_gives_its_plan_back() {
        let mut correlation = correlation();
        let one = TrackView { number: 1, address: Some(0x3C_0001), ..TrackView::default() };
        assert!(callsign(&mut correlation, one, 0).is_some());
        correlation.expire(FORGOTTEN_NS + 1);
        assert_eq!(correlation.correlated_count(), 0);
    }
}
