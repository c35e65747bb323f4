//! The page's questions about durations, over a real socket: a store whose chains are slow on one
//! host, and what is said of it.

#![allow(clippy::unwrap_used, clippy::cast_possible_wrap)] // helpers of tests

mod world;

use chronoscope_model::{
    Batch, ClassId, ClassName, Flags, NO_PROCESS_CPU, Names, Record, TransactionId,
};
use chronoscope_store::{Append, MINUTE_NS, Options, Store};
use serde_json::Value;
use std::path::Path;
use world::{ALL, BEGIN_NS, CHAINS, World, fill};

fn sum(of: &Value) -> u64 {
    of.as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum()
}

#[test]
fn from_the_picture_to_the_cause() {
    let world = World::new();
    let picture = world.answer(&format!("scatter?{ALL}&width=60&height=40"));
    assert_eq!(picture["total"], CHAINS);
    assert_eq!(sum(&picture["cells"]["count"]), CHAINS);
    assert_eq!(picture["paths"][0]["path"], "A::in/B::out");
    let longest = picture["extremes"]["max_ns"].as_array().unwrap();
    assert!(longest.iter().all(|ns| ns.as_u64().unwrap() > 50_000_000));
    // The upper band, as a brush selects it.
    let band = format!("{ALL}&min_ns=10000000");
    let histogram = world.answer(&format!("histogram?{band}&bins=10&limit_ns=1000000"));
    let late = CHAINS / 10;
    assert_eq!(histogram["distribution"]["count"], late);
    assert_eq!(histogram["bins"].as_array().unwrap().len(), 10);
    assert_eq!(
        (&histogram["verdict"]["holds"], &histogram["verdict"]["above"]),
        (&false.into(), &late.into())
    );
    let chains = world.answer(&format!("chains?{band}&limit=3"));
    assert_eq!(chains["total"], late);
    for chain in chains["chains"].as_array().unwrap() {
        assert_eq!((&chain["leaf_host"], &chain["level"]), (&"slow".into(), &1.into()));
        let id = u64::from_str_radix(chain["chain"].as_str().unwrap(), 16).unwrap();
        assert_eq!(id % 10, 0, "{chain}");
    }
    let hops = world.answer(&format!("hops?{band}"));
    assert_eq!((&hops["selected"], &hops["rest"]), (&late.into(), &(CHAINS - late).into()));
    let sentence = hops["sentence"].as_str().unwrap();
    assert_eq!(sentence, "100 % of the difference is the wait before B::out on slow");
    let wait = hops["hops"].as_array().unwrap().iter().find(|hop| hop["part"] == "wait").unwrap();
    assert_eq!(sum(&wait["selected"]["counts"]), late);
    assert!(wait["p_value"].as_f64().unwrap() < 1e-6);
}

#[test]
fn hosts_and_times_narrow_a_question() {
    let world = World::new();
    let of = |what: &str| world.answer(&format!("chains?{ALL}&{what}"))["total"].clone();
    assert_eq!(of("hosts=slow"), CHAINS / 10);
    assert_eq!(of("hosts=slow,quick"), CHAINS);
    assert_eq!(of("hosts=nowhere"), 0);
    assert_eq!(of("path=A::in/B::out"), CHAINS);
    assert_eq!(of("path=A::in"), 0);
    let until = BEGIN_NS + 101 * 1_000_000;
    assert_eq!(of(&format!("until_ns={until}")), 100);
    assert_eq!(of("level=2"), 0);
    let apcd = world.answer("histogram?kind=apcd&root=A::in");
    assert_eq!(apcd["distribution"]["count"], CHAINS);
}

#[test]
fn two_times_side_by_side() {
    let world = World::new();
    let middle = BEGIN_NS + 601 * 1_000_000;
    let end = BEGIN_NS + MINUTE_NS;
    let path = format!("compare?{ALL}&until_ns={middle}&b_from_ns={middle}&b_until_ns={end}");
    let found = world.answer(&path);
    assert_eq!(found["a"]["distribution"]["count"], 600);
    assert_eq!(found["b"]["distribution"]["count"], 600);
    assert_eq!(sum(&found["a"]["counts"]), 600);
    assert_eq!(found["paths"][0]["state"], "both");
    let (low, high) = (&found["difference"]["low_ns"], &found["difference"]["high_ns"]);
    assert!(low.as_f64().unwrap() < 0.0 && high.as_f64().unwrap() > 0.0, "{found}");
}

