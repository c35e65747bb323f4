//! A store of two ClickHouse shards gives the answers of files. One start of the servers serves most
//! tests here: each has a database of its own.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // helpers of tests

mod cluster;
mod every;
#[path = "../../store/tests/support/mod.rs"]
mod support;
mod world;

use chronoscope_clickhouse::{
    ChainLink, Cluster, ClusterWriter, LinkedCell, LinkedRow, PrunedLinkings, Publication,
    SealedMinute, TableOptions, duration_cell, new_version, shard_of,
};
use chronoscope_model::{
    Batch, ChainId, ClassName, Flags, FurtherParent, Names, ParentRoot, TransactionId,
};
use chronoscope_query::{
    ChainOrder, ClassStatistics, DurationCache, InputCase, Limits, Point, Progress,
    QueryEnvironment, QueryError, Question, Raster, Sealed, StoreLocation, StoreView,
};
use chronoscope_statistics::{Histogram, Scale};
use chronoscope_store::{
    Aliases, Append, ChainAlias, ClockReading, Delivery, MINUTE_NS, Options, RemoteNotes, Store,
};
use cluster::Servers;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use world::World;

/// Puts a world into a database, in batches; what it is asked through.
fn store(servers: &Servers, database: &str, world: &World, batches: usize) -> StoreLocation {
    let sink = sink(servers, database);
    for (index, records) in world.records.chunks(world.records.len().div_ceil(batches)).enumerate()
    {
        sink.insert(&world.batch(records), &world.names, index as u128 + 1).unwrap();
        if index == batches / 2 {
            sink.cluster().add_aliases(&world.aliases).unwrap();
        }
    }
    note(&sink, world);
    StoreLocation::open(&servers.url(database)).unwrap()
}

/// What a world's senders say besides rows.
fn note(sink: &ClusterWriter, world: &World) {
    let delivery = |until_ns| Delivery { until_ns, exports: false };
    let delivered: Vec<_> = world.delivered.iter().map(|(id, at)| (*id, delivery(*at))).collect();
    let (names, lost, losses) = (&world.names, &world.lost()[..], &world.losses[..]);
    sink.note(&RemoteNotes { names, lost, losses, delivered: &delivered, clocks: &[] }).unwrap();
}

fn sink(servers: &Servers, database: &str) -> ClusterWriter {
    let cluster = Cluster::new(&servers.url(database)).unwrap();
    cluster.prepare(&TableOptions::default()).unwrap();
    ClusterWriter::new(cluster)
}

fn batch(records: &[chronoscope_model::Record]) -> Batch {
    let mut batch = Batch::default();
    records.iter().for_each(|record| batch.push(*record, b""));
    batch
}

fn rows(servers: &Servers, database: &str) -> Vec<u64> {
    let count = |index| servers.sql(index, &format!("SELECT count() FROM {database}.transactions"));
    [count(0), count(1)].map(|count| count.parse().unwrap()).to_vec()
}

#[test]
fn two_shards() {
    let Some(mut servers) = Servers::start(2) else { return };
    answers_are_those_of_files(&servers);
    aliases_are_those_of_files(&servers);
    late_rows_and_aliases_of_foreign_chains_are_linked(&servers);
    further_parents_join_chains(&servers);
    answers_about_native_chains_are_those_of_files(&servers);
    durations_on_one_host_are_of_one_clock(&servers);
    rows_that_come_later_are_seen(&servers);
    late_rows_are_linked(&servers);
    every::assert_no_difference();
    chains_and_classes_are_those_of_files(&servers);
    excerpts_are_those_of_files(&servers);
    a_batch_is_taken_once(&servers);
    names_are_found_again(&servers);
    tables_belong_to_their_shard(&servers);
    a_shard_that_is_killed_keeps_what_was_acknowledged(&mut servers);
}

#[test]
fn durations_that_were_replaced_are_deleted() {
    let Some(servers) = Servers::start(2) else { return };
    let mut world = World::new(11, 60).on_hosts();
    world.records.retain(|record| !record.flags().contains(Flags::FOREIGN));
    let early = World::of(world.names.clone(), world.records[..world.records.len() / 2].to_vec());
    let (late, database) = (world.batch(&world.records[early.records.len()..]), "replaced");
    let before = Both::new(&servers, database, &early, 1);
    before.seal();
    sink(&servers, database).insert(&late, &world.names, 98).unwrap();
    before.seal();
    let answer = |of: &StoreLocation| {
        let answer = of.ask(&Question::acpd("X::a", "c"), &Limits::default()).unwrap();
        (answer.durations_ns, answer.counts)
    };
    let dir = tempfile::tempdir().unwrap();
    world.store(dir.path(), &[1.0], true);
    let expected = answer(&StoreLocation::Files(dir.path().to_owned()));
    assert!(expected.0.len() > 20 && answer(&before.remote) == expected);
    replaced_durations_are_deleted(&servers, database);
    assert_eq!(answer(&before.remote), expected, "what was replaced is deleted");
}

/// Tells a reader to end, also where a step fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Files and a cluster with the rows of a world.
struct Both {
    remote: StoreLocation,
    local: StoreLocation,
    _dir: tempfile::TempDir,
}

impl Both {
    fn new(servers: &Servers, database: &str, world: &World, batches: usize) -> Self {
        let remote = store(servers, database, world, batches);
        let dir = tempfile::tempdir().unwrap();
        world.store(dir.path(), &[1.0], true);
        Self { remote, local: StoreLocation::Files(dir.path().to_owned()), _dir: dir }
    }

    /// Links the native chains of the cluster; how many rows have something wrong.
    fn seal(&self) -> Sealed {
        let StoreLocation::Cluster(view) = &self.remote else { panic!("it is no cluster") };
        view.seal(&(i64::MIN..=i64::MAX), &Progress::default()).unwrap()
    }

