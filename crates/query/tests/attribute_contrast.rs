//! Attribute values by which slow durations differ from others, or one time from another: causes
//! that were put in, none at all, and counts beside plain counting.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // helpers of tests

mod world;

use chronoscope_model::{
    ClassId, ClassName, Flags, NO_PROCESS_CPU, Names, PathId, ProcessId, Record, TransactionId,
};
use chronoscope_query::{
    AttributeContrast, AttributeSelection, DurationCache, Limits, Progress, QueryEnvironment,
    Question, SlowLimit, ask, compared_attributes, selected_attributes, slow_attributes,
};
use chronoscope_statistics::{Quantile, Random, median};
use chronoscope_store::{MINUTE_NS, Snapshot};
use proptest::prelude::*;
use std::collections::BTreeMap;
use world::{Said, World};

const CLASSES: [(&str, &str); 3] = [("front", "request"), ("queue", "take"), ("back", "work")];
const BEGIN_NS: i64 = 100 * MINUTE_NS;

/// A chain of a root, a transaction between and a leaf, each with its attributes.
#[derive(Clone, Debug, Default)]
struct TestChain {
    start_ns: i64,
    duration_ns: u64,
    said: [Vec<(String, String)>; 3],
}

/// The rows of chains, as of our recorder or as spans.
fn world(chains: &[TestChain], foreign: bool) -> World {
    let mut names = Names::default();
    let classes = CLASSES.map(|(application, class)| ClassId::of(application, class));
    for (application, class) in CLASSES {
        names.add_class(ClassName { application: application.into(), class: class.into() });
    }
    for level in 0..3 {
        names.add_path(PathId::of(&classes[..=level]), classes[..=level].to_vec());
    }
    let (mut records, mut said) = (Vec::new(), Vec::new());
    for (number, chain) in (1_u64..).zip(chains) {
        for level in 0..3 {
            let start_ns = chain.start_ns + 10 * level as i64;
            let id = number * 10 + level as u64;
            records.push(Record {
                start_ns,
                elapsed_ns: chain.duration_ns - 10 * level as u64,
                cpu_ns: 0,
                process_cpu_ns: NO_PROCESS_CPU,
                chain_high: 1,
                chain_low: number.wrapping_mul(0x9e37_79b9_7f4a_7c15),
                id: TransactionId(id),
                parent: if level == 0 { TransactionId::NONE } else { TransactionId(id - 1) },
                class: classes[level],
                path: if foreign { PathId::NONE } else { PathId::of(&classes[..=level]) },
                root_start_ns: if foreign { start_ns } else { chain.start_ns },
                root_process: ProcessId::NONE,
                process: ProcessId::NONE,
                context_offset: 0,
                context_len: 0,
                level: if foreign { 0 } else { level as u16 },
                thread: 1,
                status: 0,
                flags: if foreign { Flags::FOREIGN.0 } else { 0 },
                reserved: 0,
            });
            said.push((id, chain.said[level].clone()));
        }
    }
    let mut world = World::of(names, records);
    let of = |properties| Said { properties, ..Said::default() };
    world.said = said.into_iter().map(|(id, properties)| (id, of(properties))).collect();
    world
}

/// A store, and what is kept of it.
struct Asked {
    _dir: tempfile::TempDir,
    snapshot: Snapshot,
    limits: Limits,
    progress: Progress,
    cache: DurationCache,
}

impl Asked {
    fn of(world: &World, shares: &[f64], sealed: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        world.store(dir.path(), shares, sealed);
        let snapshot = Snapshot::open(dir.path()).unwrap();
        let limits = Limits { threads: 2, ..Limits::default() };
        let (progress, cache) = (Progress::default(), DurationCache::default());
        Self { _dir: dir, snapshot, limits, progress, cache }
    }

    fn sealed(chains: &[TestChain]) -> Self {
        Self::of(&world(chains, false), &[1.0], true)
    }

    fn asking(&self) -> QueryEnvironment<'_> {
        QueryEnvironment { limits: &self.limits, progress: &self.progress, cache: &self.cache }
    }

    fn slow(&self, question: &Question, slow: SlowLimit) -> AttributeContrast {
        slow_attributes(&self.snapshot, question, (slow, 4000), &self.asking()).unwrap()
    }

    fn compared(&self, a: &Question, b: &Question) -> AttributeContrast {
        let (a, b) = ((&self.snapshot, a), (&self.snapshot, b));
        compared_attributes(a, b, 4000, &self.asking()).unwrap()
    }
}

fn question() -> Question {
    Question::acpd("front::request", "back::work")
}

