//! Filters and groups by attributes, against what the rows say.

#![allow(clippy::unwrap_used)] // helpers of tests

mod world;

use chronoscope_chain::Counts;
use chronoscope_model::context::{self, ContextEntry};
use chronoscope_model::{ClassId, Flags, Record};
use chronoscope_query::{
    Answer, AttributeRows, AttributeSelection, ChainOrder, DurationCache, GroupValue, Limits,
    Progress, QueryEnvironment, Question, Required, VerdictSubject, ask, ask_again,
    attribute_names, attribute_values, class_groups, classes, list_chains,
};
use chronoscope_store::{MINUTE_NS, Snapshot};
use std::collections::BTreeMap;
use tempfile::TempDir;
use world::{CLASSES, World};

/// A world's rows in a store: in one segment a minute, in parts, in parts with rows in the log.
fn stores(world: &World) -> Vec<(&'static str, TempDir, Snapshot)> {
    let ways: [(_, &[f64], bool); 4] = [
        ("whole", &[1.0], true),
        ("in parts", &[0.3, 0.3, 0.4], true),
        ("in parts with a tail", &[0.5, 0.2, 0.3], false),
        ("unsealed", &[1.0], false),
    ];
    let stored = ways.into_iter().map(|(way, shares, sealed)| {
        let dir = tempfile::tempdir().unwrap();
        world.store(dir.path(), shares, sealed);
        let snapshot = Snapshot::open(dir.path()).unwrap();
        (way, dir, snapshot)
    });
    stored.collect()
}

fn select(filters: &[&str], by: &[&str]) -> AttributeSelection {
    AttributeSelection::parse(filters, by).unwrap()
}

fn asked(snapshot: &Snapshot, question: &Question, filters: &[&str], by: &[&str]) -> Answer {
    let question = Question { attributes: select(filters, by), ..question.clone() };
    ask(snapshot, &question, &Limits::default()).unwrap()
}

/// The groups of an answer in words, each with the number of its durations and their sum.
fn groups(answer: &Answer) -> BTreeMap<String, (u64, u128)> {
    let groups = answer.groups.as_ref().unwrap().groups.iter();
    let words = |values: &[GroupValue]| {
        values.iter().map(ToString::to_string).collect::<Vec<_>>().join("|")
    };
    groups.map(|g| (words(&g.values), (g.distribution.count, g.distribution.sum_ns))).collect()
}

/// What a row has under a key: the definition in the glossary, word by word.
fn of_row(world: &World, record: &Record, key: &str) -> Option<String> {
    let empty = world::Said::default();
    let said = world.said.get(&record.id.0).unwrap_or(&empty);
    let mut keys =
        vec![key.to_owned(), format!("otel.resource.{key}"), format!("otel.scope.attribute.{key}")];
    if key.starts_with("otel.") {
        keys.push(format!("otel.attribute.{key}"));
    }
    for key in keys {
        let text = said.properties.iter().find(|(k, _)| *k == key).map(|(_, v)| v.clone());
        let number = || said.metrics.iter().find(|(k, _)| *k == key).map(|(_, v)| v.to_string());
        if let Some(found) = text.or_else(number) {
            return Some(found);
        }
    }
    let names = &world.names;
    match key {
        "service.name" => names.class(record.class).map(|class| class.application.clone()),
        "host.name" => names.process(record.process).map(|process| process.host.clone()),
        _ => None,
    }
}

/// What a duration has under a key, with the prefix of a place: from its leaf up to its root.
fn of_way(world: &World, way: &[&Record], key: &str) -> Option<String> {
    let (leaf, root) = (way[0], way[way.len() - 1]);
    if let Some(key) = key.strip_prefix("leaf.") {
        return of_row(world, leaf, key);
    }
    if let Some(key) = key.strip_prefix("root.") {
        return of_row(world, root, key);
    }
    let between = way[1..].iter().filter(|record| record.id != root.id);
    let order = [leaf, root].into_iter().chain(between.copied());
    order.into_iter().find_map(|record| of_row(world, record, key))
}