    /// Whether leaves of a class are answered from linked rows.
    fn reads_linked_rows(&self) -> bool {
        let limits = Limits::default();
        let of = |view: &StoreView| {
            every::leaf_questions().into_iter().all(|(_, question)| {
                let rows = view.leaf_rows_of(&question, false, &limits, &Progress::default());
                rows.unwrap().segments().iter().any(|segment| segment.is_linked)
            })
        };
        self.remote.with(|view| Ok(of(view))).unwrap()
    }

    /// Those answers of both that are made of linked rows, where there are such.
    fn assert_same_leaves(&self, what: &str) {
        let expected = every::leaf_answers(&self.local);
        every::leaf_answers(&self.remote).compare(&expected, what);
    }

    /// All answers of both; of the first world once more, with what was kept.
    fn assert_same(&self, what: &str) {
        let caches = [DurationCache::default(), DurationCache::default()];
        for round in 0..if what == "answers" { 2 } else { 1 } {
            let expected = every::answers(&self.local, &caches[0]);
            let found = every::answers(&self.remote, &caches[1]);
            found.compare(&expected, &format!("{what}, round {round}"));
        }
    }
}

/// Native, foreign and mixed chains, rows that are missing or late, ancestors that were dropped,
/// clocks that disagree, hosts, attributes and links.
fn answers_are_those_of_files(servers: &Servers) {
    for (database, seed, chains, batches) in [("answers", 1, 400, 1), ("in_batches", 2, 300, 7)] {
        let world = World::new(seed, chains).on_hosts();
        // Of the second one linked rows suffice.
        let whole = database == "in_batches";
        let world = if whole { world.without_dropped_ancestors() } else { world };
        let world = world.with_attributes().with_links();
        let world = if whole { world } else { world.with_losses() };
        let both = Both::new(servers, database, &world, batches);
        let each = rows(servers, database);
        assert!(each.iter().all(|rows| *rows > 400), "both shards have their part: {each:?}");
        both.assert_same(database);
        assert!(!both.reads_linked_rows());
        let sealed = both.seal();
        assert!(sealed.foreign > 400, "{sealed:?}");
        both.assert_same(&format!("{database}, linked"));
        assert_eq!(both.reads_linked_rows(), whole);
        both.assert_same_leaves(&format!("{database}, leaves linked"));
        assert_eq!(both.seal(), Sealed::default(), "nothing has changed");
        let small = Limits { memory_bytes: 10_000, ..Limits::default() };
        for (name, question) in every::questions() {
            let told = |location: &StoreLocation, limits| {
                format!("{:#?}", every::told(&location.ask(&question, limits).unwrap()))
            };
            let (found, expected) =
                (told(&both.remote, &small), told(&both.local, &Limits::default()));
            assert!(found == expected, "{database}, {name}, in small pieces");
        }
    }
}

/// Chains that go on others, told when half of their rows are there.
fn aliases_are_those_of_files(servers: &Servers) {
    let world = World::new(12, 300).on_hosts().with_links().with_aliases();
    let both = Both::new(servers, "aliases", &world, 3);
    both.assert_same("aliases");
    both.seal();
    both.assert_same("aliases, linked");
    let chains: BTreeMap<_, _> = world.records.iter().map(|r| (r.chain(), r.start_ns)).collect();
    let chains: Vec<_> = chains.into_iter().step_by(3).collect();
    let [found, expected] = [&both.remote, &both.local].map(|of| every::chains(of, &chains));
    found.compare(&expected, "chains with aliases");
}

/// Without foreign rows files ask every minute on its own; with them, all at once.
fn answers_about_native_chains_are_those_of_files(servers: &Servers) {
    let mut world = World::new(8, 300).on_hosts().with_attributes().without_dropped_ancestors();
    world = world.with_losses();
    let foreign: BTreeSet<ChainId> =
        world.records.iter().filter(|r| r.flags != 0).map(|record| record.chain()).collect();
    world.records.retain(|record| !foreign.contains(&record.chain()));
    let rows = world.records.len() as u64;
    let both = Both::new(servers, "native", &world, 3);
    both.assert_same("native");
    let sealed = both.seal();
    assert!(sealed.rows == rows && sealed.unusual > 50 && sealed.minutes == 6, "{sealed:?}");
    both.assert_same("native, linked");
    both.assert_same_leaves("native leaves, linked");
    assert!(both.reads_linked_rows());
    assert_eq!(both.seal(), Sealed::default(), "nothing has changed");
    // Another process, which has fetched nothing yet.
    let remote = StoreLocation::open(&servers.url("native")).unwrap();
    let both = Both { remote, ..both };
    both.assert_same("native, linked, elsewhere");
    // As a program before version 8 of the tables linked them.
    let on_both = |sql: &str| (0..2).for_each(|shard| drop(servers.sql(shard, sql)));
    on_both(
        "ALTER TABLE native.sealed_minutes UPDATE durations = 0 WHERE 1 SETTINGS mutations_sync = 2",
    );
    both.assert_same_leaves("native, linked without durations");
    assert_eq!(both.seal().minutes, 6);
    both.assert_same_leaves("native, linked once more");
    // As a program before version 9 filled in what is known of a minute's durations.
    on_both(
        "ALTER TABLE native.path_extents UPDATE shortest_ns = -1 WHERE minute % 2 = 0 \
         SETTINGS mutations_sync = 2",
    );
    both.assert_same_leaves("native, linked without the shortest");
    leaves_are_answered_by_the_shards(servers);
}

