//! Pictures, lists and comparisons of durations, beside what plain computing over all of them says.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // helpers of tests

mod world;

use chronoscope_chain::Distribution;
use chronoscope_query::{
    Answer, ChainOrder, ComparedPart, DurationCache, DurationKind, Limits, Point, Progress,
    QueryEnvironment, Question, Raster, Scatter, ask, ask_again, chain, compare, hops, list_chains,
    scatter,
};
use chronoscope_statistics::{KolmogorovSmirnov, MeanDifference, Moments, Scale};
use chronoscope_store::{MINUTE_NS, Snapshot};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use world::World;

/// A question, and a cache of so many bytes.
struct Way {
    limits: Limits,
    progress: Progress,
    cache: DurationCache,
}

impl Way {
    fn with(cache_bytes: u64) -> Self {
        let limits = Limits { threads: 3, ..Limits::default() };
        Self { limits, progress: Progress::default(), cache: DurationCache::new(cache_bytes) }
    }

    fn asking(&self) -> QueryEnvironment<'_> {
        QueryEnvironment { limits: &self.limits, progress: &self.progress, cache: &self.cache }
    }
}

/// Stores a world: whole, in parts with rows not sealed yet, or not sealed at all.
fn stored(world: &World, how: usize) -> (tempfile::TempDir, Snapshot) {
    let dir = tempfile::tempdir().unwrap();
    let (shares, sealed): (&[f64], bool) =
        [(&[1.0][..], true), (&[0.5, 0.2, 0.3], false), (&[1.0], false)][how];
    world.store(dir.path(), shares, sealed);
    let snapshot = Snapshot::open(dir.path()).unwrap();
    (dir, snapshot)
}

/// A world without foreign rows: each minute is asked on its own.
fn native(seed: u64, chains: u64) -> World {
    let mut world = World::new(seed, chains).on_hosts();
    let foreign: std::collections::HashSet<_> =
        world.records.iter().filter(|r| r.flags != 0).map(|r| r.chain()).collect();
    world.records.retain(|record| !foreign.contains(&record.chain()));
    world
}

fn question(number: usize) -> Question {
    let minute = 101 * MINUTE_NS..102 * MINUTE_NS;
    let c = || Question::acpd("X::a", "c");
    [
        c(),
        Question { leaf: None, ..c() },
        Question { start_ns: minute.clone(), duration_ns: 200..=700, ..c() },
        Question { path: Some("X::a/X::b/Y::c".into()), limit_ns: Some(400), ..c() },
        Question { hosts: vec!["two".into(), "three".into()], duration_ns: 300..=u64::MAX, ..c() },
        Question::acpd("b", "c"),
        Question::apcd("a"),
        Question { start_ns: minute, ..Question::apcd("X::b") },
        Question { hosts: vec!["one".into()], duration_ns: 0..=300, ..Question::sync("Y::d") },
        Question { start_ns: 0..1, ..c() },
    ][number]
        .clone()
}

const QUESTIONS: usize = 10;

fn points(snapshot: &Snapshot, question: &Question) -> Answer {
    ask(snapshot, &Question { points: true, ..question.clone() }, &Limits::default()).unwrap()
}

/// Everything in an answer that both ways of asking give.
fn told(answer: &Answer) -> String {
    let paths: Vec<_> = answer.paths.iter().map(|p| (&p.path, &p.hops, p.distribution)).collect();
    let counts = &answer.counts;
    let counts =
        (counts.used, counts.incomplete, counts.before_parent, counts.foreign, counts.negative);
    let (durations, covered) = (&answer.durations_ns, &answer.covered_ns);
    format!(
        "{:?} {:?} {paths:?} {counts:?} {durations:?} {covered:?}",
        answer.distribution,
        // How many chains lack their root is counted where rows are grouped only.
        answer.verdict.map(|verdict| (verdict.count, verdict.within))
    )
}