/// Every way from a leaf of a class up to the root of its chain, where the duration is not negative.
fn ways<'w>(world: &'w World, leaf: (&str, &str)) -> Vec<Vec<&'w Record>> {
    let by_id: BTreeMap<u64, &Record> = world.records.iter().map(|r| (r.id.0, r)).collect();
    let class = ClassId::of(leaf.0, leaf.1);
    let leaves = world.records.iter().filter(|record| record.class == class);
    let up = |leaf: &'w Record| -> Vec<&'w Record> {
        std::iter::successors(Some(leaf), |at| by_id.get(&at.parent.0).copied()).collect()
    };
    leaves.map(up).filter(|way| duration_ns(way) >= 0).collect()
}

fn duration_ns(way: &[&Record]) -> i64 {
    way[0].start_ns + way[0].elapsed_ns.cast_signed() - way[way.len() - 1].start_ns
}

const KEYS: [&str; 8] = [
    "tenant",
    "leaf.tenant",
    "root.tenant",
    "size",
    "host.name",
    "service.name",
    "otel.mine",
    "nobody.has.it",
];

/// Against the definition: every key, and every value of it, in every way of storing.
#[test]
fn durations_by_attributes_are_what_the_rows_say() {
    let world = World::new(5, 300).on_hosts().with_attributes().whole_chains();
    let ways = ways(&world, CLASSES[2]);
    let natives = ways.iter().filter(|way| !way[0].flags().contains(Flags::FOREIGN)).count();
    assert!(natives > 50 && ways.len() - natives > 50, "{natives} of {}", ways.len());
    assert!(ways.iter().filter(|way| way.len() > 3).count() > 50);
    let question = Question::acpd("X::a", "Y::c");
    for (stored, _dir, snapshot) in stores(&world) {
        for key in KEYS {
            let mut expected: BTreeMap<String, (u64, u128)> = BTreeMap::new();
            for way in &ways {
                let value = of_way(&world, way, key).unwrap_or_else(|| "(none)".to_owned());
                let group = expected.entry(value).or_default();
                *group = (group.0 + 1, group.1 + duration_ns(way).cast_unsigned() as u128);
            }
            let answer = asked(&snapshot, &question, &[], &[key]);
            assert_eq!(groups(&answer), expected, "{key}, {stored}");
            for (value, (count, _)) in &expected {
                let used =
                    |filter: String| asked(&snapshot, &question, &[&filter], &[]).counts.used;
                let all = ways.len() as u64;
                if value == "(none)" {
                    assert_eq!(used(key.to_owned()), all - count, "{key}, {stored}");
                } else {
                    assert_eq!(used(format!("{key}={value}")), *count, "{key}={value}, {stored}");
                    assert_eq!(used(format!("{key}!={value}")), all - count, "{key}!={value}");
                }
            }
        }
        // A number by any way of writing it; a text only by its own.
        let size = |text: &str| asked(&snapshot, &question, &[&format!("leaf.size={text}")], &[]);
        let numbers = ways.iter().filter(|way| {
            let said = &world.said[&way[0].id.0];
            let is_text = said.properties.iter().any(|(key, _)| key == "size");
            let value = of_way(&world, way, "leaf.size");
            !is_text && value.as_deref() == Some("1")
        });
        let (one, numbers) = (size("1").counts.used, numbers.count() as u64);
        assert_eq!(size("1.0e0").counts.used, numbers, "{stored}");
        assert!(numbers > 0 && one > numbers);
    }
}

