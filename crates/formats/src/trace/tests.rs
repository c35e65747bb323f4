use super::*;
use crate::rows::samples::transaction;
use chronoscope_model::{ClassName, Status};
use proptest::prelude::*;

fn hop(id: u64, parent: u64, thread: u32, start_ns: i64, elapsed_ns: u64) -> Transaction {
    Transaction {
        class: ClassName { application: "A".into(), class: format!("c{id}") },
        process: None,
        thread,
        start_ns,
        elapsed_ns,
        cpu_ns: 0,
        process_cpu_ns: None,
        status: Status::Good,
        id: TransactionId(id),
        parent: TransactionId(parent),
        chain: ChainId(1),
        flags: Flags::ASYNCHRONOUS,
        level: 0,
        path: String::new(),
        root_start_ns: None,
        root_process: None,
        properties: Vec::new(),
        metrics: Vec::new(),
        extras: chronoscope_model::Extras::default(),
    }
}

fn events(transactions: &mut [Transaction]) -> Vec<Value> {
    let mut json = Vec::new();
    write(transactions, &mut json).unwrap();
    let mut trace: Value = serde_json::from_slice(&json).unwrap();
    serde_json::from_value(trace["traceEvents"].take()).unwrap()
}

fn of<'a>(events: &'a [Value], phase: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["ph"] == phase).collect()
}

/// 2026-11-21T12:00 and a chain of three: a call on the same thread, and a hop to another one.
#[test]
fn a_chain_by_hand() {
    let noon = 1_795_262_400_000_000_000;
    let mut chain = [
        hop(3, 1, 8, noon + 5_000, 1_001),
        hop(2, 1, 7, noon + 1_000, 500),
        hop(1, 0, 7, noon, 2_000),
    ];
    chain[0].metrics.push(("plots".into(), 2.5));
    let events = events(&mut chain);
    let slices = of(&events, "X");
    let day_us = 12.0 * 3600.0 * 1e6;
    assert_eq!(slices[0]["ts"], day_us);
    assert_eq!((&slices[1]["name"], &slices[1]["dur"]), (&json!("c2"), &json!(0.5)));
    assert_eq!(slices[2]["ts"], day_us + 5.0);
    assert_eq!(slices[0]["tid"], slices[1]["tid"], "the call nests");
    let (begins, ends) = (of(&events, "s"), of(&events, "f"));
    assert_eq!((begins.len(), ends.len()), (1, 1), "one hop");
    assert_eq!(begins[0]["id"], ends[0]["id"]);
    assert_eq!((&begins[0]["tid"], &ends[0]["tid"]), (&slices[0]["tid"], &slices[2]["tid"]));
    assert_eq!(ends[0]["bp"], "e");
    assert_eq!(of(&events, "C")[0]["args"]["value"], 2.5);
    let named = of(&events, "M").iter().filter(|event| event["name"] == "thread_name").count();
    assert_eq!(named, 2);
}

proptest! {
    /// The schema that viewers go by, whatever the transactions are.
    #[test]
    fn every_event_is_one(mut rows in prop::collection::vec(transaction(), 0..12)) {
        let count = rows.len();
        let events = events(&mut rows);
        prop_assert_eq!(of(&events, "X").len(), count);
        for event in &events {
            let phase = event["ph"].as_str().unwrap();
            prop_assert!(["M", "X", "s", "f", "C"].contains(&phase));
            prop_assert!(event["name"].is_string() && event["pid"].is_u64());
            prop_assert!(phase == "M" || (event["tid"].is_u64() && event["ts"].is_f64()));
            prop_assert!(phase != "X" || event["dur"].as_f64() >= Some(0.0));
        }
        let ids = |phase| {
            let mut ids: Vec<_> = of(&events, phase).iter().map(|e| e["id"].as_u64()).collect();
            ids.sort();
            ids
        };
        prop_assert_eq!(ids("s"), ids("f"), "every flow that begins ends");
    }
}