fn between(from_ns: i64, until_ns: i64) -> Question {
    Question { start_ns: from_ns..until_ns, ..question() }
}

/// The values that the other set has more often, in the order of the answer.
fn more(contrast: &AttributeContrast) -> Vec<String> {
    contrast.more_often().map(|difference| difference.filter.to_string()).collect()
}

/// Values of the usual attributes: ten tenants, sixteen partitions, a version that one in five
/// runs, eight hosts with a pod each, and an id that each request has for itself.
fn usual(random: &mut Random, number: usize) -> [Vec<(String, String)>; 3] {
    let mut of = |key: &str, count: u64| (key.to_owned(), format!("{key}-{}", random.below(count)));
    let (tenant, partition, host) = (of("tenant", 10), of("partition", 16), of("host.name", 8));
    let version = if of("v", 5).1 == "v-0" { "2" } else { "1" };
    let pod = ("otel.resource.pod".to_owned(), host.1.replace("host.name", "pod"));
    let id = ("request.id".to_owned(), number.to_string());
    [vec![tenant, id], vec![partition], vec![("version".to_owned(), version.to_owned()), host, pod]]
}

fn has(chain: &TestChain, key: &str, value: &str) -> bool {
    chain.said.iter().flatten().any(|(k, v)| k == key && v == value)
}

/// `count` chains over `minutes`, some 2 ms long; `slow` says which take 30 ms longer.
fn chains(
    seed: u64,
    (count, minutes): (usize, i64),
    slow: impl Fn(&TestChain) -> bool,
) -> Vec<TestChain> {
    let mut random = Random(seed);
    let each = |number: usize| {
        let start_ns = BEGIN_NS + minutes * MINUTE_NS * number as i64 / count as i64;
        let said = usual(&mut random, number);
        let mut chain = TestChain { start_ns, duration_ns: 0, said };
        chain.duration_ns = random.log_normal(2e6, 0.4) as u64 + 100;
        if slow(&chain) && random.below(10) > 0 {
            chain.duration_ns += 30_000_000;
        }
        chain
    };
    (0..count).map(each).collect()
}

const LIMIT: SlowLimit = SlowLimit::Above(20_000_000);

#[test]
fn a_single_cause_is_named_and_nothing_beside_it() {
    for (key, value) in [
        ("tenant", "tenant-3"),
        ("partition", "partition-7"),
        ("version", "2"),
        ("host.name", "host.name-5"),
    ] {
        let all = chains(7, (6000, 6), |chain| has(chain, key, value));
        let asked = Asked::sealed(&all);
        let found = asked.slow(&question(), LIMIT);
        assert_eq!(more(&found), [format!("{key}={value}")], "{found:?}");
        let first = &found.differences[0];
        let slow = all.iter().filter(|chain| chain.duration_ns > 20_000_000).count() as u64;
        assert_eq!((found.other.total, found.other.sampled), (slow, slow.min(4000)));
        assert_eq!(found.usual.sampled, found.other.sampled, "as many others");
        assert_eq!((first.other_share, first.other), (1.0, found.other.sampled));
        assert!(first.usual_share < 0.1, "{first:?}");
        assert!(first.p_value < 1e-9 && first.p_corrected < 0.01, "{first:?}");
        // Nine of ten are 30 ms longer.
        assert!((25e6..31e6).contains(&first.mean_shift_ns.unwrap()), "{first:?}");
        assert!((28_000_000..32_000_000).contains(&first.median_shift_ns.unwrap()), "{first:?}");
        let same: Vec<String> = first.same.iter().map(ToString::to_string).collect();
        let pod = if key == "host.name" { vec!["pod=pod-5".to_owned()] } else { Vec::new() };
        assert_eq!(same, pod, "host and pod are one finding");
        let text = format!("{key}={value}");
        assert!(found.sentence.starts_with(&text), "{}", found.sentence);
        assert!(found.sentence.contains(": 100 % of the slow, "), "{}", found.sentence);
        assert!(found.rare >= 2 * slow, "ids are not looked at: {}", found.rare);
    }
}

#[test]
fn two_causes_are_both_named() {
    let both = |chain: &TestChain| {
        has(chain, "tenant", "tenant-3") || has(chain, "partition", "partition-7")
    };
    let asked = Asked::sealed(&chains(8, (6000, 6), both));
    let found = asked.slow(&question(), LIMIT);
    assert_eq!(more(&found), ["tenant=tenant-3", "partition=partition-7"], "{found:?}");
    let shares = [0, 1].map(|at| found.differences[at].other_share);
    assert!(shares[0] + shares[1] > 1.0 && shares[0] + shares[1] < 1.2, "{shares:?}");
}