/// Nothing else is asked for leaves: without what the shards have filled in there are none.
fn leaves_are_answered_by_the_shards(servers: &Servers) {
    let (limits, progress, cache) = Default::default();
    let asking = QueryEnvironment { limits: &limits, progress: &progress, cache: &cache };
    let question = Question::acpd("X::a", "c");
    let raster = Raster { width: 20, height: 30, scale: Scale::Log };
    let counts = || {
        // Of its own, so that nothing is kept of what was fetched.
        let remote = StoreLocation::open(&servers.url("native")).unwrap();
        let counts = remote.with(|view| {
            let (listed, _) = view.list_chains(&question, (ChainOrder::First, 5), &asking)?;
            let picture = view.scatter(&question, raster, &asking)?;
            let again = view.ask_again(&question, &asking)?;
            let asked = view.ask(&question, &limits)?;
            Ok([listed, picture.total, again.counts.used, asked.counts.used])
        });
        counts.unwrap()
    };
    assert!(counts().into_iter().all(|count| count > 100));
    (0..2).for_each(|shard| drop(servers.sql(shard, "TRUNCATE TABLE native.durations")));
    assert_eq!(counts(), [0; 4]);
    // Nor where durations cross hosts whose clocks were read.
    note_clock(servers, "native");
    assert_eq!(counts(), [0; 4]);
}

/// A reading of the clock of the roots' host.
fn reading() -> ClockReading {
    let (host, at_ns) = ("one".to_owned(), 101 * MINUTE_NS);
    ClockReading { host, at_ns, offset_ns: 5, error_ns: 1000 }
}

fn note_clock(servers: &Servers, database: &str) {
    let (names, clocks) = (&Names::default(), &[reading()]);
    let notes = RemoteNotes { names, lost: &[], losses: &[], delivered: &[], clocks };
    sink(servers, database).note(&notes).unwrap();
}

/// Of one host clocks make no difference between the shards' durations and their leaves.
fn durations_on_one_host_are_of_one_clock(servers: &Servers) {
    let mut world = World::new(21, 200).on_hosts().without_dropped_ancestors();
    let foreign: BTreeSet<ChainId> =
        world.records.iter().filter(|r| r.flags != 0).map(|record| record.chain()).collect();
    world.records.retain(|record| !foreign.contains(&record.chain()));
    let only = world::process(0).id();
    for record in &mut world.records {
        (record.process, record.root_process) = (only, only);
    }
    let both = Both::new(servers, "one_host", &world, 1);
    note_clock(servers, "one_host");
    let clocks = &[reading()];
    let StoreLocation::Files(dir) = &both.local else { panic!("no files") };
    let files = Store::open(dir, Options::default(), 110 * MINUTE_NS).unwrap();
    files.append(&Append { clocks, ..Append::default() }, 110 * MINUTE_NS).unwrap();
    files.sync().unwrap();
    drop(files);
    both.seal();
    both.assert_same_leaves("leaves on one host, whose clock was read");
    let limits = Limits::default();
    let ask = || {
        let remote = StoreLocation::open(&servers.url("one_host")).unwrap();
        remote.ask(&Question::acpd("X::a", "c"), &limits).unwrap()
    };
    let answer = ask();
    let quality = answer.clocks.unwrap();
    let durations = answer.counts.used + answer.counts.negative;
    assert_eq!((quality.durations, quality.crossings.count), (durations, 0));
    assert!(answer.counts.used > 100);
    (0..2).for_each(|at| drop(servers.sql(at, "TRUNCATE TABLE one_host.durations")));
    assert_eq!(ask().counts.used, 0, "the shards have answered");
}

/// Rows and aliases of foreign and mixed chains that come when these were linked: before they are
/// linked again, and after, also on other shards and in other minutes than what changed. Who asks
/// meanwhile gets what was so before or what is so after it, and never a mixture.
fn late_rows_and_aliases_of_foreign_chains_are_linked(servers: &Servers) {
    let database = "foreign_late";
    let mut world = World::new(15, 300).on_hosts().without_dropped_ancestors();
    // Roots of foreign chains with leaves come last, one by one.
    let is_late = |row: &chronoscope_model::Record| row.flags != 0 && row.parent.is_none();
    let mut late = Vec::new();
    for row in world.records.iter().filter(|row| is_late(row)) {
        let of_chain = world.records.iter().filter(|other| other.chain() == row.chain());
        if late.len() < 4 && of_chain.count() > 5 {
            late.push(*row);
        }
    }
    assert_eq!(late.len(), 4);
    world.records.retain(|row| late.iter().all(|late| late.id != row.id));
    // The four chains, and what they go on, are told at last.
    let foreign = world.records.iter().filter(|row| row.flags != 0).map(|row| row.chain());
    let others: Vec<ChainId> = foreign.filter(|c| late.iter().all(|l| l.chain() != *c)).collect();
    let aliases: Vec<ChainAlias> = (0..4)
        .map(|at| ChainAlias { chain: late[at].chain(), continues: others[at * others.len() / 4] })
        .chain([ChainAlias { chain: others[0], continues: others[others.len() - 1] }])
        .collect();
    let remote = store(servers, database, &world, 3);
    let files = |rows: &[chronoscope_model::Record], aliases: &[ChainAlias]| {
        let dir = tempfile::tempdir().unwrap();
        let records = world.records.iter().chain(rows).copied().collect();
        let mut all = World::of(world.names.clone(), records);
        all.aliases = aliases.to_vec();
        all.store(dir.path(), &[1.0], true);
        Both {
            remote: remote.clone(),
            local: StoreLocation::Files(dir.path().to_owned()),
            _dir: dir,
        }
    };
    let mut steps: Vec<Both> = (0..=4).map(|rows| files(&late[..rows], &[])).collect();
    steps.extend((1..=aliases.len()).map(|told| files(&late, &aliases[..told])));
    steps[0].seal();
    assert!(steps[0].reads_linked_rows());
    steps[0].assert_same_leaves("before late rows");
    // The durations, and all of them with their chains: each is a question by itself.
    let question = &every::leaf_questions()[0].1;
    let answers: [fn(&StoreLocation, &Question) -> String; 2] = [
        |of, question| format!("{:?}", every::told(&of.ask(question, &Limits::default()).unwrap())),
        every::listed,
    ];
    let expected = answers.map(|answer| {
        let all: Vec<String> = steps.iter().map(|step| answer(&step.local, question)).collect();
        all
    });
    let distinct = [0, 1].map(|of| expected[of].iter().collect::<BTreeSet<_>>().len());
    assert!(distinct[0] > 3 && distinct[1] > 7, "steps change what is found: {distinct:?}");
    let ended = AtomicBool::new(false);
    let sink = sink(servers, database);
    let all = i64::MIN..=i64::MAX;
    std::thread::scope(|scope| {
        let end = End(&ended);
        let reader = scope.spawn(|| {
            // A reader of its own, which has fetched nothing.
            let remote = StoreLocation::open(&servers.url(database)).unwrap();
            let (mut at, mut read) = ([0; 2], 0);
            while !ended.load(Ordering::Relaxed) {
                let of = read % 2;
                let found = answers[of](&remote, question);
                let later = expected[of][at[of]..].iter().position(|step| *step == found);
                at[of] += later.unwrap_or_else(|| panic!("neither before nor after: {at:?}"));
                read += 1;
            }
            read
        });
        for (number, step) in steps.iter().enumerate().skip(1) {
            if number <= late.len() {
                let row = world.batch(&late[number - 1..number]);
                sink.insert(&row, &world.names, 900 + number as u128).unwrap();
            } else {
                let alias = &aliases[number - 1 - late.len()..][..1];
                sink.cluster().add_aliases(alias).unwrap();
            }
            step.assert_same_leaves(&format!("late foreign rows, step {number}"));
            // A row that is not linked yet concerns the chains of its minute only.
            assert_eq!(step.reads_linked_rows(), number <= late.len(), "step {number}");
            let sealed = step.seal();
            assert!(sealed.foreign > 0 && step.reads_linked_rows(), "step {number}: {sealed:?}");
            step.assert_same_leaves(&format!("late foreign rows, step {number}, linked"));
            // Whoever reads what was replaced loses it in the middle of a question, and notices.
            let pruned = sink.cluster().prune_linkings(&all, Duration::ZERO).unwrap();
            assert!(pruned.replaced > 0, "step {number}: {pruned:?}");
            assert!(step.reads_linked_rows(), "step {number}: deleting is no change");
            step.assert_same_leaves(&format!("late foreign rows, step {number}, pruned"));
        }
        drop(end);
        assert!(reader.join().unwrap() > 0);
    });
    nothing_stays_that_was_replaced(servers, database, &steps[steps.len() - 1]);
    // Two that link at the same time: one of them has its linking, and the rows are linked once.
    let cluster = Cluster::new(&servers.url(database)).unwrap();
    let before = cluster.linkings(&(i64::MIN..=i64::MAX)).unwrap();
    let publication = |version| Publication {
        version,
        aliases: before.aliases,
        aliases_until_ns: before.aliases_until_ns,
        cells: before.cells.clone(),
    };
    assert!(cluster.publish_linking(&before, &publication(7)).unwrap());
    assert!(!cluster.publish_linking(&before, &publication(8)).unwrap());
    let last = "SELECT DISTINCT version FROM foreign_late.linkings \
        WHERE sequence = (SELECT max(sequence) FROM foreign_late.linkings)";
    assert_eq!(servers.sql(0, last), "7");
}

