//! One set of chains, stored in every way: each question has one answer.

#![allow(clippy::unwrap_used)] // helpers of tests

mod world;

use chronoscope_query::{
    Answer, DurationKind, LeafLevel, Limits, Progress, Question, ask, ask_watched,
};
use chronoscope_store::{MINUTE_NS, Snapshot};
use std::path::Path;
use std::sync::atomic::Ordering;
use world::World;

/// Questions of every kind.
fn questions() -> Vec<(&'static str, Question)> {
    let acpd = |root, leaf| Question { points: true, ..Question::acpd(root, leaf) };
    let minute = 101 * MINUTE_NS..102 * MINUTE_NS;
    vec![
        ("any level", acpd("X::a", "c")),
        ("level 2", Question { level: LeafLevel::Exactly(2), ..acpd("a", "Y::c") }),
        ("every leaf", Question { leaf: None, ..acpd("a", "") }),
        ("an inner root", acpd("X::b", "Y::c")),
        ("an inner root at a level", Question { level: LeafLevel::Exactly(1), ..acpd("b", "d") }),
        ("split", Question { split: true, ..acpd("a", "d") }),
        ("an inner root, split", Question { split: true, ..acpd("b", "c") }),
        ("a minute", Question { start_ns: minute.clone(), ..acpd("a", "c") }),
        ("a minute of an inner root", Question { start_ns: minute.clone(), ..acpd("b", "c") }),
        ("whole chains", Question { points: true, ..Question::apcd("a") }),
        ("whole inner chains", Question { points: true, ..Question::apcd("X::b") }),
        ("each for itself", Question { points: true, ..Question::sync("Y::c") }),
        ("each of a minute", Question { start_ns: minute, points: true, ..Question::sync("d") }),
        ("of hosts", Question { hosts: vec!["two".into(), "three".into()], ..acpd("a", "c") }),
        ("each of a host", Question { hosts: vec!["three".into()], ..Question::sync("Y::d") }),
        ("an inner root's of a host", Question { hosts: vec!["two".into()], ..acpd("b", "c") }),
        ("of a path", Question { path: Some("X::a/X::b/Y::c".into()), ..acpd("a", "c") }),
        ("of an inner path", Question { path: Some("X::b/Y::c".into()), ..acpd("b", "c") }),
        ("of some length", Question { duration_ns: 300..=900, ..acpd("a", "c") }),
        ("chains of some length", Question { duration_ns: 500..=900, ..Question::apcd("a") }),
        ("nothing", acpd("a", "nobody")),
    ]
}

/// Everything in an answer but how it was come by.
fn told(answer: &Answer) -> String {
    let paths: Vec<_> = answer
        .paths
        .iter()
        .map(|p| {
            let parts = |(inside, waiting): &(_, _)| -> String {
                let part = |p: &chronoscope_chain::PartStatistics| {
                    (
                        p.count(),
                        p.sum_ns(),
                        p.negative(),
                        p.quantile_ns(chronoscope_statistics::Quantile::P99),
                    )
                };
                format!("{:?}", (part(inside), part(waiting)))
            };
            let split = p.split.as_ref().map(|s| s.hops.iter().map(parts).collect::<Vec<_>>());
            (&p.path, &p.hops, p.distribution, split)
        })
        .collect();
    let covered = &answer.covered_ns;
    let unsplit = answer.losses.unsplit;
    let (durations, points) = (&answer.durations_ns, &answer.points);
    let total = (answer.distribution, answer.counts, covered, unsplit);
    format!("{total:#?}\n{paths:#?}\n{durations:?}\n{points:?}")
}

fn answers(dir: &Path, limits: &Limits) -> Vec<(&'static str, Answer)> {
    let snapshot = Snapshot::open(dir).unwrap();
    let ask = |(name, question): (&'static str, Question)| {
        (name, ask(&snapshot, &question, limits).unwrap())
    };
    questions().into_iter().map(ask).collect()
}

