//! Which one of the collectors before a cluster has a duty that one of them has: the eldest that
//! lives, of those that are candidates for the [`Duty`].
//!
//! Each writes a heartbeat about once a second and reads those of all. It holds a lease for
//! [`LEASE_NS`] from the beginning of a heartbeat after which it saw no elder candidate alive; one
//! whose last heartbeat is [`DEAD_NS`] old does not live. Age is the beginning of uninterrupted
//! heartbeats: who was away for [`LEASE_NS`] begins anew, and leads after [`WARM_NS`] at the
//! earliest.
//!
//! At most one leads at any instant, for each duty. Say that A leads, by a heartbeat that began at `b`, and B would
//! lead by a later reading of a time before A's lease ends. A wrote its first heartbeat before
//! `b - WARM_NS`, earlier than any reading by which B still leads, because `WARM_NS > LEASE_NS`; and
//! each of the following ones began within `LEASE_NS` of the one before, so that at the reading the
//! last visible one was at most `2 × LEASE_NS = DEAD_NS` old. Hence B saw A alive, and likewise A saw
//! B: the elder of them is the same for both. This needs that the first shard's clock is not set
//! forward by seconds meanwhile; it does not need that the collectors' clocks agree.

use chronoscope_clickhouse::CollectorRow;

/// How long a collector leads after a heartbeat began, in nanoseconds.
pub(super) const LEASE_NS: u64 = 5_000_000_000;
/// Age of a heartbeat with which its collector does not live any more, in nanoseconds.
pub(super) const DEAD_NS: i64 = 10_000_000_000;
/// Time from the first heartbeat to the earliest lead, in nanoseconds.
const WARM_NS: u64 = 6_000_000_000;

const _: () = assert!(WARM_NS > LEASE_NS && DEAD_NS as u64 >= 2 * LEASE_NS);

/// What one of the collectors does for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duty {
    /// Notifies of alarms: a collector with rules.
    Notify,
    /// Links the chains of the cluster: any collector that has not ended.
    Link,
}

impl Duty {
    const ALL: [Self; 2] = [Self::Notify, Self::Link];

    /// Whether a collector that lives can have it.
    const fn suits(self, row: &CollectorRow) -> bool {
        match self {
            Self::Notify => row.rules > 0,
            Self::Link => row.beat < LAST_BEAT,
        }
    }
}

/// Number of the heartbeat by which a collector gives up all duties.
pub(super) const LAST_BEAT: u64 = u64::MAX;

/// What one collector knows of its leads. Times are of its monotonic clock, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Lease {
    /// Beginning of the uninterrupted heartbeats by the first shard's clock.
    since_ns: Option<i64>,
    /// When the first of them had been written.
    first_ns: u64,
    /// When the last of them began.
    last_ns: u64,
    /// By duty, in the order of [`Duty::ALL`].
    leads: [Lead; 2],
}

/// What one collector knows of its lead in one duty.
#[derive(Clone, Copy, Debug, Default)]
struct Lead {
    /// From its beginning to its end.
    held_ns: Option<(u64, u64)>,
    /// Whether another one leads, as far as the last reading told.
    has_other: bool,
}

impl Lease {
    /// The age under which a heartbeat that begins now is written; `None` where it begins anew and
    /// the shard's time is needed.
    pub(super) fn age(&self, now_ns: u64) -> Option<i64> {
        let is_continued = now_ns.saturating_sub(self.last_ns) < LEASE_NS;
        self.since_ns.filter(|_| is_continued)
    }