/// The slowest hundredth is what is slow where no limit is given; a quantile is by nearest rank.
#[test]
fn a_quantile_may_be_the_limit() {
    let all = chains(9, (6000, 6), |chain| has(chain, "tenant", "tenant-3"));
    let asked = Asked::sealed(&all);
    let mut durations: Vec<u64> = all.iter().map(|chain| chain.duration_ns).collect();
    durations.sort_unstable();
    let found = asked.slow(&question(), SlowLimit::default());
    assert_eq!(found.limit_ns, Some(durations[5939]));
    assert_eq!((found.other.total, found.usual.total), (60, 5940));
    assert_eq!(more(&found), ["tenant=tenant-3"]);
    let median = SlowLimit::AboveQuantile(Quantile::P50);
    assert_eq!(asked.slow(&question(), median).limit_ns, Some(durations[2999]));
    let nothing = asked.slow(&question(), SlowLimit::Above(u64::MAX));
    assert_eq!((nothing.other.total, &*nothing.sentence), (0, "nothing is slow"));
    let nobody = asked.slow(&between(0, 1), SlowLimit::default());
    assert_eq!((nobody.limit_ns, &*nobody.sentence), (None, "nothing is slow"));
}

/// What is there only while everything is slow is no cause: the others of that time have it too.
#[test]
fn what_only_came_at_the_same_time_is_not_named() {
    let minute = |chain: &TestChain| (chain.start_ns - BEGIN_NS) / MINUTE_NS;
    let mut all = chains(10, (6000, 6), |_| false);
    let mut random = Random(3);
    for chain in &mut all {
        let shift = ("shift".to_owned(), format!("shift-{}", minute(chain)));
        chain.said[0].push(shift);
        // In the third minute half of them are slow.
        if minute(chain) == 2 && random.below(2) == 0 {
            chain.duration_ns += 30_000_000;
        }
    }
    let asked = Asked::sealed(&all);
    let found = asked.slow(&question(), LIMIT);
    assert!(found.other.total > 300 && found.differences.is_empty(), "{found:?}");
    assert!(found.sentence.starts_with("no attribute differs"), "{}", found.sentence);
    // Two times differ in it, and there it is named.
    let third = between(BEGIN_NS + 2 * MINUTE_NS, BEGIN_NS + 3 * MINUTE_NS);
    let before = between(BEGIN_NS, BEGIN_NS + 2 * MINUTE_NS);
    let found = asked.compared(&before, &third);
    assert_eq!(more(&found), ["shift=shift-2"]);
    assert!(found.sentence.contains(": 100 % of B, 0 % of A"), "{}", found.sentence);
    assert_eq!(found.differences[0].ratio(), None);
}

/// A rectangle of the scattergram beside the rest of its time.
#[test]
fn what_is_selected_is_compared_with_the_rest_of_its_time() {
    let asked = Asked::sealed(&chains(11, (6000, 6), |chain| has(chain, "version", "2")));
    let some = BEGIN_NS + MINUTE_NS..BEGIN_NS + 4 * MINUTE_NS;
    let selected =
        Question { start_ns: some.clone(), duration_ns: 20_000_000..=u64::MAX, ..question() };
    let asking = asked.asking();
    let context = (BEGIN_NS..BEGIN_NS + 6 * MINUTE_NS, 4000);
    let found = selected_attributes(&asked.snapshot, &selected, context, &asking).unwrap();
    assert_eq!(more(&found), ["version=2"]);
    assert_eq!(found.usual.total + found.other.total, 6000);
    let everything = Question { start_ns: some.clone(), ..question() };
    let found = selected_attributes(&asked.snapshot, &everything, (some, 4000), &asking).unwrap();
    assert!(found.sentence.starts_with("there are no other durations"), "{}", found.sentence);
}

/// An attribute whose values are all different, as the text of an error: that it is there at all is
/// the finding.
#[test]
fn an_attribute_that_is_there_at_all_may_be_the_cause() {
    let mut all = chains(12, (4000, 4), |chain| has(chain, "tenant", "tenant-1"));
    for (number, chain) in all.iter_mut().enumerate().filter(|(_, c)| c.duration_ns > 20_000_000) {
        chain.said[1]
            .push(("error.text".to_owned(), format!("{number} {}", "e".repeat(number % 200))));
    }
    let found = Asked::sealed(&all).slow(&question(), LIMIT);
    assert_eq!(more(&found), ["error.text"], "{found:?}");
    let same = &found.differences[0].same;
    assert_eq!(same[0].to_string(), "tenant=tenant-1", "it has nearly the same chains");
}

