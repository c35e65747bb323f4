//! How limits stand in `/now` and `/metrics`, over a real socket.

#![allow(clippy::unwrap_used, clippy::cast_possible_wrap, reason = "helpers of tests")]

mod world;

use chronoscope_clock as clock;
use chronoscope_collect::Status;
use chronoscope_model::{Batch, Flags, PathId, Record, TransactionId};
use chronoscope_query::ClassSelector;
use chronoscope_server::{Arrivals, Limit, Limited};
use chronoscope_store::MINUTE_NS;
use serde_json::Value;
use std::ops::Range;
use std::path::Path;
use world::{BEGIN_NS, World, classes, fill_rows};

/// Maximum duration of a chain.
const LIMIT_NS: u64 = 10_000_000;
/// Roots of a minute.
const ROOTS: u64 = 100;

/// Rows of chains `A::in`, `B::out`.
#[derive(Default)]
struct Rows {
    batch: Batch,
    chains: u64,
}

impl Rows {
    /// Roots at this time, each with a leaf that ends so long after it; `None`: without a leaf.
    fn chains(&mut self, root_start_ns: i64, count: u64, took_ns: Option<i64>, flags: Flags) {
        let (classes, foreign) = (classes(), flags.contains(Flags::FOREIGN));
        for _ in 0..count {
            self.chains += 1;
            let path =
                |hops: usize| if foreign { PathId::NONE } else { PathId::of(&classes[..hops]) };
            let root = Record {
                start_ns: root_start_ns,
                elapsed_ns: 1000,
                chain_low: self.chains,
                id: TransactionId(2 * self.chains),
                class: classes[0],
                path: path(1),
                root_start_ns,
                flags: flags.0,
                ..Record::default()
            };
            self.batch.push(root, b"");
            let Some(took_ns) = took_ns else { continue };
            let leaf = Record {
                start_ns: root_start_ns + took_ns - 1000,
                id: TransactionId(2 * self.chains + 1),
                parent: root.id,
                class: classes[1],
                path: path(2),
                level: u16::from(!foreign),
                ..root
            };
            self.batch.push(leaf, b"");
        }
    }

    /// Each of these minutes has [`ROOTS`] chains that take so long.
    fn minutes(&mut self, minutes: Range<i64>, took_ns: Option<i64>, flags: Flags) {
        for minute in minutes {
            self.chains(BEGIN_NS + minute * MINUTE_NS, ROOTS, took_ns, flags);
        }
    }

    fn store(&self, dir: &Path, now_ns: i64, seal: bool) {
        let store = fill_rows(dir, &self.batch, now_ns);
        if seal {
            store.seal_all(now_ns).unwrap();
        }
    }
}

const SLOW: Option<i64> = Some(2 * LIMIT_NS as i64);
const QUICK: Option<i64> = Some(LIMIT_NS as i64 / 2);
const NATIVE: Flags = Flags(0);

fn limit(root: &str, leaf: &str, arrivals: Option<Arrivals>) -> Limit {
    let (root, leaf) = (ClassSelector(root.into()), ClassSelector(leaf.into()));
    Limit { of: Limited::Chain { root, leaf, level: None, arrivals }, limit_ns: LIMIT_NS }
}

/// A server over these rows, sealed or not, that holds them against limits.
fn world(rows: &Rows, seal: bool, limits: Vec<Limit>) -> World {
    let now_ns = BEGIN_NS + 60 * MINUTE_NS;
    World::of(|dir| rows.store(dir, now_ns, seal), |options| options.limits = limits)
}

/// The only limit, and the alarms.
fn judged(rows: &Rows, seal: bool) -> (Value, Vec<Value>) {
    let now = world(rows, seal, vec![limit("A::in", "B::out", None)]).answer("now");
    let [limit] = &now["limits"].as_array().unwrap()[..] else { panic!("one is expected: {now}") };
    (limit.clone(), now["alarms"].as_array().unwrap().clone())
}

fn begin_ns(minute: i64) -> i64 {
    BEGIN_NS + minute * MINUTE_NS
}