/// Gives a row a further parent, as its correlator would.
fn link(world: &mut World, row: usize, to: usize) {
    let parent = world.records[to];
    let root = (!parent.flags().contains(Flags::FOREIGN)).then_some(ParentRoot {
        start_ns: parent.root_start_ns,
        process: parent.root_process,
        level: parent.level,
        path: parent.path,
    });
    let link = FurtherParent { chain: parent.chain(), id: parent.id, root };
    world.said.entry(world.records[row].id.0).or_default().links.push(link);
    world.records[row].flags |= Flags::FURTHER_PARENTS.0;
}

/// Links with the chains that they join: each of these by the smallest id of theirs.
fn told_links(links: &[ChainLink]) -> String {
    let mut smallest: BTreeMap<ChainId, ChainId> = BTreeMap::new();
    for link in links {
        let known = smallest.entry(link.component).or_insert(link.chain);
        *known = link.chain.min(link.of).min(*known);
    }
    let told: BTreeSet<String> = links
        .iter()
        .map(|link| format!("{:?}", ChainLink { component: smallest[&link.component], ..*link }))
        .collect();
    format!("{told:#?}")
}

/// What is to be stored of the links of some rows.
fn expected_links(
    world: &World,
    rows: &[chronoscope_model::Record],
    told: &[ChainAlias],
) -> String {
    let mut aliases = Aliases::default();
    told.iter().for_each(|alias| aliases.insert(*alias, 0));
    let mut links = Vec::new();
    for row in rows {
        for parent in world.said.get(&row.id.0).iter().flat_map(|said| &said.links) {
            let minute = row.root_start_ns.div_euclid(MINUTE_NS);
            let (chain, id, component) = (row.chain(), row.id, aliases.resolve(row.chain()));
            let (of, of_id) = (parent.chain, parent.id);
            links.push(ChainLink { minute, chain, id, of, of_id, component });
        }
    }
    // Whatever is joined takes the smaller id, until nothing changes.
    loop {
        let mut of_chain: BTreeMap<ChainId, ChainId> = BTreeMap::new();
        for link in &links {
            for end in [link.chain, link.of].map(|end| aliases.resolve(end)) {
                let known = of_chain.entry(end).or_insert(link.component);
                *known = link.component.min(*known);
            }
        }
        let before = links.clone();
        for link in &mut links {
            let ends = [link.chain, link.of].map(|end| of_chain[&aliases.resolve(end)]);
            link.component = ends[0].min(ends[1]);
        }
        if links == before {
            return told_links(&links);
        }
    }
}