/// The same answer from what is kept as from the rows, whatever room there is, and the second
/// time as the first.
#[test]
fn what_is_kept_answers_as_the_rows_do() {
    for (world, how) in [
        (World::new(1, 300).on_hosts(), 0),
        (World::new(2, 300).on_hosts(), 1),
        (native(3, 400), 0),
        (native(4, 400), 1),
        (native(5, 300), 2),
    ] {
        let (_dir, snapshot) = stored(&world, how);
        for bytes in [0, 9_000, 1 << 30] {
            let way = Way::with(bytes);
            for round in 0..2 {
                for number in 0..QUESTIONS {
                    let question = question(number);
                    let expected = ask(&snapshot, &question, &way.limits).unwrap();
                    let found = ask_again(&snapshot, &question, &way.asking()).unwrap();
                    let what = format!("question {number}, {bytes} bytes, round {round}, {how}");
                    assert_eq!(told(&found), told(&expected), "{what}");
                    assert_eq!(found.losses, expected.losses, "{what}");
                }
            }
            assert!(way.cache.size_bytes() <= bytes);
            assert!(bytes < 1 << 30 || how == 2 || way.cache.size_bytes() > 0);
        }
    }
}

/// A second question about the same minutes reads nothing.
#[test]
fn what_is_kept_is_not_read_again() {
    let (dir, snapshot) = stored(&native(7, 300), 0);
    let way = Way::with(1 << 30);
    let before = ask_again(&snapshot, &question(0), &way.asking()).unwrap();
    for segment in std::fs::read_dir(dir.path().join("segments")).unwrap() {
        std::fs::remove_file(segment.unwrap().path()).unwrap();
    }
    let after = ask_again(&snapshot, &question(0), &way.asking()).unwrap();
    assert_eq!(told(&before), told(&after));
    let other = ask_again(&snapshot, &Question::acpd("b", "d"), &way.asking());
    assert!(other.unwrap_err().is_missing());
}

/// The cells of a scattergram, by adding up points.
fn cells(scatter: &Scatter, points: &[Point]) -> BTreeMap<(u32, u32), u32> {
    let mut cells = BTreeMap::new();
    for point in points {
        let start = point.start_ns.abs_diff(scatter.start_ns.start);
        let within = |edges: &chronoscope_statistics::Edges, value| {
            let ranges = (0..edges.count()).map(|cell| edges.range(cell));
            ranges.zip(0u32..).find(|(range, _)| range.contains(&value)).unwrap().1
        };
        let (x, y) = (within(&scatter.columns, start), within(&scatter.rows, point.duration_ns));
        *cells.entry((x, y)).or_default() += 1;
    }
    cells
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Every duration is in its cell and none is lost; longest, shortest and paths are as plain
    /// computing has them.
    #[test]
    fn a_scattergram_has_every_duration(
        seed in 1u64..1000,
        is_native in any::<bool>(),
        how in 0usize..3,
        number in 0usize..QUESTIONS,
        width in 1usize..40,
        height in 1usize..40,
        log in any::<bool>(),
        room in prop_oneof![Just(0u64), Just(1 << 30)],
    ) {
        let world = if is_native { native(seed, 120) } else { World::new(seed, 120).on_hosts() };
        let (_dir, snapshot) = stored(&world, how);
        let (question, way) = (question(number), Way::with(room));
        let scale = if log { Scale::Log } else { Scale::Linear };
        let raster = Raster { width, height, scale };
        let found = scatter(&snapshot, &question, raster, &way.asking()).unwrap();
        let expected = points(&snapshot, &question);
        prop_assert_eq!(found.total, expected.points.len() as u64);
        prop_assert_eq!(found.counts.used, expected.counts.used);
        prop_assert_eq!(found.counts.negative, expected.counts.negative);
        let drawn: BTreeMap<_, _> = found.cells.iter().map(|c| ((c.x, c.y), c.count)).collect();
        prop_assert_eq!(&drawn, &cells(&found, &expected.points));
        prop_assert!(found.cells.iter().map(|c| (c.x, c.y)).is_sorted());
        let counts: Vec<_> = found.paths.iter().map(|p| (p.path.as_str(), p.count)).collect();
        let paths: Vec<_> =
            expected.paths.iter().map(|p| (p.path.as_str(), p.distribution.count)).collect();
        let told_apart = paths.len().min(chronoscope_query::PATHS_MAX);
        prop_assert_eq!(&counts[..told_apart], &paths[..told_apart]);
        prop_assert_eq!(counts.iter().map(|(_, n)| n).sum::<u64>(), found.total);
        let incomplete: u64 = found.incomplete.iter().map(|(_, count)| count).sum();
        prop_assert_eq!(incomplete, expected.counts.incomplete);
        for extreme in &found.extremes {
            let cell = found.columns.range(extreme.x as usize);
            let in_column = |p: &&Point| cell.contains(&p.start_ns.abs_diff(found.start_ns.start));
            let column = || expected.points.iter().filter(in_column);
            let longest = column().map(|p| p.duration_ns).max();
            prop_assert_eq!(Some(extreme.max.duration_ns), longest);
            prop_assert_eq!(Some(extreme.min_ns), column().map(|p| p.duration_ns).min());
            prop_assert!(expected.points.contains(&extreme.max));
        }
        let columns: std::collections::BTreeSet<u32> = drawn.keys().map(|(x, _)| *x).collect();
        prop_assert!(found.extremes.iter().map(|e| e.x).eq(columns));
    }

    /// The first of an order are the first of all, with chains that have such a duration.
    #[test]
    fn the_longest_are_the_longest(
        seed in 1u64..1000,
        how in 0usize..3,
        number in 0usize..QUESTIONS,
        limit in 1usize..30,
    ) {
        let world = native(seed, 120);
        let (_dir, snapshot) = stored(&world, how);
        let (question, way) = (question(number), Way::with(1 << 30));
        let expected = points(&snapshot, &question);
        for order in [ChainOrder::Longest, ChainOrder::Shortest, ChainOrder::First] {
            let (total, found) =
                list_chains(&snapshot, &question, (order, limit), &way.asking()).unwrap();
            prop_assert_eq!(total, expected.points.len() as u64);
            let mut all = expected.points.clone();
            match order {
                ChainOrder::Longest => all.sort_by_key(|p| (std::cmp::Reverse(p.duration_ns), p.start_ns)),
                ChainOrder::Shortest => all.sort_by_key(|p| (p.duration_ns, p.start_ns)),
                ChainOrder::First => all.sort_by_key(|p| (p.start_ns, p.duration_ns)),
            }
            all.truncate(limit);
            prop_assert_eq!(found.iter().map(|chain| chain.point).collect::<Vec<_>>(), all);
            for one in found {
                prop_assert!(expected.paths.iter().any(|path| path.path == one.path));
                let wanted = question.hosts.is_empty() || question.hosts.contains(&one.host);
                prop_assert!(wanted, "{}", one.host);
                let (rows, _) = chain(&snapshot, one.chain.unwrap(), None).unwrap();
                let ends = rows.iter().any(|row| {
                    let end = row.start_ns + i64::try_from(row.elapsed_ns).unwrap();
                    end - one.point.start_ns == i64::try_from(one.point.duration_ns).unwrap()
                });
                prop_assert!(ends, "{:?} is not of {:?}", one.point, rows);
            }
        }
    }
}