/// The promise of a group: the sum over all of them is the answer without them.
#[test]
fn groups_add_up_to_the_answer_without_them() {
    let minute = 101 * MINUTE_NS..102 * MINUTE_NS;
    let questions = [
        ("any level", Question::acpd("X::a", "c")),
        ("every leaf", Question { leaf: None, ..Question::acpd("a", "") }),
        ("an inner root", Question::acpd("X::b", "Y::c")),
        ("split", Question { split: true, ..Question::acpd("a", "d") }),
        ("a minute", Question { start_ns: minute.clone(), ..Question::acpd("a", "c") }),
        ("whole chains", Question::apcd("a")),
        ("whole inner chains", Question::apcd("X::b")),
        ("each for itself", Question::sync("Y::c")),
        ("each of a minute", Question { start_ns: minute, ..Question::sync("d") }),
        ("of a host", Question { hosts: vec!["two".into()], ..Question::acpd("a", "c") }),
    ];
    let world = World::new(11, 300).on_hosts().with_attributes();
    let small = Limits { threads: 3, memory_bytes: 20_000, ..Limits::default() };
    let cache = DurationCache::default();
    let progress = Progress::default();
    for (stored, _dir, snapshot) in stores(&world) {
        for (name, question) in &questions {
            let what = format!("{name}, {stored}");
            let all = ask(&snapshot, question, &Limits::default()).unwrap();
            assert!(all.counts.used > 20, "{what}");
            for by in
                [&["tenant"][..], &["leaf.size"], &["tenant", "root.size"], &["x", "host.name"]]
            {
                let answer = asked(&snapshot, question, &[], by);
                assert_eq!(answer.durations_ns, all.durations_ns, "{what}");
                assert_eq!(answer.counts, all.counts, "{what}");
                let found = groups(&answer).into_values();
                let sum = found.fold((0, 0), |sum, group| (sum.0 + group.0, sum.1 + group.1));
                let whole = all.distribution.unwrap();
                assert_eq!(sum, (whole.count, whole.sum_ns), "{by:?}, {what}");
                let asks = Question { attributes: select(&[], by), ..question.clone() };
                let less = ask(&snapshot, &asks, &small).unwrap();
                assert_eq!(less.groups, answer.groups, "{by:?}, {what}, with little memory");
            }
            // A filter and its opposite, in whatever way they are asked.
            let mut used = Vec::new();
            for filter in ["tenant=acme", "tenant!=acme"] {
                let answer = asked(&snapshot, question, &[filter], &[]);
                let asks = Question { attributes: select(&[filter], &[]), ..question.clone() };
                let limits = Limits::default();
                let asking =
                    QueryEnvironment { limits: &limits, progress: &progress, cache: &cache };
                for _ in 0..2 {
                    let again = ask_again(&snapshot, &asks, &asking).unwrap();
                    assert_eq!(again.durations_ns, answer.durations_ns, "{filter}, {what}");
                    let counts = |counts: &Counts| (counts.used, counts.negative, counts.foreign);
                    assert_eq!(counts(&again.counts), counts(&answer.counts), "{filter}, {what}");
                }
                let listed = list_chains(&snapshot, &asks, (ChainOrder::First, 5), &asking);
                assert_eq!(listed.unwrap().0, answer.counts.used, "{filter}, {what}");
                used.push(answer.counts);
            }
            let [acme, others] = &used[..] else { panic!("{used:?}") };
            assert!(acme.used > 0 && others.used > 0, "{what}");
            assert_eq!(acme.used + others.used, all.counts.used, "{what}");
            assert_eq!(acme.negative + others.negative, all.counts.negative, "{what}");
            assert_eq!(acme.foreign + others.foreign, all.counts.foreign, "{what}");
        }
    }
}

#[test]
fn all_filters_have_to_hold() {
    let world = World::new(5, 300).on_hosts().with_attributes().whole_chains();
    let (_, _dir, snapshot) = stores(&world).remove(2);
    let question = Question::acpd("X::a", "Y::c");
    let expected = ways(&world, CLASSES[2]).into_iter().filter(|way| {
        let of = |key| of_way(&world, way, key);
        of("tenant").as_deref() == Some("acme") && of("size").is_some() && {
            of("leaf.host.name").as_deref() != Some("elsewhere")
        }
    });
    let filters = ["tenant=acme", "size", "leaf.host.name!=elsewhere"];
    let answer = asked(&snapshot, &question, &filters, &["tenant"]);
    let expected = expected.count() as u64;
    assert!(expected > 5, "{expected}");
    assert_eq!(answer.counts.used, expected);
    assert_eq!(groups(&answer).into_keys().collect::<Vec<_>>(), ["acme"]);
}

