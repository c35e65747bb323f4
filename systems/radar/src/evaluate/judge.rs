//! Assignment of tracks to true aircraft.

use crate::tracker::linear::Vec2;
use std::collections::BTreeMap;

/// A track within this of an aircraft may follow it, m.
const NEAR_M: f64 = 2_000.0;
/// Distance below which aircraft cannot be told apart by their tracks' positions, m.
const AMBIGUOUS_M: f64 = 1_000.0;
/// Without a track for longer than this, s, is a long gap.
const LONG_GAP_S: f64 = 24.0;
/// An aircraft that has another's number for longer, s, while its own is still there, has changed it: the
/// errors of two tracks that are near each other put each at the other's aircraft for a turn or two.
const EXCHANGED_S: f64 = 24.0;
/// A number that was not there for longer, s, is another track's; tracks coast for less.
const GONE_S: f64 = 60.0;

/// An aircraft at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct There {
    /// Identifier of the aircraft, the same at every instant.
    pub name: u32,
    /// True position, m.
    pub position: Vec2,
}

/// A track at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Track number (I062/040).
    pub number: u16,
    /// Reported position of its aircraft, m.
    pub position: Vec2,
}

#[derive(Clone, Copy, Debug)]
struct Life {
    appeared_s: f64,
    followed_s: Option<f64>,
    /// Time since which it has no track.
    lost_since_s: f64,
    lost: bool,
    number: Option<u16>,
    /// Another number that it has at present, and since when.
    other: Option<(u16, f64)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct TrackLife {
    samples: u64,
    astray: u64,
    /// It was there after the warm-up. Before it, its life goes on too: one that ends soon after is
    /// judged by all of it.
    counts: bool,
    /// Time when it was last present.
    seen_s: f64,
    owner: Option<u32>,
}

/// Counts over all samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counted {
    /// Aircraft, each at each instant.
    pub samples: u64,
    /// Aircraft samples with a track.
    pub matched: u64,
    /// Aircraft samples without a track for more than 24 s already.
    pub long_gaps: u64,
    /// Further tracks on an aircraft that has one, each at each instant.
    pub duplicates: u64,
    /// Tracks, each at each instant.
    pub tracks: u64,
    /// Track samples with no aircraft within 2 km.
    pub astray: u64,
    /// Tracks (from their first to their last instant) that were astray for most of it.
    pub false_tracks: u64,
    /// Number of times that an aircraft lost its track for more than 24 s.
    pub lost_tracks: u64,
    /// Number of times that an aircraft's track became one that had followed another aircraft, for more
    /// than 24 s or since the end of its own.
    pub swaps: u64,
    /// Number of times that an aircraft's track became a new one.
    pub renumbered: u64,
    /// Aircraft that got a track.
    pub followed: u64,
    /// Sum over these of the time from their appearance to their track, s.
    pub initiation_s_sum: f64,
    /// The longest of these times, s.
    pub initiation_s_max: f64,
}

/// Decides, instant by instant, which track follows which aircraft.
#[derive(Debug, Default)]
pub struct Judge {
    counted: Counted,
    aircraft: BTreeMap<u32, Life>,
    tracks: BTreeMap<u16, TrackLife>,
    /// Samples before this are warm-up and not counted.
    begin_s: f64,
}

impl Judge {
    /// A judge that counts nothing before `begin_s`: tracks have to form first. Only how long
    /// they take for it is counted from the beginning.
    #[must_use]
    pub fn new(begin_s: f64) -> Self {
        Self { begin_s, ..Self::default() }
    }

    /// Takes in an instant, later than the one before. Gives for each of `aircraft` which of
    /// `tracks` follows it.
    pub fn sample(
        &mut self,
        now_s: f64,
        aircraft: &[There],
        tracks: &[Seen],
    ) -> Vec<Option<usize>> {
        let counts = now_s >= self.begin_s;
        let found = owners(aircraft, tracks, &self.aircraft);
        let alone = alone(aircraft);
        let mut owned = vec![false; tracks.len()];
        for ((there, track), alone) in aircraft.iter().zip(&found).zip(alone) {
            if let Some(track) = track {
                owned[*track] = true;
            }
            let number = track.map(|t| tracks[t].number);
            let alone = alone && !self.may_return(now_s, there.name, number, tracks);
            self.follow(now_s, counts, there.name, number, alone);
        }
        for (seen, owned) in tracks.iter().zip(&owned) {
            let astray = !owned && !aircraft.iter().any(|there| is_near(there, seen));
            let life = self.tracks.entry(seen.number).or_default();
            if now_s - life.seen_s > GONE_S {
                // The number is that of another track now.
                self.counted.false_tracks += u64::from(life.is_false());
                *life = TrackLife { owner: life.owner.filter(|_| *owned), ..TrackLife::default() };
            }
            life.seen_s = now_s;
            life.samples += 1;
            life.astray += u64::from(astray);
            life.counts |= counts;
            if counts {
                self.counted.tracks += 1;
                self.counted.astray += u64::from(astray);
                self.counted.duplicates += u64::from(!owned && !astray);
            }
        }
        found
    }