#[test]
fn a_limit_on_chains_of_opentelemetry_says_that_it_cannot_be_judged() {
    let mut rows = Rows::default();
    rows.minutes(3..6, SLOW, Flags::FOREIGN);
    for seal in [false, true] {
        let (limit, alarms) = judged(&rows, seal);
        assert_eq!((&limit["state"], &limit["kind"]), (&"not_judged".into(), &"chain".into()));
        assert_eq!(limit["since_ns"], begin_ns(3));
        let reason = limit["reason"].as_str().unwrap();
        assert!(reason.contains(" comes from a source of OpenTelemetry spans"), "{reason}");
        assert_eq!(alarms, Vec::<Value>::new(), "nothing is known to be wrong");
    }
}

#[test]
fn chains_that_know_their_root_are_judged_beside_spans() {
    let mut rows = Rows::default();
    rows.minutes(0..3, QUICK, Flags::FOREIGN);
    rows.minutes(0..3, SLOW, NATIVE);
    assert_eq!(judged(&rows, false).0["state"], "broken", "more cannot mend it");
    let mut rows = Rows::default();
    rows.minutes(0..3, SLOW, Flags::FOREIGN);
    rows.minutes(0..3, QUICK, NATIVE);
    assert_eq!(judged(&rows, false).0["state"], "not_judged", "some are not known");
}

#[test]
fn a_limit_is_broken_since_the_last_minute_without_traffic() {
    let mut rows = Rows::default();
    rows.minutes(0..3, SLOW, NATIVE);
    rows.minutes(4..7, SLOW, NATIVE);
    let (limit, alarms) = judged(&rows, true);
    assert_eq!((&limit["state"], &limit["since_ns"]), (&"broken".into(), &begin_ns(4).into()));
    assert_eq!((&limit["count"], &limit["above"]), (&ROOTS.into(), &ROOTS.into()));
    let [alarm] = &alarms[..] else { panic!("one is expected: {alarms:?}") };
    assert_eq!((&alarm["kind"], &alarm["limit"]), (&"limit".into(), &"chain".into()));
    assert_eq!(alarm["since_ns"], begin_ns(4));
}

/// The late chains end on the host `slow`: the alarm says so, of chains and of the class alone.
#[test]
fn a_broken_limit_names_the_attribute_of_what_is_slow() {
    let chains = Limit { limit_ns: 40_000_000, ..limit("A::in", "B::out", None) };
    let class = Limit { of: Limited::Class(ClassSelector("B::out".into())), limit_ns: 1 };
    let world = World::with(&[BEGIN_NS], |options| options.limits = vec![chains, class]);
    for _ in 0..2 {
        let alarms = world.answer("now")["alarms"].as_array().unwrap().clone();
        assert_eq!(alarms.len(), 2, "{alarms:?}");
        let of = |kind| alarms.iter().find(|alarm| alarm["limit"] == kind).unwrap();
        let (class, chains) = (of("class"), of("chain"));
        assert_eq!(chains["attribute"], "host.name=slow");
        let sentence = chains["sentence"].as_str().unwrap();
        let said = "; host.name=slow: 100 % of the slow, 0 % of the others of the same time";
        assert!(sentence.ends_with(said), "{sentence}");
        assert_eq!(class["attribute"], Value::Null, "nothing is within it to compare with");
    }
}

#[test]
fn what_was_judged_long_ago_is_no_alarm_of_now() {
    let mut rows = Rows::default();
    rows.minutes(0..3, SLOW, NATIVE);
    rows.minutes(3..5, None, NATIVE);
    assert_eq!(judged(&rows, true).0["state"], "broken", "two minutes may pass");
    rows.minutes(5..6, None, NATIVE);
    let (limit, alarms) = judged(&rows, true);
    assert_eq!((&limit["state"], &limit["since_ns"]), (&"not_judged".into(), &begin_ns(3).into()));
    assert_eq!(limit["reason"], "nothing has come since; it was broken then");
    assert_eq!(alarms, Vec::<Value>::new());
}