    /// Takes in that a heartbeat, which began at `began_ns`, was written by `written_ns` under the
    /// age `since_ns`, and whom this collector, `id`, saw afterwards.
    pub(super) fn beaten(
        &mut self,
        (began_ns, written_ns): (u64, u64),
        (id, since_ns): (u64, i64),
        seen: &[CollectorRow],
    ) {
        if self.since_ns != Some(since_ns) {
            (self.since_ns, self.first_ns) = (Some(since_ns), written_ns);
            self.leads = Default::default();
        }
        self.last_ns = began_ns;
        let is_warm = began_ns.saturating_sub(self.first_ns) >= WARM_NS;
        for (duty, lead) in Duty::ALL.into_iter().zip(&mut self.leads) {
            let alive = seen.iter().filter(|other| other.age_ns < DEAD_NS);
            let mut others = alive.filter(|other| other.id != id && duty.suits(other));
            lead.has_other = others.any(|other| (other.since_ns, other.id) < (since_ns, id));
            let suits = seen.iter().any(|own| own.id == id && duty.suits(own));
            if lead.has_other || !suits || !is_warm {
                lead.held_ns = None;
                continue;
            }
            let from_ns = match lead.held_ns {
                Some((from_ns, ended_ns)) if ended_ns >= written_ns => from_ns,
                _ => written_ns,
            };
            lead.held_ns = Some((from_ns, began_ns + LEASE_NS));
        }
    }

    const fn lead(&self, duty: Duty) -> &Lead {
        &self.leads[duty as usize]
    }

    /// Since when it leads; `None` where it does not.
    pub(super) fn leads_since(&self, duty: Duty, now_ns: u64) -> Option<u64> {
        let held_ns = self.lead(duty).held_ns.filter(|(_, until_ns)| now_ns < *until_ns);
        held_ns.map(|(from_ns, _)| from_ns)
    }

    /// Whether an elder one lives, as far as is known.
    pub(super) const fn has_other(&self, duty: Duty) -> bool {
        self.lead(duty).has_other
    }

    /// Gives all leads up.
    pub(super) fn end(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Collectors before one table, each with pauses between the steps of its heartbeats.
    struct World {
        table: Vec<CollectorRow>,
        leases: Vec<Lease>,
    }

    impl World {
        fn new(count: usize) -> Self {
            Self { table: Vec::new(), leases: vec![Lease::default(); count] }
        }

        fn leaders(&self, duty: Duty, now_ns: u64) -> usize {
            self.leases.iter().filter(|lease| lease.leads_since(duty, now_ns).is_some()).count()
        }

        fn write(&mut self, id: usize, since_ns: i64, now_ns: u64) {
            let id = id as u64;
            self.table.retain(|row| row.id != id);
            let beat = now_ns; // stands for when it was written
            // Every second one has rules.
            let rules = (id + 1) % 2;
            self.table.push(CollectorRow { id, since_ns, rules, beat, ..Default::default() });
        }

        fn read(&self, now_ns: u64) -> Vec<CollectorRow> {
            let aged = |row: &CollectorRow| {
                let age_ns = (now_ns - row.beat).cast_signed();
                CollectorRow { age_ns, ..row.clone() }
            };
            self.table.iter().map(aged).collect()
        }
    }

    const MS: u64 = 1_000_000;

    /// One step of a heartbeat: what is done at an instant, and the pause before the next step.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Begin,
        Write { began_ns: u64, since_ns: i64 },
        Read { began_ns: u64, written_ns: u64, since_ns: i64 },
    }