    /// Whether an aircraft has had another number for a short time only, and its own is still there.
    fn may_return(&mut self, now_s: f64, name: u32, number: Option<u16>, all: &[Seen]) -> bool {
        let Some((life, number)) = self.aircraft.get_mut(&name).zip(number) else { return false };
        let Some(own) = life.number.filter(|own| *own != number) else {
            life.other = None;
            return false;
        };
        let since_s = match life.other {
            Some((other, since_s)) if other == number => since_s,
            _ => now_s,
        };
        life.other = Some((number, since_s));
        now_s - since_s <= EXCHANGED_S && all.iter().any(|seen| seen.number == own)
    }

    fn follow(&mut self, now_s: f64, counts: bool, name: u32, number: Option<u16>, alone: bool) {
        let life = self.aircraft.entry(name).or_insert(Life {
            appeared_s: now_s,
            followed_s: None,
            lost_since_s: now_s,
            lost: false,
            number: None,
            other: None,
        });
        let counted = &mut self.counted;
        counted.samples += u64::from(counts);
        let Some(number) = number else {
            let long = now_s - life.lost_since_s > LONG_GAP_S;
            if counts {
                counted.long_gaps += u64::from(long);
                counted.lost_tracks += u64::from(long && !life.lost && life.followed_s.is_some());
            }
            life.lost |= long;
            return;
        };
        counted.matched += u64::from(counts);
        life.lost_since_s = now_s;
        life.lost = false;
        if life.followed_s.is_none() {
            life.followed_s = Some(now_s);
            let after_s = now_s - life.appeared_s;
            counted.followed += 1;
            counted.initiation_s_sum += after_s;
            counted.initiation_s_max = counted.initiation_s_max.max(after_s);
        }
        if !alone {
            // The assignment is decided when they have parted.
            return;
        }
        let track = self.tracks.entry(number).or_default();
        if life.number.is_some_and(|before| before != number) && counts {
            match track.owner {
                Some(other) if other != name => counted.swaps += 1,
                _ => counted.renumbered += 1,
            }
        }
        life.number = Some(number);
        track.owner = Some(name);
    }

    /// Counts so far.
    #[must_use]
    pub fn counted(&self) -> Counted {
        let living = self.tracks.values().filter(|life| life.is_false()).count() as u64;
        Counted { false_tracks: self.counted.false_tracks + living, ..self.counted }
    }

    /// Aircraft ever seen.
    #[must_use]
    pub fn aircraft_count(&self) -> usize {
        self.aircraft.len()
    }
}

impl TrackLife {
    fn is_false(&self) -> bool {
        self.counts && 2 * self.astray > self.samples
    }
}

fn is_near(there: &There, seen: &Seen) -> bool {
    (there.position - seen.position).norm_squared() < NEAR_M * NEAR_M
}

/// For each aircraft whether no other is so near that their tracks may be taken for each other's.
fn alone(aircraft: &[There]) -> Vec<bool> {
    let mut by_x: Vec<usize> = (0..aircraft.len()).collect();
    by_x.sort_by(|a, b| aircraft[*a].position.x.total_cmp(&aircraft[*b].position.x));
    let mut alone = vec![true; aircraft.len()];
    for (at, &one) in by_x.iter().enumerate() {
        for &other in &by_x[at + 1..] {
            let apart = aircraft[other].position - aircraft[one].position;
            if apart.x >= AMBIGUOUS_M {
                break;
            }
            if apart.norm() < AMBIGUOUS_M {
                (alone[one], alone[other]) = (false, false);
            }
        }
    }
    alone
}