/// Rows with further parents in chains of both shards, native and foreign: their links are stored on
/// the shards of both, and chains that links join have one component, also when a link, the parent
/// that it names, or an alias comes late. Who reads meanwhile sees what was so before or after it.
fn further_parents_join_chains(servers: &Servers) {
    let database = "fan_in";
    let mut world = World::new(21, 240).on_hosts();
    let count = world.records.len();
    for consumer in 0..40 {
        let row = consumer * 97 % count;
        for other in 1..=2 {
            let to = (consumer * 211 + other * 37) % count;
            link(&mut world, row, to);
        }
    }
    // Two rows with links, a row that a link names, and a row of no link come late.
    let linked = |row: &chronoscope_model::Record| row.flags().contains(Flags::FURTHER_PARENTS);
    let named: BTreeSet<u64> =
        world.said.values().flat_map(|said| &said.links).map(|link| link.id.0).collect();
    let of_kind = |foreign: bool| {
        let is_foreign =
            move |row: &&chronoscope_model::Record| row.flags().contains(Flags::FOREIGN) == foreign;
        let of_kind: Vec<u64> = world
            .records
            .iter()
            .filter(is_foreign)
            .filter(|row| linked(row))
            .map(|row| row.id.0)
            .collect();
        of_kind[of_kind.len() / 2]
    };
    let parent = world.records.iter().find(|row| named.contains(&row.id.0) && !linked(row));
    let late = [of_kind(true), of_kind(false), parent.unwrap().id.0];
    let late = late.map(|id| *world.records.iter().find(|row| row.id.0 == id).unwrap());
    // Chains of links go on each other, and one goes on a chain without a link.
    let ends: BTreeSet<ChainId> = world
        .records
        .iter()
        .filter(|row| {
            row.flags().contains(Flags::FOREIGN) && (linked(row) || named.contains(&row.id.0))
        })
        .map(|row| row.chain())
        .collect();
    let ends: Vec<ChainId> = ends.into_iter().collect();
    let alias = |chain: usize, continues: usize| ChainAlias {
        chain: ends[chain],
        continues: ends[continues],
    };
    let aliases = [alias(0, ends.len() - 1), alias(1, ends.len() / 2), alias(ends.len() / 2, 0)];
    world.records.retain(|row| late.iter().all(|late| late.id != row.id));
    let remote = store(servers, database, &world, 3);
    let step = |rows: usize, told: usize| {
        let dir = tempfile::tempdir().unwrap();
        let records = world.records.iter().chain(&late[..rows]).copied().collect();
        let mut all = World::of(world.names.clone(), records);
        all.said = world.said.clone();
        all.aliases = aliases[..told].to_vec();
        all.store(dir.path(), &[1.0], true);
        let links = expected_links(&world, &all.records, &all.aliases);
        let local = StoreLocation::Files(dir.path().to_owned());
        (Both { remote: remote.clone(), local, _dir: dir }, links)
    };
    let mut steps: Vec<_> = (0..=late.len()).map(|rows| step(rows, 0)).collect();
    steps.extend((1..=aliases.len()).map(|told| step(late.len(), told)));
    let distinct: BTreeSet<&String> = steps.iter().map(|(_, links)| links).collect();
    assert!(distinct.len() >= 5, "{} of {} steps change links", distinct.len(), steps.len());
    let sink = sink(servers, database);
    let (cluster, all) = (sink.cluster(), i64::MIN..=i64::MAX);
    let stored = || told_links(&cluster.all_chain_links(&all).unwrap());
    let check = |number: usize, both: &Both, when: &str| {
        let what = format!("further parents, step {number}, {when}");
        every::input_answers(&both.remote).compare(&every::input_answers(&both.local), &what);
    };
    steps[0].0.seal();
    assert_eq!(stored(), steps[0].1);
    check(0, &steps[0].0, "linked");
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let end = End(&ended);
        let reader = scope.spawn(|| {
            let (mut at, mut read) = (0, 0);
            while !ended.load(Ordering::Relaxed) {
                let found = stored();
                let later = steps[at..].iter().position(|(_, links)| *links == found);
                at += later.unwrap_or_else(|| panic!("neither before nor after step {at}"));
                read += 1;
            }
            read
        });
        for (number, (both, links)) in steps.iter().enumerate().skip(1) {
            if number <= late.len() {
                let row = world.batch(&late[number - 1..number]);
                sink.insert(&row, &world.names, 900 + number as u128).unwrap();
            } else {
                cluster.add_aliases(&aliases[number - 1 - late.len()..][..1]).unwrap();
            }
            check(number, both, "not linked yet");
            let sealed = both.seal();
            assert!(sealed.foreign > 0, "step {number}: {sealed:?}");
            assert_eq!(stored(), *links, "step {number}");
            cluster.prune_linkings(&all, Duration::ZERO).unwrap();
            check(number, both, "linked and pruned");
            assert_eq!(both.seal(), Sealed::default(), "nothing has changed");
        }
        drop(end);
        assert!(reader.join().unwrap() > 0);
    });
    // Each on the shards of both chains, and nowhere else.
    let linkings = cluster.linkings(&all).unwrap();
    let on = |shard| cluster.chain_links(shard, &linkings, (&|_| true, "1")).unwrap();
    let (mut both, mut one) = (0, 0);
    for (shard, links) in [on(0), on(1)].iter().enumerate() {
        for link in links {
            let shards = [link.chain, link.of].map(|chain| shard_of(chain, 2));
            assert!(shards.contains(&shard), "{link:?} on {shard}");
            both += usize::from(shards[0] != shards[1]);
            one += usize::from(shards[0] == shards[1]);
        }
    }
    assert_eq!((both % 2, both / 2 + one), (0, cluster.all_chain_links(&all).unwrap().len()));
    assert!(both > 20 && one > 10, "{both}, {one}");
    let StoreLocation::Cluster(view) = &remote else { panic!("it is no cluster") };
    let question = Question { points: true, ..Question::acpd("X::b", "Y::d") };
    let (limits, progress) = (Limits::default(), Progress::default());
    let found = view.ask_linked_inputs(&question, InputCase::All, &limits, &progress).unwrap();
    assert!(found.is_some(), "it is known which chains can matter");
}