#[test]
fn a_verdict_with_a_filter_is_open_where_roots_may_be_missing() {
    let world = World::new(5, 100).with_attributes();
    let (_, _dir, snapshot) = stores(&world).remove(0);
    let question = Question {
        limit_ns: Some(300),
        judged: VerdictSubject::Described,
        ..Question::acpd("X::a", "Y::c")
    };
    let answer = asked(&snapshot, &question, &["tenant=acme"], &["size"]);
    let verdict = answer.verdict.unwrap();
    assert_eq!(verdict.state(), chronoscope_chain::VerdictState::Undetermined);
    assert!(answer.arrivals.is_none());
    // What is above the limit is counted all the same, group by group.
    let above = answer.durations_ns.iter().filter(|ns| **ns > 300).count() as u64;
    let of_groups = answer.groups.unwrap().groups.into_iter().map(|group| group.above.unwrap());
    assert_eq!((of_groups.sum::<u64>(), above > 0), (above, true));
}

/// Roots are judged by their own attributes, whether they have a leaf or not.
#[test]
fn roots_are_judged_by_their_own_attributes() {
    let question = Question {
        limit_ns: Some(300),
        judged: VerdictSubject::Roots {
            required: Required::AtLeast(1),
            receivers: None,
            timeout_ns: None,
        },
        ..Question::acpd("X::a", "Y::c")
    };
    for world in
        [World::new(5, 300).with_attributes(), World::new(5, 300).with_attributes().whole_chains()]
    {
        let roots = world.records.iter().filter(|row| row.class == ClassId::of("X", "a"));
        let of_acme = |row: &&Record| of_row(&world, row, "tenant").as_deref() == Some("acme");
        let expected = roots.filter(of_acme).count() as u64;
        for (stored, _dir, snapshot) in stores(&world) {
            let of = |filters: &[&str]| {
                asked(&snapshot, &question, filters, &[]).arrivals.unwrap().totals
            };
            let (all, acme, others) =
                (of(&[]), of(&["root.tenant=acme"]), of(&["root.tenant!=acme"]));
            let unknown = all.from_descendants;
            assert_eq!(acme.roots, expected + unknown, "{stored}");
            assert!(acme.arrived > 5 && acme.roots > acme.arrived, "{stored}: {acme:?}");
            // A root whose row is missing may be of either; every other one is of one of the two.
            assert_eq!(acme.roots + others.roots, all.roots + unknown, "{stored}");
            assert!(acme.unknown_roots() + others.unknown_roots() >= 2 * unknown, "{stored}");
            if unknown == 0 {
                assert_eq!(acme.arrived + others.arrived, all.arrived, "{stored}");
                assert_eq!(acme.leaves + others.leaves, all.leaves, "{stored}");
            }
        }
    }
}

