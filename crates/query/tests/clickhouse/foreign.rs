//! Chains with foreign rows that are linked again, because rows or aliases came late.

use crate::both::{Both, sink, store};
use crate::cluster::Servers;
use crate::every::leaves::{Extent, leaf_questions, listed};
use crate::world::World;
use crate::{End, every};
use chronoscope_clickhouse::{
    Cluster, LinkedCell, LinkedRow, PrunedLinkings, Publication, new_version,
};
use chronoscope_model::{ChainId, Record};
use chronoscope_query::{Limits, Question, StoreLocation};
use chronoscope_store::ChainAlias;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Rows and aliases of foreign and mixed chains that come when these were linked: before they are
/// linked again, and after, also on other shards and in other minutes than what changed. Who asks
/// meanwhile gets what was so before or what is so after it, and never a mixture.
pub(super) fn late_rows_and_aliases_of_foreign_chains_are_linked(servers: &Servers) {
    let database = "foreign_late";
    let mut world = World::new(15, 300).on_hosts().without_dropped_ancestors();
    // Roots of foreign chains with leaves come last, one by one.
    let is_late = |row: &Record| row.flags != 0 && row.parent.is_none();
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
    let files = |rows: &[Record], aliases: &[ChainAlias]| {
        let records = world.records.iter().chain(rows).copied().collect();
        let mut all = World::of(world.names.clone(), records);
        all.aliases = aliases.to_vec();
        Both::of(remote.clone(), &all)
    };
    let mut steps: Vec<Both> = (0..=4).map(|rows| files(&late[..rows], &[])).collect();
    steps.extend((1..=aliases.len()).map(|told| files(&late, &aliases[..told])));
    steps[0].seal();
    assert!(steps[0].reads_linked_rows());
    steps[0].assert_same_leaves("before late rows");
    // The durations, and all of them with their chains: each is a question by itself.
    let question = &leaf_questions()[0].1;
    let answers: [fn(&StoreLocation, &Question) -> String; 2] = [
        |of, question| format!("{:?}", every::told(&of.ask(question, &Limits::default()).unwrap())),
        listed,
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
            let what = format!("late foreign rows, step {number}");
            step.assert_same_in_short(Extent::EachWay, &what);
            // A row that is not linked yet concerns the chains of its minute only.
            assert_eq!(step.reads_linked_rows(), number <= late.len(), "step {number}");
            let sealed = step.seal();
            assert!(sealed.foreign > 0 && step.reads_linked_rows(), "step {number}: {sealed:?}");
            step.assert_same_in_short(Extent::EachWay, &format!("{what}, linked"));
            // Whoever reads what was replaced loses it in the middle of a question, and notices.
            let pruned = sink.cluster().prune_linkings(&all, Duration::ZERO).unwrap();
            assert!(pruned.replaced > 0, "step {number}: {pruned:?}");
            assert!(step.reads_linked_rows(), "step {number}: deleting is no change");
            step.assert_same_in_short(Extent::Few, &format!("{what}, pruned"));
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
