//! Native chains: once they are linked, shards answer questions about leaves.

use crate::both::{Both, sink};
use crate::cluster::Servers;
use crate::world::{self, World};
use chronoscope_model::Names;
use chronoscope_query::{
    ChainOrder, Limits, QueryEnvironment, Question, Raster, Sealed, StoreLocation,
};
use chronoscope_statistics::Scale;
use chronoscope_store::{Append, ClockReading, MINUTE_NS, Options, RemoteNotes, Store};

/// Without foreign rows files ask every minute on its own; with them, all at once. Rows that come when
/// their minute was linked are put together anew until it is linked again.
pub(super) fn answers_about_native_chains_are_those_of_files(servers: &Servers) {
    let mut world = World::new(8, 300).on_hosts().with_attributes().without_dropped_ancestors();
    world = world.with_losses().native();
    let (early, late) = world.records.split_at(world.records.len() - 40);
    let before = Both::new(servers, "native", &world.with_records(early.to_vec()), 3);
    before.assert_same("native");
    let sealed = before.seal();
    assert!(
        sealed.rows == early.len() as u64 && sealed.unusual > 50 && sealed.minutes == 6,
        "{sealed:?}"
    );
    before.assert_same("native, linked");
    before.assert_same_leaves("native leaves, linked");
    assert!(before.reads_linked_rows());
    assert_eq!(before.seal(), Sealed::default(), "nothing has changed");
    sink(servers, "native").insert(&world.batch(late), &world.names, 98).unwrap();
    let mut both = Both::of(before.remote.clone(), &world);
    both.assert_same("late rows");
    assert!((1..6).contains(&both.seal().minutes));
    both.assert_same("late rows, linked");
    // Another process, which has fetched nothing yet.
    both.remote = StoreLocation::open(&servers.url("native")).unwrap();
    both.assert_same_leaves("native leaves, linked, elsewhere");
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
pub(super) fn durations_on_one_host_are_of_one_clock(servers: &Servers) {
    let mut world = World::new(21, 200).on_hosts().without_dropped_ancestors().native();
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