/// A value that two times have with different shares.
#[test]
fn two_times_are_told_apart_by_what_changed() {
    let mut all = chains(13, (6000, 6), |_| false);
    let middle = BEGIN_NS + 3 * MINUTE_NS;
    let mut random = Random(5);
    for chain in all.iter_mut().filter(|chain| chain.start_ns >= middle) {
        // Of one in four the tenant is another one, and all run a new build.
        if random.below(4) == 0 {
            chain.said[0][0].1 = "tenant-3".to_owned();
        }
        chain.said[2].push(("build".to_owned(), "77".to_owned()));
    }
    let asked = Asked::sealed(&all);
    let (a, b) = (between(BEGIN_NS, middle), between(middle, i64::MAX));
    let found = asked.compared(&a, &b);
    assert_eq!(more(&found), ["build=77", "tenant=tenant-3"], "{found:?}");
    let back = asked.compared(&b, &a);
    let fewer = |contrast: &AttributeContrast| -> BTreeMap<String, u64> {
        let fewer = contrast.differences.iter().filter(|d| d.difference() < 0.0);
        fewer.map(|d| (d.filter.to_string(), d.usual)).collect()
    };
    assert!(fewer(&back).contains_key("build=77") && fewer(&back).contains_key("tenant=tenant-3"));
    assert_eq!((found.usual.total, found.other.total), (3000, 3000));
    assert_eq!(found.usual.sampled, 3000);
}

/// A transaction by itself is its own root and leaf.
#[test]
fn transactions_alone_have_their_own_attributes() {
    let all = chains(14, (4000, 4), |chain| has(chain, "version", "2"));
    for (sealed, foreign) in [(true, false), (false, false), (true, true), (false, true)] {
        let asked = Asked::of(&world(&all, foreign), &[0.6, 0.4], sealed);
        let found = asked.slow(&Question::sync("back::work"), LIMIT);
        assert_eq!(more(&found), ["version=2"], "sealed: {sealed}, foreign: {foreign}");
        let found = asked.slow(&Question::sync("front::request"), LIMIT);
        assert_eq!(more(&found), Vec::<String>::new(), "the root does not know the version");
    }
}

/// The second answer needs no file, and is the same.
#[test]
fn what_was_read_is_kept() {
    let asked = Asked::sealed(&chains(15, (3000, 3), |chain| has(chain, "tenant", "tenant-3")));
    let first = asked.slow(&question(), LIMIT);
    for segment in std::fs::read_dir(asked._dir.path().join("segments")).unwrap() {
        std::fs::remove_file(segment.unwrap().path()).unwrap();
    }
    let second = asked.slow(&question(), LIMIT);
    assert_eq!(first.differences, second.differences);
    assert!(!first.differences.is_empty());
}

/// Attributes and durations that do not know of each other: independent from chain to chain, or
/// with runs of some chains, as the requests of one tenant and a slow second have them.
fn unrelated(seed: u64, count: usize, minutes: i64, correlated: bool) -> Vec<TestChain> {
    let mut random = Random(seed);
    let mut said = usual(&mut random, 0);
    let mut level = 0.0;
    let each = |number: usize| {
        for values in &mut said {
            for (key, value) in values.iter_mut() {
                // A run has five chains on average.
                if !correlated || random.below(5) == 0 {
                    *value = format!("{key}-{}", random.below(8));
                }
            }
        }
        let kept = if correlated { 0.8_f64 } else { 0.0 };
        level = kept * level + (1.0 - kept * kept).sqrt() * random.normal();
        let start_ns = BEGIN_NS + minutes * MINUTE_NS * number as i64 / count as i64;
        let duration_ns = (2e6 * (0.5 * level).exp()) as u64 + 100;
        TestChain { start_ns, duration_ns, said: said.clone() }
    };
    (0..count).map(each).collect()
}

/// Of two hundred comparisons of equal sets each way, how many name anything: slow ones and others,
/// and two halves.
fn named_of_equal_sets(correlated: bool) -> [u32; 2] {
    const STORES: u64 = 10;
    const WINDOWS: i64 = 20;
    const WINDOW_NS: i64 = 2 * MINUTE_NS;
    let mut named = [0, 0];
    for store in 0..STORES {
        let all = unrelated(100 + store, 500 * WINDOWS as usize, 2 * WINDOWS, correlated);
        let asked = Asked::sealed(&all);
        for window in 0..WINDOWS {
            let from_ns = BEGIN_NS + window * WINDOW_NS;
            let (middle_ns, until_ns) = (from_ns + WINDOW_NS / 2, from_ns + WINDOW_NS);
            let limit = SlowLimit::AboveQuantile(Quantile::P90);
            let slow = asked.slow(&between(from_ns, until_ns), limit);
            let (a, b) = (between(from_ns, middle_ns), between(middle_ns, until_ns));
            let compared = asked.compared(&a, &b);
            for (named, (found, least)) in named.iter_mut().zip([(slow, 15), (compared, 40)]) {
                assert!(found.looked_at >= least, "{found:?}");
                *named += u32::from(!found.differences.is_empty());
            }
        }
    }
    println!("of 200 comparisons of equal sets {named:?} name something ({correlated})");
    named
}