#[test]
fn two_stores_side_by_side() {
    let other = tempfile::tempdir().unwrap();
    let later = BEGIN_NS + 1000 * MINUTE_NS;
    fill(other.path(), &[later, later + 10 * MINUTE_NS]);
    let world = World::with(&[BEGIN_NS], |options| {
        options.compare.insert("later".to_owned(), other.path().to_owned());
    });
    assert_eq!(world.answer("status")["compare"], serde_json::json!(["later"]));
    let found = world.answer(&format!("compare?{ALL}&b_store=later"));
    assert_eq!(found["a"]["distribution"]["count"], CHAINS);
    assert_eq!(found["b"]["distribution"]["count"], 2 * CHAINS);
    assert_eq!((&found["a"]["store"], &found["b"]["store"]), (&Value::Null, &"later".into()));
    assert_eq!(found["b"]["from_ns"], later + 1_000_000, "its first chain");
    assert_eq!(found["paths"][0]["state"], "both");
    let wait = found["hops"].as_array().unwrap().iter().find(|hop| hop["part"] == "wait").unwrap();
    assert_eq!(sum(&wait["a"]["counts"]), CHAINS);
    // The same chains twice, of which a sample is taken: the median wait is 106 µs.
    assert!(wait["shift_ns"].as_i64().unwrap().abs() < 5_000, "{wait}");
    for share in ["share_of_mean", "share_of_tail"] {
        let hops = found["hops"].as_array().unwrap().iter();
        let all: f64 = hops.map(|hop| hop[share].as_f64().unwrap()).sum();
        assert!(all.abs() < 1e-9 || (all - 1.0).abs() < 1e-6, "{share}: {found}");
    }
    assert!(wait["tail_p_value"].as_f64().unwrap() > 0.001, "{wait}");
    let until = later + MINUTE_NS;
    let half = world.answer(&format!("compare?{ALL}&b_store=later&b_until_ns={until}"));
    assert_eq!(half["b"]["distribution"]["count"], CHAINS);
    // Only stores with a name are read, whatever the name looks like.
    for name in ["other", "..", &other.path().display().to_string(), ""] {
        let (status, body) = world.get(&format!("compare?{ALL}&b_store={name}"));
        assert_eq!((status, &body["hint"]), (400, &"there are: later".into()), "{name}: {body}");
    }
}

#[test]
fn transactions_by_themselves_are_told_apart_by_where_they_ran() {
    let world = World::new();
    let selection = "kind=sync&root=B::out";
    let hops = world.answer(&format!("hops?{selection}&hosts=slow"));
    assert_eq!((&hops["selected"], &hops["rest"]), (&120.into(), &1080.into()));
    let [hop] = &hops["hops"].as_array().unwrap()[..] else { panic!("one hop: {hops}") };
    assert_eq!((&hop["hop"], &hop["part"]), (&"B::out".into(), &"work".into()));
    let hosts: Vec<_> = hops["hosts"].as_array().unwrap().iter().collect();
    assert_eq!((&hosts[0]["host"], &hosts[0]["selected"]), (&"slow".into(), &120.into()));
    assert_eq!((&hosts[0]["rest"], &hosts[1]["selected"]), (&0.into(), &0.into()));
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let world = World::new();
    for path in [
        "scatter?leaf=B::out",
        "scatter?root=A::in&leaf=B::out&width=0",
        "scatter?root=A::in&leaf=B::out&width=8192&height=8192",
        "scatter?root=A::in&leaf=B::out&colour=red",
        "histogram?root=A::in&leaf=B::out&bins=100000",
        "chains?root=A::in&leaf=B::out&limit=1000000",
        "hops?root=A::in&leaf=B::out&sample=-1",
        "compare?root=A::in&leaf=B::out",
        "compare?root=A::in&leaf=B::out&b_from_ns=x&b_until_ns=1",
    ] {
        let (status, body) = world.get(path);
        assert_eq!(status, 400, "{path}: {body}");
        assert!(body["error"].as_str().is_some_and(|words| !words.is_empty()), "{path}");
    }
    // Nothing there is no error: the picture is empty.
    let empty = world.answer("scatter?root=A::in&leaf=B::nobody");
    assert_eq!((&empty["total"], empty["paths"].as_array().unwrap().len()), (&0.into(), 0));
    let turned = world.answer(&format!("scatter?{ALL}&min_ns=9&max_ns=3&from_ns=9&until_ns=3"));
    assert_eq!(turned["total"], 0);
    assert_eq!(world.answer(&format!("hops?{ALL}&min_ns=9&max_ns=3"))["selected"], 0);
}

/// A span of OpenTelemetry brings no CPU time: its row has 0, and its flag says that it is foreign.
/// No answer may tell that as a measured time.
#[test]
fn a_cpu_time_that_nobody_measured_is_null_and_not_0() {
    let class = ClassName { application: "Shop".into(), class: "GET /cart".into() };
    let fill = |dir: &Path| {
        let mut names = Names::default();
        names.add_class(class.clone());
        let mut batch = Batch::default();
        let record = Record {
            start_ns: BEGIN_NS,
            elapsed_ns: 20_000,
            process_cpu_ns: NO_PROCESS_CPU,
            chain_low: 7,
            id: TransactionId(1),
            class: ClassId::of("Shop", "GET /cart"),
            root_start_ns: BEGIN_NS,
            flags: Flags::FOREIGN.0,
            ..Record::default()
        };
        batch.push(record, b"");
        let now_ns = BEGIN_NS + 10 * MINUTE_NS;
        let store = Store::open(dir, Options::default(), now_ns).unwrap();
        let input = Append { batch: Some(&batch), names: Some(&names), ..Append::default() };
        store.append(&input, now_ns).unwrap();
        store.sync().unwrap();
    };
    let world = World::of(fill, |_| ());
    let null = &Value::Null;
    assert_eq!(world.answer("classes")["classes"][0].get("cpu_ns"), Some(null));
    let worst = world.answer("worst");
    let row = &worst["classes"][0]["rows"][0];
    assert_eq!((row.get("cpu_ns"), &row["elapsed_ns"]), (Some(null), &20_000.into()), "{worst}");
    let chain = row["chain"].as_str().unwrap();
    let chain = world.answer(&format!("chains/{chain}?near_ns={BEGIN_NS}"));
    assert_eq!(chain["rows"][0].get("cpu_ns"), Some(null), "{chain}");
    let now = world.answer("now?window_s=60");
    assert_eq!(now["applications"][0]["classes"][0].get("cpu_share"), Some(null), "{now}");
}
