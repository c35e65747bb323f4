//! What is stored in the end: every row once, and of linked chains what there is where nothing was
//! killed, and nothing besides.

use crate::cluster::Servers;
use crate::rows::Rows;
use crate::world::questions;
use chronoscope_clickhouse::{Cluster, ClusterWriter, PrunedLinkings, TableOptions};
use chronoscope_query::{
    ClusterView, Limits, Progress, QueryError, Question, Sealed, StoreLocation, StoreView,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// Tables whose versions `linkings` publishes, those whose versions `sealed_minutes` does, and those
/// whose greatest version counts; with the columns that depend on the way there. Components of links
/// have the id of one of their chains, and sums of squares depend on the order of adding.
const OF_LINKINGS: [(&str, &str); 3] = [
    ("linked_rows", "version"),
    ("foreign_chains", "version"),
    ("chain_links", "version, component_high, component_low"),
];
const OF_CELLS: [&str; 2] = ["durations", "path_extents"];
const OF_THEMSELVES: [(&str, &str, &str); 2] = [
    ("unusual_rows", "sealed_minutes", "version"),
    ("sketches", "sketches", "version, elapsed_squares, since_root_squares"),
];

/// A writer, for which the tables are made.
pub(crate) fn writer(url: &str) -> ClusterWriter {
    let cluster = Cluster::new(url).unwrap();
    cluster.prepare(&TableOptions::default()).unwrap();
    ClusterWriter::new(cluster)
}

/// Who links, and has fetched nothing yet.
pub(crate) fn view(url: &str) -> ClusterView {
    ClusterView::new(Cluster::new(url).unwrap())
}

/// Links all minutes; what was done.
pub(crate) fn link(view: &ClusterView) -> Result<Sealed, QueryError> {
    view.seal(&(i64::MIN..=i64::MAX), &Progress::default())
}

/// Every row is there once; answers are those of files, before the last rows are linked and after; the
/// linked tables are those of a database of the same rows that nothing was killed before; and nothing
/// is there besides.
pub(crate) fn assert_all_there(
    servers: &Servers,
    database: &str,
    rows: &Rows,
    files: &StoreLocation,
) {
    let world = &rows.world;
    let all = world.records.len() as u64;
    let (counts, different) = servers.different_rows(database);
    assert_eq!((counts.iter().sum::<u64>(), different), (all, all), "{counts:?}");
    let url = servers.url(database);
    let (remote, view) = (StoreLocation::open(&url).unwrap(), self::view(&url));
    let (limits, progress) = (Limits::default(), Progress::default());
    let same = |when: &str| {
        for (name, question) in questions(None) {
            // The others are about a minute of the past.
            if question.start_ns.start == i64::MIN {
                let of = [&remote, files].map(|of| of.ask(&question, &limits).unwrap());
                let told = of.map(|answer| (answer.durations_ns, answer.points, answer.counts));
                assert_eq!(told[0], told[1], "{name}, {when}");
            }
        }
    };
    same("the last rows are not linked");
    while link(&view).unwrap() != Sealed::default() {}
    same("linked");
    let leaves = Question::acpd("X::a", "c");
    let from_linked = |view: &StoreView| {
        let rows = view.leaf_rows_of(&leaves, false, &limits, &progress).unwrap();
        rows.segments().iter().any(|segment| segment.is_linked)
    };
    assert!(remote.with(|view| Ok(from_linked(view))).unwrap());
    assert_pruned(servers, database, view.cluster());
    same("what was replaced is deleted");
    let undisturbed = format!("{database}_undisturbed");
    let sink = writer(&servers.url(&undisturbed));
    for (key, records) in (1..).zip(world.records.chunks(20_000)) {
        sink.insert(&world.batch(records), &world.names, key).unwrap();
    }
    let undisturbed_view = self::view(&servers.url(&undisturbed));
    while link(&undisturbed_view).unwrap() != Sealed::default() {}
    let [found, expected] = [database, &undisturbed].map(|of| published(servers, of));
    assert_eq!(found, expected);
    assert!(found.values().all(|content| !content.starts_with("0\t")), "{found:?}");
}

/// Number of rows and a checksum of what is published, by table and shard.
fn published(servers: &Servers, database: &str) -> BTreeMap<(usize, &'static str), String> {
    let mut found = BTreeMap::new();
    for shard in 0..2 {
        let mut note = |table: &'static str, without: &str, condition: &str| {
            let sql = format!(
                "SELECT count(), sum(cityHash64(* EXCEPT ({without}))) FROM {database}.{table} \
                 WHERE {condition}"
            );
            found.insert((shard, table), servers.sql(shard, &sql));
        };
        let cells = cells(servers, database, shard);
        for (table, without) in OF_LINKINGS {
            note(table, without, &format!("(minute, version) IN ({cells})"));
        }
        let newest = "SELECT concat(toString(minute), '.', toString(max(version)))";
        for table in OF_CELLS {
            let sealed = format!("{newest} FROM {database}.sealed_minutes GROUP BY minute");
            note(table, "cell", &format!("cell IN ({sealed})"));
        }
        for (table, of, without) in OF_THEMSELVES {
            let versions = format!("SELECT minute, max(version) FROM {database}.{of}");
            note(table, without, &format!("(minute, version) IN ({versions} GROUP BY minute)"));
        }
    }
    found
}