/// The track of each aircraft: of all near pairs, the nearest first. An aircraft's previous track
/// counts as nearer by a third: noise alone must not part them.
fn owners(aircraft: &[There], tracks: &[Seen], lives: &BTreeMap<u32, Life>) -> Vec<Option<usize>> {
    let mut by_x: Vec<usize> = (0..tracks.len()).collect();
    by_x.sort_by(|a, b| tracks[*a].position.x.total_cmp(&tracks[*b].position.x));
    let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
    for (index, there) in aircraft.iter().enumerate() {
        let number = lives.get(&there.name).and_then(|life| life.number);
        let x = there.position.x;
        let first = by_x.partition_point(|&t| tracks[t].position.x < x - NEAR_M);
        let close = by_x[first..].iter().take_while(|&&t| tracks[t].position.x <= x + NEAR_M);
        pairs.extend(close.filter(|&&t| is_near(there, &tracks[t])).map(|&track| {
            let distance = (there.position - tracks[track].position).norm();
            let same = number == Some(tracks[track].number);
            (if same { distance / 1.5 } else { distance }, index, track)
        }));
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let (mut found, mut taken) = (vec![None; aircraft.len()], vec![false; tracks.len()]);
    for (_, index, track) in pairs {
        if found[index].is_none() && !taken[track] {
            found[index] = Some(track);
            taken[track] = true;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(name: u32, x: f64) -> There {
        There { name, position: Vec2::new(x, 0.0) }
    }

    fn track(number: u16, x: f64) -> Seen {
        Seen { number, position: Vec2::new(x, 0.0) }
    }

    #[test]
    fn tracks_that_change_places_are_two_swaps() {
        let mut judge = Judge::new(0.0);
        let (a, b) = (at(1, 0.0), at(2, 50_000.0));
        assert_eq!(
            judge.sample(0.0, &[a, b], &[track(7, 90.0), track(8, 50_050.0)]),
            [Some(0), Some(1)]
        );
        for second in 1..30 {
            judge.sample(f64::from(second), &[a, b], &[track(8, 90.0), track(7, 50_050.0)]);
        }
        let counted = judge.counted();
        assert_eq!((counted.swaps, counted.renumbered, counted.matched), (2, 0, 60));
    }

    /// Two aircraft 1.5 km apart: for 16 s, two turns, the error of each track is towards the other.
    #[test]
    fn tracks_that_are_back_after_two_turns_were_not_exchanged() {
        let mut judge = Judge::new(0.0);
        let (a, b) = (at(1, 0.0), at(2, 1_500.0));
        for second in 0..60 {
            let (of_a, of_b) =
                if (20..36).contains(&second) { (1_400.0, 100.0) } else { (0.0, 1_500.0) };
            judge.sample(f64::from(second), &[a, b], &[track(7, of_a), track(8, of_b)]);
        }
        assert_eq!((judge.counted().swaps, judge.counted().matched), (0, 120));
    }

    #[test]
    fn aircraft_side_by_side_are_not_judged_until_they_part() {
        let mut judge = Judge::new(0.0);
        judge.sample(0.0, &[at(1, 0.0), at(2, 5_000.0)], &[track(7, 0.0), track(8, 5_000.0)]);
        // They meet, and noise puts each track on the other's place.
        judge.sample(
            1.0,
            &[at(1, 2_400.0), at(2, 2_600.0)],
            &[track(8, 2_400.0), track(7, 2_600.0)],
        );
        judge.sample(2.0, &[at(1, 5_000.0), at(2, 0.0)], &[track(7, 5_000.0), track(8, 0.0)]);
        assert_eq!(judge.counted().swaps, 0);
    }

    /// Its aircraft goes ten seconds after the warm-up, and it coasts for fifteen more.
    #[test]
    fn a_track_is_judged_by_its_whole_life() {
        let mut judge = Judge::new(60.0);
        for second in 0..85 {
            let aircraft: &[There] = if second < 70 { &[at(1, 0.0)] } else { &[] };
            // Another follows nobody, in the warm-up alone.
            let both = [track(7, 50.0), track(8, 90_000.0)];
            judge.sample(f64::from(second), aircraft, &both[..if second < 50 { 2 } else { 1 }]);
        }
        let counted = judge.counted();
        assert_eq!((counted.astray, counted.false_tracks), (15, 0));
    }

    #[test]
    fn what_is_missing_doubled_false_and_new_is_counted() {
        let mut judge = Judge::new(2.0);
        for second in 0..60 {
            let mut tracks = vec![track(9, 300_000.0)];
            if (5..20).contains(&second) {
                tracks.push(track(1, 10.0));
            }
            if (10..20).contains(&second) {
                tracks.push(track(2, 500.0));
            }
            if second >= 50 {
                tracks.push(track(3, -10.0));
            }
            judge.sample(f64::from(second), &[at(1, 0.0)], &tracks);
        }
        let counted = judge.counted();
        assert_eq!((counted.samples, counted.matched), (58, 25));
        // Without a track since second 19, so too long in 44 to 49.
        assert_eq!((counted.long_gaps, counted.lost_tracks), (6, 1));
        assert_eq!((counted.duplicates, counted.renumbered), (10, 1));
        // 58 of the one that follows nobody, 15, 10 and 10.
        assert_eq!((counted.tracks, counted.astray, counted.false_tracks), (93, 58, 1));
        assert_eq!((counted.followed, counted.initiation_s_max), (1, 5.0));
    }
}