/// What `linkings` has is bounded by the minutes that have rows, and the shards have no version besides;
/// what a writer leaves that was killed before it published goes too, and it cannot publish any more.
fn nothing_stays_that_was_replaced(servers: &Servers, database: &str, last: &Both) {
    let cluster = Cluster::new(&servers.url(database)).unwrap();
    let all = i64::MIN..=i64::MAX;
    let prune = |minutes| cluster.prune_linkings(minutes, Duration::ZERO).unwrap();
    let before = cluster.linkings(&all).unwrap();
    let row = LinkedRow {
        minute: 100,
        path: "X::a".into(),
        root_start_ns: 1,
        start_ns: 1,
        elapsed_ns: 1,
        links: 0,
        hosts: ["h".into(), "h".into()],
        component: ChainId(7),
    };
    let orphan = new_version();
    cluster.insert_linked_rows(0, orphan, std::slice::from_ref(&row)).unwrap();
    assert_eq!(prune(&(200..=300)).unpublished, 0, "of other minutes");
    assert_eq!(prune(&all).unpublished, 1);
    let cells =
        BTreeMap::from([((100, 0), LinkedCell { version: orphan, ..before.cells[&(100, 0)] })]);
    let (aliases, aliases_until_ns) = (before.aliases, before.aliases_until_ns);
    let late = Publication { version: orphan, aliases, aliases_until_ns, cells };
    assert!(!cluster.publish_linking(&before, &late).unwrap(), "its rows are gone");
    // A second look finds the line of the first one replaced, and then there is nothing.
    while prune(&all) != PrunedLinkings::default() {}
    let lines: usize =
        servers.sql(0, &format!("SELECT count() FROM {database}.linkings")).parse().unwrap();
    let cells = cluster.linkings(&all).unwrap().cells;
    // Where a minute has nothing on a shard there is no line in the end.
    let has_any = |cell: &LinkedCell| cell.rows + cell.linked + cell.chains > 0;
    assert!(cells.values().all(has_any));
    let mut expected = before.cells;
    expected.retain(|_, cell| has_any(cell));
    assert_eq!(cells, expected);
    assert!(lines <= cells.len() + 2, "{lines} lines, {} cells", cells.len());
    type Count = fn(&LinkedCell) -> u64;
    let tables: [(&str, Count); 2] =
        [("linked_rows", |cell| cell.linked), ("foreign_chains", |cell| cell.chains)];
    for (shard, (table, has)) in (0..2).flat_map(|shard| tables.map(|table| (shard, table))) {
        let of_shard = cells.iter().filter(|((_, of), cell)| *of == shard && has(cell) > 0);
        let expected: BTreeSet<String> =
            of_shard.map(|((minute, _), cell)| format!("{minute}\t{}", cell.version)).collect();
        let sql = format!("SELECT DISTINCT minute, version FROM {database}.{table}");
        let stored = servers.sql(shard, &sql);
        let stored: BTreeSet<String> = stored.lines().map(str::to_owned).collect();
        assert_eq!(stored, expected, "{table} of shard {shard}");
    }
    last.assert_same_leaves("late foreign rows, all pruned");
}

/// Rows that come when their minute was linked: until it is linked again it is put together anew.
fn late_rows_are_linked(servers: &Servers) {
    let mut world = World::new(10, 200).on_hosts();
    let foreign: BTreeSet<ChainId> =
        world.records.iter().filter(|r| r.flags != 0).map(|record| record.chain()).collect();
    world.records.retain(|record| !foreign.contains(&record.chain()));
    let most = world.records.len() - 40;
    let early = World::of(world.names.clone(), world.records[..most].to_vec());
    let before = Both::new(servers, "late", &early, 1);
    before.seal();
    before.assert_same("early rows, linked");
    let late = world.batch(&world.records[most..]);
    sink(servers, "late").insert(&late, &world.names, 98).unwrap();
    let dir = tempfile::tempdir().unwrap();
    world.store(dir.path(), &[1.0], true);
    let local = StoreLocation::Files(dir.path().to_owned());
    let both = Both { remote: before.remote.clone(), local, _dir: dir };
    both.assert_same("late rows");
    assert!((1..6).contains(&both.seal().minutes));
    both.assert_same("late rows, linked");
}

/// Versions with durations by shard: `MINUTE.VERSION`.
fn duration_cells(servers: &Servers, database: &str, table: &str) -> [BTreeSet<String>; 2] {
    let sql = format!("SELECT DISTINCT cell FROM {database}.{table}");
    [0, 1].map(|shard| servers.sql(shard, &sql).lines().map(str::to_owned).collect())
}

/// Of minutes that were linked twice the shards keep the durations of the newest version, and what a
/// writer leaves that was killed before it published goes once its minute is linked; what may still be
/// published stays.
fn replaced_durations_are_deleted(servers: &Servers, database: &str) {
    let cluster = Cluster::new(&servers.url(database)).unwrap();
    let all = i64::MIN..=i64::MAX;
    let newest = || -> [BTreeSet<String>; 2] {
        let by_shard = cluster.sealed_minutes(&all).unwrap();
        let cell = |(minute, of): (&i64, &SealedMinute)| duration_cell(*minute, of.version);
        [0, 1].map(|shard: usize| by_shard[shard].iter().map(cell).collect())
    };
    let tables = ["durations", "path_extents"];
    let stored = || tables.map(|table| duration_cells(servers, database, table));
    let (kept, before) = (newest(), stored());
    let replaced: usize =
        (0..2).map(|shard| before[0][shard].difference(&kept[shard]).count()).sum();
    assert!(replaced > 0 && before[0] == before[1], "{before:?}");
    assert!(cluster.is_linked_anew(&all, Duration::from_hours(1)).unwrap());
    let never = i64::MAX - 1..=i64::MAX;
    assert!(!cluster.is_linked_anew(&never, Duration::from_hours(1)).unwrap());
    let prune = |minutes, grace| cluster.prune_durations(minutes, grace).unwrap();
    assert_eq!(prune(&all, Duration::from_hours(1)), 0, "who reads them has an hour");
    assert_eq!(prune(&never, Duration::ZERO), 0, "of other minutes");
    assert_eq!(stored(), before);
    // Two writers that were killed before they published: one before the minute was linked, and
    // one after, which is not told from one that is still at work.
    let minute = *cluster.sealed_minutes(&all).unwrap()[0].keys().next().unwrap();
    let (dead, at_work) = (7, new_version() + (1 << 40));
    for version in [dead, at_work] {
        cluster.fill_durations(0, (minute, version), 0).unwrap();
    }
    // The first one was killed between the two tables.
    let of_dead = duration_cell(minute, dead);
    let sql = format!("DELETE FROM {database}.path_extents WHERE cell = '{of_dead}'");
    servers.sql(0, &sql);
    assert!(stored()[0][0].contains(&of_dead) && !stored()[1][0].contains(&of_dead));
    assert_eq!(prune(&all, Duration::ZERO), replaced as u64 + 1);
    let mut expected = kept.clone();
    expected[0].insert(duration_cell(minute, at_work));
    assert_eq!(stored(), [expected.clone(), expected]);
    assert_eq!(prune(&all, Duration::ZERO), 0, "there is nothing left to delete");
    assert_eq!(newest(), kept, "which version counts is as before");
}