/// The versions that hold on a shard, in SQL.
fn cells(servers: &Servers, database: &str, shard: usize) -> String {
    let sql = format!(
        "SELECT minute, argMax(version, sequence) FROM {database}.linkings \
         WHERE shard = {shard} GROUP BY minute FORMAT Values"
    );
    servers.sql(0, &sql)
}

/// Deletes what was replaced or never published, and panics where anything of it is left.
fn assert_pruned(servers: &Servers, database: &str, cluster: &Cluster) {
    let all = i64::MIN..=i64::MAX;
    // A second look finds the line of the first one replaced, and then there is nothing.
    while cluster.prune_linkings(&all, Duration::ZERO).unwrap() != PrunedLinkings::default() {}
    while cluster.prune_durations(&all, Duration::ZERO).unwrap() > 0 {}
    let sql = format!(
        "SELECT countIf(minute != {0}), arraySort(groupArrayIf((sequence, rows), minute = {0})) \
         FROM {database}.linkings",
        i64::MIN
    );
    let lines = servers.sql(0, &sql);
    let (of_cells, of_deletions) = lines.split_once('\t').unwrap();
    let cells_known = cluster.linkings(&all).unwrap().cells.len();
    assert_eq!(of_cells, cells_known.to_string(), "linkings: a line for each cell");
    eprintln!("lines of deletions, and what is gone by each: {of_deletions}");
    for shard in 0..2 {
        let cells = cells(servers, database, shard);
        for (table, _) in OF_LINKINGS {
            let others = format!(
                "SELECT count() FROM {database}.{table} WHERE (minute, version) NOT IN ({cells})"
            );
            assert_eq!(servers.sql(shard, &others), "0", "{table} of shard {shard}");
        }
        let sealed = cluster.sealed_minutes(&all).unwrap();
        for table in OF_CELLS {
            let sql = format!("SELECT minute, count(DISTINCT cell) FROM {database}.{table}");
            let stored = servers.sql(shard, &format!("{sql} GROUP BY minute FORMAT TSV"));
            for line in stored.lines() {
                let (minute, versions) = line.split_once('\t').unwrap();
                assert!(sealed[shard].contains_key(&minute.parse().unwrap()), "{table}: {line}");
                // A later one may be of a writer that was killed when another one published the same
                // minute: it goes when the minute is linked again.
                if versions != "1" {
                    eprintln!("{table} of shard {shard}, minute {minute}: {versions} versions");
                }
            }
        }
    }
}