    /// Runs heartbeats with these pauses, in milliseconds, and checks after every step; who links,
    /// and when.
    fn run(pauses: &[Vec<u64>]) -> Vec<(u64, usize)> {
        let mut world = World::new(pauses.len());
        let mut next: Vec<(u64, usize, Step)> =
            (0..pauses.len()).map(|_| (0, 0, Step::Begin)).collect();
        let mut leads = Vec::new();
        loop {
            let due = next.iter().enumerate().filter(|(id, (_, at, _))| *at < pauses[*id].len());
            let Some((id, _)) = due.min_by_key(|(_, (ns, _, _))| *ns) else { return leads };
            let (now_ns, at, step) = next[id];
            let step = match step {
                Step::Begin => {
                    let since = world.leases[id].age(now_ns);
                    let since_ns = since.unwrap_or(now_ns.cast_signed());
                    Step::Write { began_ns: now_ns, since_ns }
                }
                Step::Write { began_ns, since_ns } => {
                    world.write(id, since_ns, now_ns);
                    Step::Read { began_ns, written_ns: now_ns, since_ns }
                }
                Step::Read { began_ns, written_ns, since_ns } => {
                    let seen = world.read(now_ns);
                    let own = (id as u64, since_ns);
                    world.leases[id].beaten((began_ns, written_ns), own, &seen);
                    Step::Begin
                }
            };
            next[id] = (now_ns + pauses[id][at] * MS, at + 1, step);
            let links = |lease: &Lease| lease.leads_since(Duty::Link, now_ns).is_some();
            leads.extend(world.leases.iter().position(links).map(|id| (now_ns, id)));
            for duty in Duty::ALL {
                assert!(world.leaders(duty, now_ns) <= 1, "{duty:?}: {:?}", world.leases);
            }
            let notifies = |lease: &Lease| lease.leads_since(Duty::Notify, now_ns).is_some();
            let notifying = world.leases.iter().position(notifies);
            assert!(notifying.is_none_or(|id| id % 2 == 0), "only with rules");
        }
    }

    #[test]
    fn the_elder_leads_and_the_other_takes_over() {
        // A heartbeat is a begin, a write and a read: 1 s together.
        let steady = |beats: usize| vec![[10, 10, 980]; beats].concat();
        let (elder, other) = (steady(20), [vec![1], steady(60)].concat());
        // The second begins a millisecond later, because its first step has a pause of its own.
        let leads = run(&[elder, other]);
        let first = leads.first().unwrap();
        assert_eq!((first.1, first.0 >= WARM_NS), (0, true));
        let taken = leads.iter().find(|(_, id)| *id == 1).unwrap().0;
        let ended_ns = 20_000_000_000;
        assert!(taken >= ended_ns + 9_000_000_000 && taken <= ended_ns + 12_000_000_000, "{taken}");
    }

    /// Rules are asked of who notifies, and a heartbeat that is the last one of who links.
    #[test]
    fn duties_have_their_candidates() {
        let lead = |own: CollectorRow, other: CollectorRow| {
            let mut lease = Lease::default();
            let seen = [CollectorRow { id: 1, ..own }, CollectorRow { id: 2, ..other }];
            for second in 0..9 {
                let at_ns = second * 1_000 * MS;
                lease.beaten((at_ns, at_ns), (1, 5), &seen);
            }
            Duty::ALL.map(|duty| lease.leads_since(duty, 8_001 * MS).is_some())
        };
        let row = |rules, beat| CollectorRow { rules, beat, ..CollectorRow::default() };
        let elder = |row: CollectorRow| CollectorRow { since_ns: 4, ..row };
        assert_eq!(lead(row(1, 1), elder(row(1, 1))), [false, false]);
        assert_eq!(lead(row(1, 1), elder(row(0, 1))), [true, false], "it has no rules");
        assert_eq!(lead(row(1, 1), elder(row(0, LAST_BEAT))), [true, true], "it has ended");
        assert_eq!(lead(row(0, 1), CollectorRow { since_ns: 6, ..row(1, 1) }), [false, true]);
        let dead = CollectorRow { age_ns: DEAD_NS, ..elder(row(1, 1)) };
        assert_eq!(lead(row(1, 1), dead), [true, true]);
    }

    proptest! {
        /// However long each step takes: at most one leads, at every instant that a step is made.
        #[test]
        fn one_leads_at_most(
            pauses in prop::collection::vec(
                prop::collection::vec(
                    prop_oneof![8 => 1u64..1_500, 2 => 1_500u64..9_000, 1 => 9_000u64..30_000],
                    30..150,
                ),
                2..4,
            ),
        ) {
            run(&pauses);
        }
    }
}