#[test]
fn every_limit_has_its_state() {
    let mut rows = Rows::default();
    rows.minutes(0..3, QUICK, NATIVE);
    let of_class = |class: &str| Limited::Class(ClassSelector(class.into()));
    let limits = vec![
        Limit { of: of_class("B::out"), limit_ns: LIMIT_NS },
        Limit { of: of_class("B::out"), limit_ns: 10 },
        limit("A::in", "B::out", Some(Arrivals::EachRoot)),
        limit("A::in", "C::never", None),
    ];
    let world = world(&rows, true, limits);
    let now = world.answer("now");
    let states = now["limits"].as_array().unwrap().iter();
    let states: Vec<_> =
        states.map(|it| (it["kind"].as_str().unwrap(), it["state"].as_str().unwrap())).collect();
    let wanted = [
        ("class", "holds"),
        ("class", "broken"),
        ("chain", "holds"),
        ("arrivals", "holds"),
        ("chain", "no_traffic"),
    ];
    assert_eq!(states, wanted);
    // The same for Prometheus, once the server has looked.
    let mut page = String::new();
    for _ in 0..600 {
        page = world.outside("/metrics").1;
        if page.contains("# TYPE chronoscope_limit_state gauge") {
            break;
        }
        clock::sleep(std::time::Duration::from_millis(50));
    }
    for (state, value) in [("broken", 1), ("holds", 0)] {
        let labels = format!("limit=\"B::out\",kind=\"class\",limit_ns=\"10\",state=\"{state}\"");
        assert!(page.contains(&format!("limit_state{{{labels}}} {value}\n")), "{page}");
    }
}

#[test]
fn roots_that_do_not_arrive_are_an_alarm_of_their_own() {
    let mut rows = Rows::default();
    rows.minutes(0..2, QUICK, NATIVE);
    rows.chains(begin_ns(2), 85, QUICK, NATIVE);
    rows.chains(begin_ns(2), 5, SLOW, NATIVE);
    rows.chains(begin_ns(2), 10, None, NATIVE);
    let limits = vec![limit("A::in", "B::out", Some(Arrivals::EachRoot))];
    let now = world(&rows, true, limits).answer("now");
    let arrivals = &now["limits"][1];
    assert_eq!(
        (&arrivals["state"], &arrivals["since_ns"]),
        (&"broken".into(), &begin_ns(2).into())
    );
    assert_eq!((&arrivals["count"], &arrivals["above"]), (&100.into(), &15.into()));
    assert_eq!(arrivals["in_flight"], 0, "nobody collects: nothing will come");
    let alarms = now["alarms"].as_array().unwrap();
    let alarm = alarms.iter().find(|alarm| alarm["kind"] == "arrivals").unwrap();
    assert_eq!(
        alarm["sentence"],
        "A::in → B::out: at least 15 of 100 roots of the last judged minute did not arrive within \
         10.000 ms"
    );
}

/// What may still come is not missing.
#[test]
fn a_minute_that_is_younger_than_the_limit_is_in_flight() {
    let now_ns = clock::utc_now_ns();
    let mut rows = Rows::default();
    rows.chains(now_ns - 500_000_000, 20, None, NATIVE);
    rows.chains(now_ns - 500_000_000, 30, QUICK, NATIVE);
    let fill = |dir: &Path| {
        rows.store(dir, now_ns, false);
        // A collector is at work, as far as its status says. It may say so ahead of a slow machine.
        let status = Status { running: true, at_ns: now_ns + 5_000_000_000, ..Status::default() };
        std::fs::write(Status::path(dir), serde_json::to_vec(&status).unwrap()).unwrap();
    };
    let limits = vec![Limit {
        limit_ns: 3_600_000_000_000,
        ..limit("A::in", "B::out", Some(Arrivals::EachRoot))
    }];
    let world = World::of(fill, |options| options.limits = limits);
    let now = world.answer("now");
    assert_eq!(now["live"], true);
    let arrivals = &now["limits"][1];
    assert_eq!((&arrivals["state"], &arrivals["in_flight"]), (&"no_traffic".into(), &20.into()));
}