#[test]
fn the_same_rows_give_the_same_answer_however_they_are_stored() {
    let world = World::new(1, 400).on_hosts();
    let whole = tempfile::tempdir().unwrap();
    world.store(whole.path(), &[1.0], true);
    let expected = answers(whole.path(), &Limits::default());
    let mut used = Vec::new();
    for (name, answer) in &expected {
        eprintln!("{name}: {:?}", answer.counts);
        used.push(answer.counts.used);
        assert_eq!(answer.counts.used, answer.durations_ns.len() as u64);
        assert!(answer.points.is_empty() || answer.counts.used == answer.points.len() as u64);
        assert_eq!(answer.counts.used, answer.paths.iter().map(|p| p.distribution.count).sum());
    }
    assert_eq!(used.iter().filter(|used| **used == 0).count(), 1, "one question is about nothing");
    let all = expected.iter().fold(chronoscope_chain::Counts::default(), |mut all, (_, answer)| {
        all.add(&answer.counts);
        all
    });
    // The world has all of these.
    for count in [all.incomplete, all.before_parent, all.foreign, all.negative, all.root_missing] {
        assert!(count > 0, "{all:?}");
    }

    let small = Limits { threads: 3, memory_bytes: 20_000, ..Limits::default() };
    let one = Limits { threads: 1, ..Limits::default() };
    let ways: [(&str, &[f64], bool); 4] = [
        ("whole", &[1.0], true),
        ("in parts", &[0.3, 0.3, 0.4], true),
        ("in parts with an unsealed tail", &[0.5, 0.2, 0.3], false),
        ("unsealed", &[1.0], false),
    ];
    for (way, shares, sealed) in ways {
        let dir = tempfile::tempdir().unwrap();
        world.store(dir.path(), shares, sealed);
        for (limits, how) in [(&small, "little memory"), (&one, "one thread")] {
            for ((name, answer), (_, expected)) in answers(dir.path(), limits).iter().zip(&expected)
            {
                let (answer, expected) = (told(answer), told(expected));
                let mut lines = answer.lines().zip(expected.lines());
                let differs = lines.find(|(mine, theirs)| mine != theirs);
                assert!(answer == expected, "{name}, {way}, {how}: {differs:?}");
            }
        }
    }
}

/// What a narrower question leaves out is what the wider one's durations say: nothing else moves.
#[test]
fn a_narrower_question_is_a_part_of_the_wider_one() {
    let dir = tempfile::tempdir().unwrap();
    World::new(9, 400).on_hosts().store(dir.path(), &[0.5, 0.5], false);
    let snapshot = Snapshot::open(dir.path()).unwrap();
    let ask = |question: &Question| ask(&snapshot, question, &Limits::default()).unwrap();
    let wide = Question { points: true, ..Question::acpd("a", "c") };
    let all = ask(&wide);
    let within = ask(&Question { duration_ns: 200..=700, ..wide.clone() });
    let expected: Vec<_> =
        all.points.iter().copied().filter(|p| (200..=700).contains(&p.duration_ns)).collect();
    assert_eq!(within.points, expected);
    assert!(!expected.is_empty() && within.counts.negative == all.counts.negative);
    // The paths, and the hosts, make up the whole.
    let mut used = 0;
    for path in &all.paths {
        let one = ask(&Question { path: Some(path.path.clone()), ..wide.clone() });
        assert_eq!((one.paths.len(), one.distribution), (1, Some(path.distribution)));
        used += one.counts.used;
    }
    assert_eq!(used, all.counts.used);
    let of = |hosts: &[&str]| {
        let hosts = hosts.iter().map(ToString::to_string).collect();
        ask(&Question { hosts, ..wide.clone() }).counts
    };
    let mut sum = chronoscope_chain::Counts::default();
    for host in world::HOSTS {
        let counts = of(&[host]);
        assert!(counts.used > 0 && counts.used < all.counts.used, "{host}");
        sum.add(&counts);
    }
    let counts = |c: &chronoscope_chain::Counts| (c.used, c.incomplete, c.negative, c.foreign);
    assert_eq!(counts(&sum), counts(&all.counts));
    assert_eq!(counts(&of(&world::HOSTS)), counts(&all.counts));
    assert_eq!(of(&["nowhere"]).used, 0);
}