/// Rows that come after a question are in the answer to the next.
fn rows_that_come_later_are_seen(servers: &Servers) {
    let world = World::new(9, 200).on_hosts();
    let half = World::of(world.names.clone(), world.records[..world.records.len() / 2].to_vec());
    let Both { remote, local, _dir } = Both::new(servers, "later", &half, 1);
    let cache = DurationCache::default();
    let before = every::answers(&remote, &cache);
    before.compare(&every::answers(&local, &DurationCache::default()), "the first half");
    let late = world.batch(&world.records[half.records.len()..]);
    sink(servers, "later").insert(&late, &world.names, 99).unwrap();
    let dir = tempfile::tempdir().unwrap();
    world.store(dir.path(), &[1.0], true);
    let all = StoreLocation::Files(dir.path().to_owned());
    let expected = every::answers(&all, &DurationCache::default());
    every::answers(&remote, &cache).compare(&expected, "both halves");
}

/// What rows of a class say, with properties and metrics.
fn excerpts_are_those_of_files(servers: &Servers) {
    let mut chains = support::Chains::default();
    let batch = chains.batch(100, 200);
    sink(servers, "excerpts").insert(&batch, &chains.names, 1).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let store = support::open(dir.path(), chronoscope_store::Options::default(), 100);
    support::append(&store, &chains, &batch, 100);
    let class = ClassName { application: "CWP".into(), class: "TargetView_redraw".into() };
    let at = 100 * MINUTE_NS;
    for (range, count) in [(i64::MIN..i64::MAX, 200), (at + 10_000_000..at + 20_000_000, 10)] {
        let rows = |source: &StoreLocation| {
            let mut rows = Vec::new();
            source.excerpts(&class, &range, &mut |row| rows.push(format!("{row:?}"))).unwrap();
            rows.sort();
            rows
        };
        let expected = rows(&StoreLocation::Files(dir.path().to_owned()));
        assert_eq!(expected.len(), count);
        assert_eq!(rows(&StoreLocation::open(&servers.url("excerpts")).unwrap()), expected);
    }
}

fn chains_and_classes_are_those_of_files(servers: &Servers) {
    let world = World::new(3, 60);
    let remote = store(servers, "chains", &world, 2);
    let dir = tempfile::tempdir().unwrap();
    world.store(dir.path(), &[1.0], true);
    let local = StoreLocation::Files(dir.path().to_owned());
    let chains: BTreeSet<ChainId> = world.records.iter().map(|record| record.chain()).collect();
    for chain in &chains {
        let expected = local.chain(*chain, None).unwrap();
        assert_eq!(remote.chain(*chain, None).unwrap(), expected);
        let near = expected.0[0].start_ns..expected.0[0].start_ns + 1;
        assert_eq!(remote.chain(*chain, Some(near)).unwrap(), expected);
        assert_eq!(remote.chain(*chain, Some(0..1)).unwrap(), (vec![], vec![]), "far away");
    }
    assert_eq!(remote.chain(ChainId(12345), None).unwrap(), (vec![], vec![]));
    let cut = 100 * MINUTE_NS + 7_000_000_000..101 * MINUTE_NS + 9_000_000_000;
    let whole = 101 * MINUTE_NS..102 * MINUTE_NS;
    for range in [i64::MIN..i64::MAX, 0..i64::MAX, whole, cut, 1..2] {
        let (found, _) = remote.classes(&range).unwrap();
        let (expected, _) = local.classes(&range).unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (name, class) in expected {
            let of = |h: &Histogram| {
                let buckets: Vec<_> = h.buckets().collect();
                (h.count(), h.sum(), h.min(), h.max(), buckets)
            };
            assert_eq!(of(&found[&name].elapsed), of(&class.elapsed), "{name} in {range:?}");
            let rest = |of: &ClassStatistics| (of.cpu_ns, of.cpu_known, of.not_good);
            assert_eq!(rest(&found[&name]), rest(&class), "{name} in {range:?}");
        }
    }
    let record = &world.records[0];
    let point = Point { start_ns: record.start_ns, duration_ns: 1 };
    assert_eq!(remote.locate(&point).unwrap(), local.locate(&point).unwrap());
    assert!(remote.locate(&point).unwrap().is_some());
    let nowhere = Point { start_ns: 5, duration_ns: 1 };
    assert_eq!(remote.locate(&nowhere).unwrap(), None);
}

