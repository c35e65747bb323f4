//! Rows with further parents: the links of their chains, and which chains they join.

use crate::both::{Both, sink, store};
use crate::cluster::Servers;
use crate::world::World;
use crate::{End, every};
use chronoscope_clickhouse::{ChainLink, shard_of};
use chronoscope_model::{ChainId, Flags, FurtherParent, ParentRoot, Record};
use chronoscope_query::{InputCase, Limits, Progress, Question, Sealed, StoreLocation};
use chronoscope_store::{Aliases, ChainAlias, MINUTE_NS};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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
fn expected_links(world: &World, rows: &[Record], told: &[ChainAlias]) -> String {
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
pub(super) fn further_parents_join_chains(servers: &Servers) {
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
    let linked = |row: &Record| row.flags().contains(Flags::FURTHER_PARENTS);
    let named: BTreeSet<u64> =
        world.said.values().flat_map(|said| &said.links).map(|link| link.id.0).collect();
    let of_kind = |foreign: bool| {
        let is_foreign = move |row: &&Record| row.flags().contains(Flags::FOREIGN) == foreign;
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
        let records = world.records.iter().chain(&late[..rows]).copied().collect();
        let mut all = World::of(world.names.clone(), records);
        all.said = world.said.clone();
        all.aliases = aliases[..told].to_vec();
        let links = expected_links(&world, &all.records, &all.aliases);
        (Both::of(remote.clone(), &all), links)
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