#[test]
fn of_equal_sets_few_differ() {
    assert!(named_of_equal_sets(false).into_iter().all(|named| named <= 10));
}

/// Runs of some chains have the same values, and others are slow together.
#[test]
fn of_equal_sets_of_dependent_chains_few_differ() {
    assert!(named_of_equal_sets(true).into_iter().all(|named| named <= 10));
}

/// Chains with a few values, in places of different rank, of which many differ between the halves.
fn scattered(seed: u64, count: usize) -> Vec<TestChain> {
    let mut random = Random(seed);
    let each = |number: usize| {
        let second = 2 * number >= count;
        let mut chain = TestChain {
            start_ns: BEGIN_NS + 4 * MINUTE_NS * number as i64 / count as i64,
            duration_ns: 1_000 + number as u64 * 1_000 + random.below(1_000),
            ..TestChain::default()
        };
        for said in &mut chain.said {
            for prefix in ["otel.scope.attribute.", "", "otel.resource."] {
                for key in ["tenant", "size"] {
                    if random.below(4) == 0 {
                        let values = if second { 4 } else { 2 };
                        let value = random.below(values).to_string();
                        said.push((format!("{prefix}{key}"), value));
                    }
                }
            }
        }
        chain
    };
    (0..count).map(each).collect()
}

/// The attribute of a duration by the definition: of the leaf, else of the root, else of the one
/// between; of a row its own key, else the resource's, else the scope's.
fn plainly(chain: &TestChain, key: &str) -> Option<String> {
    let rows = [2, 0, 1].map(|row| &chain.said[row]);
    let of_row = |said: &&Vec<(String, String)>| {
        ["", "otel.resource.", "otel.scope.attribute."].iter().find_map(|prefix| {
            let name = format!("{prefix}{key}");
            said.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone())
        })
    };
    rows.iter().find_map(of_row)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Counts are those of plain counting, of a filter and of every form in which rows are stored.
    #[test]
    fn counts_are_those_of_plain_counting(
        seed in 1u64..10_000,
        foreign in any::<bool>(),
        how in 0usize..3,
    ) {
        let (shares, sealed): (&[f64], bool) =
            [(&[1.0][..], true), (&[0.5, 0.2, 0.3], false), (&[1.0], false)][how];
        let all = scattered(seed, 800);
        let asked = Asked::of(&world(&all, foreign), shares, sealed);
        let middle_ns = all[400].start_ns;
        let (a, b) = (between(i64::MIN, middle_ns), between(middle_ns, i64::MAX));
        let found = asked.compared(&a, &b);
        prop_assert_eq!((found.usual.sampled, found.other.sampled), (400, 400));
        prop_assert!(more(&found).contains(&"tenant=3".to_owned()), "{:?}", found);
        for difference in &found.differences {
            let filter = difference.filter.to_string();
            let (key, value) = filter.split_once('=').map_or((&*filter, None), |(k, v)| (k, Some(v)));
            let has = |chain: &&TestChain| {
                plainly(chain, key).is_some_and(|found| value.is_none_or(|value| value == found))
            };
            let expected = [&all[..400], &all[400..]].map(|side| side.iter().filter(has).count() as u64);
            prop_assert_eq!([difference.usual, difference.other], expected, "{}", filter);
            let attributes = AttributeSelection::parse(&[&filter], &[]).unwrap();
            let filtered = Question { attributes, ..b.clone() };
            let counted = ask(&asked.snapshot, &filtered, &asked.limits).unwrap().counts.used;
            prop_assert_eq!(difference.other, counted, "{}", filter);
            let of = |with: bool| {
                let chains = all.iter().filter(move |chain| has(chain) == with);
                median(chains.map(|chain| chain.duration_ns as f64))
            };
            let shift = of(true).zip(of(false)).map(|(with, without)| (with - without) as i64);
            prop_assert_eq!(difference.median_shift_ns, shift);
        }
    }
}