fn a_batch_is_taken_once(servers: &Servers) {
    let world = World::new(4, 100);
    let sink = sink(servers, "once");
    let all = world.records.len() as u64;
    for _ in 0..3 {
        sink.insert(&batch(&world.records), &world.names, 77).unwrap();
        assert_eq!(rows(servers, "once").iter().sum::<u64>(), all);
    }
    // From another collector, which knows nothing of the first.
    let other = ClusterWriter::new(sink.cluster().clone());
    other.insert(&batch(&world.records), &world.names, 77).unwrap();
    assert_eq!(rows(servers, "once").iter().sum::<u64>(), all);
    // Streams: the same piece again, and how far they are in.
    assert_eq!(other.next_row(5).unwrap(), None);
    let take = |first, count| {
        let rows = batch(&world.records[first as usize - 10..][..count]);
        other.insert_stream(5, first, &rows, &world.names).unwrap()
    };
    assert_eq!(take(10, 100), 110);
    assert_eq!(take(10, 60), 110, "all of them were there");
    assert_eq!(take(60, all as usize - 50), 10 + all, "half of them were there");
    assert_eq!(rows(servers, "once").iter().sum::<u64>(), 2 * all);
    assert_eq!(sink.next_row(5).unwrap(), Some(10 + all));
    let rows_again = batch(&world.records[..50]);
    assert_eq!(sink.insert_stream(5, 10, &rows_again, &world.names).unwrap(), 10 + all);
    assert_eq!(rows(servers, "once").iter().sum::<u64>(), 2 * all);
}

/// A collector that was started anew gets rows whose names were said to the one before.
fn names_are_found_again(servers: &Servers) {
    let world = World::new(6, 50);
    let (first, second) = world.records.split_at(world.records.len() / 2);
    let before = sink(servers, "names");
    before.insert(&batch(first), &world.names, 1).unwrap();
    before.insert(&Batch::default(), &world.names, 2).unwrap();
    let after = ClusterWriter::new(before.cluster().clone());
    // Only paths of rows that came before are known to the cluster.
    let known: BTreeSet<_> = first.iter().map(|record| record.path).collect();
    let second: Vec<_> = second.iter().filter(|r| known.contains(&r.path)).copied().collect();
    assert!(second.len() > 50);
    after.insert(&batch(&second), &Names::default(), 3).unwrap();
    let unnamed = "SELECT count() FROM names.transactions WHERE class LIKE '?%'";
    assert_eq!([servers.sql(0, unnamed), servers.sql(1, unnamed)], ["0", "0"]);
    // What nobody ever named is stored under its number.
    let stray = chronoscope_model::Record {
        id: TransactionId(9),
        class: chronoscope_model::ClassId(0xabc),
        path: chronoscope_model::PathId(0xdef),
        ..second[0]
    };
    after.insert(&batch(&[stray]), &Names::default(), 4).unwrap();
    let source = StoreLocation::open(&servers.url("names")).unwrap();
    let (chain, _) = source.chain(stray.chain(), None).unwrap();
    let stray = chain.iter().find(|t| t.id == TransactionId(9)).unwrap();
    assert_eq!((&*stray.class.class, &*stray.path), ("?0000000000000abc", "?0000000000000def"));
    source.ask(&Question::acpd("a", "c"), &Limits::default()).unwrap();
}

fn tables_belong_to_their_shard(servers: &Servers) {
    sink(servers, "shards");
    let turned = format!("clickhouse://{},{}/shards", servers.name(1), servers.name(0));
    let error = Cluster::new(&turned).unwrap().prepare(&TableOptions::default()).unwrap_err();
    assert!(error.to_string().contains("is shard"), "{error}");
    servers.sql(0, "INSERT INTO shards.versions (version, shard, shards) VALUES (99, 0, 2)");
    let cluster = Cluster::new(&servers.url("shards")).unwrap();
    let error = cluster.prepare(&TableOptions::default()).unwrap_err().to_string();
    assert!(error.contains("version 99") && error.contains(&servers.name(0)), "{error}");
    let error = StoreLocation::open(&servers.url("nowhere")).unwrap().names().unwrap_err();
    assert!(matches!(error, QueryError::ClickHouse(_)), "{error}");
    assert!(error.to_string().contains("UNKNOWN_DATABASE"), "{error}");
}

fn a_shard_that_is_killed_keeps_what_was_acknowledged(servers: &mut Servers) {
    let world = World::new(5, 2000);
    let sink = sink(servers, "killed");
    let batches: Vec<Batch> = world.records.chunks(200).map(batch).collect();
    let insert = |index: usize| sink.insert(&batches[index], &world.names, index as u128 + 1);
    let half = batches.len() / 2;
    (0..half).for_each(|index| insert(index).unwrap());
    servers.kill(1);
    // What is sent meanwhile is refused, though one shard took its part of it.
    let next = 200 * half as u64;
    let piece = |count| batch(&world.records[200 * half..][..count]);
    let error = sink.insert_stream(8, next, &piece(200), &world.names).unwrap_err();
    assert!(error.is_passing() && error.to_string().contains(&servers.name(1)), "{error}");
    let source = StoreLocation::open(&servers.url("killed")).unwrap();
    let question = Question::acpd("X::a", "c");
    let error = source.ask(&question, &Limits::default()).unwrap_err().to_string();
    assert!(error.contains(&servers.name(1)), "no half answers: {error}");
    servers.restart(1);
    let acknowledged: u64 = batches[..half].iter().map(|batch| batch.len() as u64).sum();
    let there: u64 = rows(servers, "killed").iter().sum();
    assert!(there >= acknowledged, "{there} of {acknowledged}");
    // The sender cuts its rows anew, and nothing of the piece that one shard took is doubled.
    assert_eq!(sink.insert_stream(8, next, &piece(350), &world.names).unwrap(), next + 350);
    assert_eq!(sink.insert_stream(8, next, &piece(400), &world.names).unwrap(), next + 400);
    (half + 2..batches.len()).for_each(|index| insert(index).unwrap());
    assert_eq!(rows(servers, "killed").iter().sum::<u64>(), world.records.len() as u64);
    let dir = tempfile::tempdir().unwrap();
    world.store(dir.path(), &[1.0], true);
    let expected =
        StoreLocation::Files(dir.path().to_owned()).ask(&question, &Limits::default()).unwrap();
    let found = source.ask(&question, &Limits::default()).unwrap();
    assert_eq!(format!("{:?}", every::told(&found)), format!("{:?}", every::told(&expected)));
}