/// The parts of a split add up to the durations, over all chains.
#[test]
fn splits_add_up() {
    let dir = tempfile::tempdir().unwrap();
    World::new(7, 300).store(dir.path(), &[1.0], true);
    let snapshot = Snapshot::open(dir.path()).unwrap();
    let question = Question { split: true, ..Question::acpd("a", "d") };
    let answer = ask(&snapshot, &question, &Limits::default()).unwrap();
    let mut split = 0;
    for path in &answer.paths {
        let Some(hops) = path.split.as_ref().map(|split| &split.hops) else { continue };
        assert_eq!(hops.len(), path.hops.len(), "{}", path.path);
        split += hops[0].0.count();
        if hops[0].0.count() == path.distribution.count {
            let parts: i128 =
                hops.iter().map(|(inside, waiting)| inside.sum_ns() + waiting.sum_ns()).sum();
            assert_eq!(parts, i128::try_from(path.distribution.sum_ns).unwrap(), "{}", path.path);
        }
    }
    assert_eq!(split + answer.losses.unsplit, answer.counts.used);
    assert!(answer.losses.unsplit > 0 && split > answer.losses.unsplit);
}

#[test]
fn a_damaged_segment_is_told_and_the_rest_is_answered() {
    let dir = tempfile::tempdir().unwrap();
    World::new(3, 200).store(dir.path(), &[1.0], true);
    let snapshot = Snapshot::open(dir.path()).unwrap();
    let question = Question::acpd("a", "c");
    let before = ask(&snapshot, &question, &Limits::default()).unwrap();
    let victim = &snapshot.segments()[0];
    let bytes = std::fs::read(&victim.path).unwrap();
    std::fs::write(&victim.path, &bytes[..bytes.len() / 2]).unwrap();
    let after = ask(&snapshot, &question, &Limits::default()).unwrap();
    assert!(after.counts.used > 0 && after.counts.used < before.counts.used);
    let [damage] = &after.losses.damage[..] else { panic!("{:?}", after.losses) };
    assert_eq!((&damage.path, damage.rows_lost), (&victim.path, victim.row_count));
    // A segment that is gone is no damage: the snapshot is too old.
    std::fs::remove_file(&victim.path).unwrap();
    assert!(ask(&snapshot, &question, &Limits::default()).unwrap_err().is_missing());
}

#[test]
fn a_cancelled_question_ends_and_is_no_damage() {
    let dir = tempfile::tempdir().unwrap();
    World::new(5, 200).store(dir.path(), &[1.0], true);
    let snapshot = Snapshot::open(dir.path()).unwrap();
    let (limits, progress) = (Limits::default(), Progress::default());
    ask_watched(&snapshot, &Question::acpd("a", "c"), &limits, &progress).unwrap();
    let segments = snapshot.segments().len() as u64;
    assert_eq!(progress.done.load(Ordering::Relaxed), segments);
    assert_eq!(progress.total.load(Ordering::Relaxed), segments);
    progress.cancel.store(true, Ordering::Relaxed);
    for question in [Question::acpd("a", "c"), Question::acpd("b", "c"), Question::sync("Y::c")] {
        let error = ask_watched(&snapshot, &question, &limits, &progress).unwrap_err();
        assert!(error.is_cancelled(), "{error}");
    }
}

#[test]
fn a_verdict_is_by_exact_counts() {
    let dir = tempfile::tempdir().unwrap();
    World::new(5, 200).store(dir.path(), &[1.0], true);
    let snapshot = Snapshot::open(dir.path()).unwrap();
    let ask = |limit_ns| {
        let question = Question { limit_ns: Some(limit_ns), ..Question::acpd("a", "c") };
        ask(&snapshot, &question, &Limits::default()).unwrap()
    };
    let answer = ask(1);
    let longest = *answer.durations_ns.last().unwrap();
    let count = answer.durations_ns.len() as u64;
    assert!(!answer.verdict.unwrap().holds());
    let verdict = ask(longest).verdict.unwrap();
    assert_eq!((verdict.count, verdict.within), (count, count));
    // What is negative, or lacks its root, may be above the limit.
    let doubtful = answer.counts.negative + answer.counts.root_missing;
    assert!(doubtful * 1000 >= 3 * (count + doubtful) && verdict.unseen == doubtful);
    assert!(!verdict.holds());
    assert_eq!(ask(longest - 1).verdict.unwrap().above(), 1);
    assert_eq!(answer.paths.iter().map(|p| p.distribution.count).sum::<u64>(), count);
    assert_eq!(Question::acpd("a", "c").kind, DurationKind::Acpd);
}
