//! What `/now` says of a system that becomes slow, over a real socket.

#![allow(clippy::unwrap_used, clippy::cast_possible_wrap, reason = "helpers of tests")]

mod world;

use chronoscope_store::MINUTE_NS;
use serde_json::Value;
use std::ops::Range;
use std::path::Path;
use world::{BEGIN_NS, Chain, World, fill_with};

/// Minutes that are stored, and the first that is slow.
const MINUTES: i64 = 30;
const SLOW_FROM: i64 = 25;
/// Minutes that are sealed.
const SEALED: i64 = 27;
/// Chains in a minute. The second hop of two in three is on the host `slow`.
const CHAINS: u64 = 60;

/// Half an hour of chains, all but the last minutes sealed, as where it is collected. From
/// `slow_from` on, the second hop on `slow` waits 5 ms instead of about 0.1 ms.
fn half_an_hour(dir: &Path, slow_from: i64) {
    let chains = |minutes: Range<i64>| {
        minutes.flat_map(move |minute| {
            (0..CHAINS).map(move |chain| {
                let on_slow = chain % 3 != 0;
                let late = on_slow && minute >= slow_from;
                Chain {
                    id: minute as u64 * CHAINS + chain + 1,
                    root_start_ns: BEGIN_NS + minute * MINUTE_NS + chain as i64 * 900_000_000,
                    wait_ns: if late { 5_000_000 } else { 100_000 + (chain % 7) as i64 * 1000 },
                    on_slow,
                }
            })
        })
    };
    let now_ns = BEGIN_NS + MINUTES * MINUTE_NS;
    let sealed = fill_with(dir, chains(0..SEALED), now_ns);
    sealed.seal_all(now_ns).unwrap();
    drop(sealed);
    drop(fill_with(dir, chains(SEALED..MINUTES), now_ns));
}

fn alarms(slow_from: i64) -> Vec<Value> {
    let world = World::of(|dir| half_an_hour(dir, slow_from), |_| ());
    let now = world.answer("now");
    assert_eq!(now["applications"].as_array().unwrap().len(), 2, "{now}");
    now["alarms"].as_array().unwrap().clone()
}

#[test]
fn a_hop_that_becomes_slow_is_named_with_its_host_and_since_when() {
    let alarms = alarms(SLOW_FROM);
    let [alarm] = alarms.as_slice() else { panic!("one is expected: {alarms:?}") };
    assert_eq!(alarm["kind"], "slower");
    assert_eq!(alarm["what"], "the wait before B::out");
    assert_eq!(alarm["host"], "slow");
    assert_eq!(alarm["since_ns"], BEGIN_NS + SLOW_FROM * MINUTE_NS);
    // Medians out of buckets: at most 3.125 % too large. Before the hop's own start its caller runs
    // for 20 us, which are no wait.
    let near = |ns: &Value, wanted: f64| (ns.as_f64().unwrap() / wanted - 1.0).abs() < 0.07;
    assert!(near(&alarm["value_ns"], 4.98e6) && near(&alarm["usual_ns"], 0.083e6), "{alarm}");
    let sentence = alarm["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("the wait before B::out on slow takes "), "{sentence}");
}

#[test]
fn what_is_as_ever_alarms_nobody() {
    assert_eq!(alarms(MINUTES), Vec::<Value>::new());
}