/// An inner root is stamped 10 ns before its chain's root, by another clock, and in the minute
/// before: it lies in the minute after its stamp.
#[test]
fn an_inner_root_is_found_that_seems_to_start_in_the_minute_before() {
    let (_dir, snapshot) = stored(&native(225, 120), 0);
    let at = 102 * MINUTE_NS - 10;
    let question = Question { start_ns: at..at + 1, ..Question::acpd("b", "c") };
    let way = Way::with(1 << 30);
    let (total, found) =
        list_chains(&snapshot, &question, (ChainOrder::Longest, 9), &way.asking()).unwrap();
    assert_eq!((total, found.len()), (1, 1));
    let (rows, _) = chain(&snapshot, found[0].chain.unwrap(), None).unwrap();
    assert!(rows.iter().any(|row| row.start_ns == at), "{rows:?}");
}

/// A world in which the chains of one host wait longer before `c`.
fn slow_host(seed: u64, chains: u64) -> World {
    let mut world = native(seed, chains);
    // Whole chains of three hops only: a/b/c, c on a host of its own choice.
    let (names, records) = (std::mem::take(&mut world.names), std::mem::take(&mut world.records));
    let mut template = records[0];
    let classes =
        [("X", "a"), ("X", "b"), ("Y", "c")].map(|(a, c)| chronoscope_model::ClassId::of(a, c));
    let mut names = names;
    let mut rows = Vec::new();
    for number in 0..chains {
        let noise = |salt: u64| (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (20 + salt)) % 50;
        let root_start_ns = 100 * MINUTE_NS + (3 * MINUTE_NS) * number as i64 / chains as i64;
        let slow = number % 5 == 0;
        let mut start_ns = root_start_ns;
        for (level, class) in classes.iter().enumerate() {
            let path = &classes[..=level];
            names.add_path(chronoscope_model::PathId::of(path), path.to_vec());
            template.start_ns = start_ns;
            template.elapsed_ns = 100 + noise(level as u64);
            template.id = chronoscope_model::TransactionId(number * 10 + level as u64 + 1);
            template.parent = chronoscope_model::TransactionId(if level == 0 {
                0
            } else {
                number * 10 + level as u64
            });
            (template.chain_high, template.chain_low) = (7, number + 1);
            template.class = *class;
            template.path = chronoscope_model::PathId::of(path);
            template.root_start_ns = root_start_ns;
            template.level = level as u16;
            template.flags = 0;
            template.process = world::process(if level == 2 && slow { 2 } else { level % 2 }).id();
            rows.push(template);
            let wait = if level == 1 && slow { 5_000 } else { 40 };
            start_ns += 100 + (noise(level as u64) + wait) as i64;
        }
    }
    World::of(names, rows)
}