/// Statistics of classes: each row by its own attributes.
#[test]
fn classes_by_attributes_are_what_the_rows_say() {
    let world = World::new(3, 200).on_hosts().with_attributes();
    let (all, minute) = (i64::MIN..i64::MAX, 101 * MINUTE_NS + 7..102 * MINUTE_NS - 7);
    for (stored, _dir, snapshot) in stores(&world) {
        for start_ns in [&all, &minute] {
            let of = |filters: &[&str], by: &[&str]| {
                let selection = select(filters, by);
                let (limits, progress) = (Limits::default(), Progress::default());
                class_groups(&snapshot, start_ns, &selection, &limits, &progress).unwrap()
            };
            let mut expected: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
            let is_in = |record: &&Record| {
                let foreign = record.flags().contains(Flags::FOREIGN);
                let start = if foreign { record.start_ns } else { record.root_start_ns };
                start_ns.contains(&start)
            };
            for record in world.records.iter().filter(is_in) {
                let name = world.names.class(record.class).unwrap().to_string();
                let value = of_row(&world, record, "tenant").unwrap_or_else(|| "(none)".to_owned());
                let group = expected.entry((name, value)).or_default();
                *group = (group.0 + 1, group.1 + record.elapsed_ns);
            }
            let found = of(&[], &["root.tenant"]);
            let words = found.classes.iter().map(|group| {
                let elapsed = &group.statistics.elapsed;
                let sum = u64::try_from(elapsed.sum()).unwrap();
                ((group.name.to_string(), group.values[0].to_string()), (elapsed.count(), sum))
            });
            assert_eq!(words.collect::<BTreeMap<_, _>>(), expected, "{stored}");
            assert!(expected.len() > 15);
            // Without a condition on any row it is what the sketches say.
            let (sketched, _) = classes(&snapshot, start_ns).unwrap();
            let nobody = of(&["nobody!=x"], &[]).classes.into_iter();
            let nobody = nobody.map(|group| (group.name, group.statistics));
            for (name, statistics) in nobody {
                let mut theirs = sketched[&name].clone();
                // Sketches have only the sum of CPU times.
                theirs.cpu_known = statistics.cpu_known;
                assert_eq!(statistics, theirs, "{name}, {stored}");
            }
        }
    }
}

#[test]
fn names_and_values_are_counted_row_by_row() {
    let world = World::new(3, 200).on_hosts().with_attributes();
    let mut tables = Vec::new();
    for (stored, _dir, snapshot) in stores(&world) {
        let progress = Progress::default();
        let rows = all(&progress);
        let found = attribute_names(&snapshot, &rows).unwrap();
        assert_eq!(
            (found.rows, found.newest_only),
            (world.records.len() as u64, false),
            "{stored}"
        );
        let names = found.names.iter().map(|name| (&*name.key, (name.rows, name.values)));
        let names: BTreeMap<&str, (u64, u64)> = names.collect();
        let expected = ["tenant", "size", "host.name", "service.name", "otel.mine"].map(|key| {
            let of = world.records.iter().filter_map(|record| of_row(&world, record, key));
            let values: Vec<String> = of.collect();
            let rows = values.len() as u64;
            let mut different = values;
            different.sort();
            different.dedup();
            let values =
                attribute_values(&snapshot, &key.parse().unwrap(), &all(&progress)).unwrap();
            let sum: u64 = values.values.iter().map(|(_, rows)| rows).sum();
            assert_eq!((sum, values.without, values.others), (rows, found.rows - rows, 0), "{key}");
            let mut texts: Vec<String> = values.values.iter().map(|(v, _)| v.to_string()).collect();
            texts.sort();
            assert_eq!(texts, different, "{key}, {stored}");
            (key, rows)
        });
        for (key, rows) in expected {
            assert_eq!(names[key].0, rows, "{key}, {stored}");
        }
        assert_eq!(names.len(), expected.len(), "{names:?}");
        tables.push(found.names);
        // The newest rows are enough for those who say so.
        let few = AttributeRows { most: Some(1), ..rows };
        let newest = attribute_names(&snapshot, &few).unwrap();
        assert!(newest.rows <= found.rows);
        assert_eq!(newest.newest_only, newest.rows < found.rows, "{stored}");
    }
    assert!(tables.windows(2).all(|pair| pair[0] == pair[1]));
}