/// The hop, the part and the host that make the selected ones slow are named; and what is told of
/// a set that is small enough is what all of its rows say.
#[test]
fn the_cause_is_found() {
    for how in 0..3 {
        let (_dir, snapshot) = stored(&slow_host(3, 1500), how);
        let way = Way::with(1 << 30);
        let slow = Question { duration_ns: 2_000..=u64::MAX, ..Question::acpd("a", "c") };
        let all = i64::MIN..i64::MAX;
        let found = hops(&snapshot, &slow, (all.clone(), 5_000), &way.asking()).unwrap();
        assert_eq!((found.selected, found.rest), (300, 1200));
        assert_eq!((found.sampled_selected, found.sampled_rest), (300, 1200), "all of few");
        let cause = found.parts.iter().max_by(|a, b| a.share.total_cmp(&b.share)).unwrap();
        assert_eq!((cause.hop.as_str(), cause.level), ("Y::c", 2));
        assert!(cause.share > 0.95 && cause.test.unwrap().p_value < 1e-9);
        assert!(found.sentence.ends_with("the wait before Y::c on three"), "{}", found.sentence);
        assert!((found.parts.iter().map(|part| part.share).sum::<f64>() - 1.0).abs() < 1e-9);
        // By a sample the same cause, and the same sample again.
        let few = || hops(&snapshot, &slow, (all.clone(), 40), &way.asking()).unwrap();
        let (one, two) = (few(), few());
        assert_eq!((one.sampled_selected, one.selected), (40, 300));
        assert_eq!(one.sentence, two.sentence);
        assert_eq!(format!("{:?}", one.parts), format!("{:?}", two.parts));
        assert!(one.sentence.ends_with("the wait before Y::c on three"), "{}", one.sentence);
        // A minute of the context, and nothing selected.
        let minute = 101 * MINUTE_NS..102 * MINUTE_NS;
        let some = hops(&snapshot, &slow, (minute, 5_000), &way.asking()).unwrap();
        assert_eq!((some.selected, some.rest), (300, 400));
        let none = Question { duration_ns: 0..=0, ..slow.clone() };
        let none = hops(&snapshot, &none, (all, 100), &way.asking()).unwrap();
        assert_eq!((none.selected, none.sentence.as_str()), (0, "nothing is selected"));
    }
}

/// Inner roots' ways lie in minutes before their own starts, foreign ones anywhere: the ways that
/// are found are those that the split of all chains has.
#[test]
fn ways_are_found_wherever_they_lie() {
    for (world, root) in
        [(native(11, 300), "b"), (World::new(12, 300), "a"), (World::new(13, 300), "b")]
    {
        let (_dir, snapshot) = stored(&world, 1);
        let way = Way::with(1 << 30);
        let slow = Question { duration_ns: 500..=u64::MAX, ..Question::acpd(root, "c") };
        let found = hops(&snapshot, &slow, (i64::MIN..i64::MAX, 100_000), &way.asking()).unwrap();
        let split = Question { split: true, ..Question::acpd(root, "c") };
        let all = ask(&snapshot, &split, &Limits::default()).unwrap();
        assert_eq!(found.selected + found.rest, all.counts.used);
        let split = all.counts.used - all.losses.unsplit;
        assert_eq!(found.sampled_selected + found.sampled_rest, split, "{root}");
    }
}