/// What a process runs in is asked for as if each of its rows said it, sealed or not.
#[test]
fn what_a_process_runs_in_is_an_attribute_of_its_rows() {
    const POD: &str = "otel.resource.k8s.pod.name";
    let mut of_processes = World::new(5, 200).on_hosts().with_attributes();
    let mut of_rows = World::new(5, 200).on_hosts().with_attributes();
    for (host, pod) in [(0, "shop-0"), (2, "mail-0")] {
        let mut bytes = [0; 64];
        let len = context::append(&mut bytes, 0, ContextEntry::Property(POD, pod)).unwrap();
        let process = world::process(host).id();
        assert!(of_processes.names.add_process_context(process, &bytes[..len]));
        for record in of_rows.records.iter().filter(|record| record.process == process) {
            let said = of_rows.said.entry(record.id.0).or_default();
            said.properties.push((POD.to_owned(), pod.to_owned()));
        }
    }
    let progress = Progress::default();
    let pairs = stores(&of_processes).into_iter().zip(stores(&of_rows));
    for ((stored, _dir, found), (_, _other_dir, expected)) in pairs {
        let names = |snapshot| attribute_names(snapshot, &all(&progress)).unwrap().names;
        assert_eq!(names(&found), names(&expected), "{stored}");
        assert!(names(&found).iter().any(|name| &*name.key == "k8s.pod.name"), "{stored}");
        let question = Question::acpd("a", "");
        let question = Question { leaf: None, ..question };
        for (filters, by) in [
            (&[][..], &["k8s.pod.name"][..]),
            (&["k8s.pod.name=mail-0"], &["tenant", "k8s.pod.name"]),
            (&["k8s.pod.name!=shop-0", "tenant"], &["k8s.pod.name"]),
        ] {
            let answers = [&found, &expected]
                .map(|snapshot| groups(&asked(snapshot, &question, filters, by)));
            assert_eq!(answers[0], answers[1], "{filters:?} {by:?}, {stored}");
            assert!(!answers[0].is_empty(), "{filters:?} {by:?}, {stored}");
        }
    }
}

fn all(progress: &Progress) -> AttributeRows<'_> {
    AttributeRows { start_ns: i64::MIN..i64::MAX, most: None, threads: 2, progress }
}

/// More groups than an answer holds: the smallest come together, and nothing is lost.
#[test]
fn the_smallest_groups_come_together() {
    let mut world = World::new(3, 1500).on_hosts().with_attributes();
    for (at, record) in world.records.iter().enumerate() {
        let said = world.said.entry(record.id.0).or_default();
        let value = if at % 3 == 0 { "often".to_owned() } else { at.to_string() };
        said.properties.push(("request".to_owned(), value));
        said.properties.push(("long".to_owned(), "l".repeat(256)));
    }
    let (_, _dir, snapshot) = stores(&world).remove(0);
    let question = Question::sync("Y::c");
    let answer = asked(&snapshot, &question, &[], &["request"]);
    let found = answer.groups.as_ref().unwrap();
    assert_eq!(found.groups.len(), 1001, "the largest, and the others");
    assert_eq!(found.groups[0].values, [GroupValue::Text("often".into())]);
    assert_eq!(found.groups[1000].values, [GroupValue::Others]);
    let sum: u64 = found.groups.iter().map(|group| group.distribution.count).sum();
    assert_eq!(sum, answer.counts.used);
    assert_eq!(found.merged, found.groups[1000].distribution.count, "each a row of its own");
    assert_eq!(found.cut, [false]);
    let long = asked(&snapshot, &question, &[], &["long"]);
    assert_eq!(groups(&long).into_keys().collect::<Vec<_>>(), ["(others)"]);
    let selection = select(&[], &["request"]);
    let (limits, progress) = (Limits::default(), Progress::default());
    let all = i64::MIN..i64::MAX;
    let by_class = class_groups(&snapshot, &all, &selection, &limits, &progress).unwrap();
    let rows = by_class.classes.iter().map(|group| group.statistics.elapsed.count());
    assert_eq!(rows.sum::<u64>(), world.records.len() as u64);
    assert!(by_class.merged > 0 && by_class.classes.len() <= 1000 + CLASSES.len());
    let few = Limits { memory_bytes: 1000, ..limits };
    let refused = class_groups(&snapshot, &all, &selection, &few, &progress).unwrap_err();
    assert!(refused.to_string().contains("rows"), "{refused}");
}