/// A comparison has the distributions of both, exactly, and the tests over them.
#[test]
fn a_comparison_is_of_all_durations() {
    let (_dir, snapshot) = stored(&slow_host(5, 900), 1);
    let way = Way::with(1 << 30);
    let of = |duration_ns| Question { duration_ns, ..Question::acpd("a", "c") };
    let (a, b) = (of(0..=1_000), of(1_001..=u64::MAX));
    let found = compare((&snapshot, &a), (&snapshot, &b), 2_000, &way.asking()).unwrap();
    let all = |question: &Question| points(&snapshot, question).durations_ns;
    let (of_a, of_b) = (all(&a), all(&b));
    assert_eq!(found.a.distribution, Distribution::of_ascending(&of_a));
    assert_eq!(found.b.distribution, Distribution::of_ascending(&of_b));
    assert_eq!(found.a.counts.iter().sum::<u64>(), of_a.len() as u64);
    let moments = |of: &Distribution| Moments { count: of.count, mean: of.mean_ns, sd: of.sd_ns };
    let (side_a, side_b) = (found.a.distribution.unwrap(), found.b.distribution.unwrap());
    assert_eq!(found.difference, MeanDifference::between(&moments(&side_a), &moments(&side_b)));
    assert!(found.difference.unwrap().p_value < 1e-9 && found.sentence.starts_with("B is slower"));
    assert!(KolmogorovSmirnov::of_ascending(&of_a, &of_b).unwrap().statistic > 0.99);
    let wait = found.parts.iter().max_by_key(|part| part.shift_ns).unwrap();
    assert_eq!((wait.hop.as_str(), wait.shift_ns > 4_000), ("Y::c", true));
    // What moved most is first, by its shares of the mean and of the tail.
    assert_eq!((found.parts[0].hop.as_str(), found.parts[0].kind), (wait.hop.as_str(), wait.kind));
    assert!(found.parts[0].share > 0.9 && found.parts[0].tail_share > 0.9, "{:?}", found.parts);
    let shares = |of: fn(&ComparedPart) -> f64| found.parts.iter().map(of).sum::<f64>();
    assert!((shares(|part| part.share) - 1.0).abs() < 1e-9);
    assert!((shares(|part| part.tail_share) - 1.0).abs() < 1e-9);
    assert_eq!(found.paths, [("X::a/X::b/Y::c".to_owned(), 720, 180)]);
    let alike = compare((&snapshot, &a), (&snapshot, &a), 100, &way.asking()).unwrap();
    assert_eq!(alike.difference.unwrap().difference, 0.0);
    assert!(alike.sentence.starts_with("no difference is shown"), "{}", alike.sentence);
    let nobody = Question::acpd("a", "nobody");
    let none = compare((&snapshot, &a), (&snapshot, &nobody), 100, &way.asking()).unwrap();
    assert!(none.difference.is_none() && none.b.distribution.is_none());
}

#[test]
fn what_is_cancelled_ends_and_is_not_kept() {
    let (_dir, snapshot) = stored(&native(9, 200), 0);
    let way = Way::with(1 << 30);
    way.progress.cancel.store(true, Ordering::Relaxed);
    for number in 0..QUESTIONS {
        let error = ask_again(&snapshot, &question(number), &way.asking()).unwrap_err();
        assert!(error.is_cancelled(), "{error}");
    }
    let raster = Raster { width: 4, height: 4, scale: Scale::Log };
    assert!(scatter(&snapshot, &question(0), raster, &way.asking()).unwrap_err().is_cancelled());
    assert_eq!(way.cache.size_bytes(), 0);
    assert_eq!(question(8).kind, DurationKind::Sync);
}

/// Minutes that cannot be read are gaps, with what was in them.
#[test]
fn a_damaged_minute_is_a_gap() {
    let (dir, snapshot) = stored(&native(9, 200), 0);
    let victim = &snapshot.segments()[1];
    std::fs::write(&victim.path, b"nothing").unwrap();
    let way = Way::with(1 << 30);
    let raster = Raster { width: 30, height: 4, scale: Scale::Log };
    for _ in 0..2 {
        let found = scatter(&snapshot, &question(0), raster, &way.asking()).unwrap();
        let [gap] = &found.gaps[..] else { panic!("{:?}", found.gaps) };
        let minute = victim.slot.minute;
        assert_eq!(gap.start_ns, minute.start_ns()..minute.end_ns());
        assert_eq!(gap.lost_rows, victim.row_count);
        assert_eq!(found.losses.damage.len(), 1);
    }
    assert!(Path::new(dir.path()).exists());
}
