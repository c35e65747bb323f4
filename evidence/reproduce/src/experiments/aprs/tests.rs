//! The items, out of an output with known numbers.

use super::items;
use crate::outcome::{ItemResults, Verdict};
use chronoscope_published::{Published, Value as Figure};
use serde_json::{Value, json};

/// A run with `clients` full feeds, 1000 packets a second in and 750 of them unique.
fn run(clients: u32) -> Value {
    let delivered = f64::from(clients) * 750.0;
    json!({
        "sent": 5000, "repeated": 1250, "rate": 1000.0, "delivered_per_s": delivered,
        "octets_per_s": delivered * 82.0, "missing": 0, "misordered": 0, "cut": 0,
        "named": [40, 40], "cpu": 0.05 + f64::from(clients) / 2000.0, "cpu_s_per_million": 0.5,
        "cpu_s_per_million_in": 200.0, "voluntary_per_s": 300.0, "involuntary_per_s": 50.0,
        "threads": [4, 4], "p50_ms": 20.0, "p90_ms": 30.0, "p99_ms": 40.0, "max_ms": 60.0,
        "in_bursts": { "p50_ms": 25.0, "p90_ms": 35.0, "p99_ms": 70.0, "max_ms": 90.0 },
        "rss_kb": 11_000,
        "status": {
            "window_s": 3.0, "received_per_s": 1000.0, "sent_per_s": delivered,
            "duplicates_per_s": 250.0, "uniques_per_s": 750.0, "rows": [],
            "difference_pct": 0.0, "differs_most": "none",
        },
    })
}

/// The paper's run: 1024 packets a second, 768 of them unique.
fn paper() -> Value {
    let mut paper = run(640);
    let row = |name: &str, total: u32, rate: f64| json!({ "name": name, "total": total, "rate": rate, "generator": total });
    paper["status"] = json!({
        "window_s": 3.0, "received_per_s": 1024.0, "sent_per_s": 491_520.0,
        "duplicates_per_s": 256.0, "uniques_per_s": 768.0,
        "difference_pct": 0.0, "differs_most": "none",
        "rows": [
            row("Clients", 644, 0.0),
            row("Bytes Rx TCP", 300_000, 84_000.0),
            row("Bytes Tx TCP", 150_000_000, 40_000_000.0),
            row("Duplicate packets dropped", 1000, 256.0),
        ],
    });
    paper
}

fn printed() -> Value {
    let full = [50, 100, 200, 400].map(
        |clients| json!({ "clients": clients, "batching": "adaptive", "outcome": run(clients) }),
    );
    let clients: Vec<Value> = (["full", "igate"].into_iter())
        .flat_map(|port| [1000, 5000, 10_000].map(|clients| (port, clients)))
        .map(|(port, clients)| {
            json!({
                "clients": clients, "port": port, "counted": clients, "seconds": 0.5,
                "rss_before_kb": 8000, "rss_kb": 8000 + clients, "kb_each": 1.0,
            })
        })
        .collect();
    let cost = json!({
        "uniques_per_s": 1000.0, "pairs_per_s": 4e6, "us_per_packet_in": 200.0,
        "us_per_packet": 200.0, "ns_per_pair": 50.0,
    });
    json!({
        "paper": paper(), "full-feed": full, "clients": clients,
        "live": { "clients": 150, "threads": ["http", "worker-0"], "outcome": run(150) },
        "filters": [{ "clients": 4000, "outcome": run(0), "cost": cost }],
        "ceiling": [run(400)],
        "workers": [{ "workers": 1, "outcome": run(400) }, { "workers": 2, "outcome": run(400) }],
        "bursts": {
            "bursts": 3, "clients": 250, "period_s": 2.0, "packets_each": 3, "burst_s_max": 0.4,
            "refused": 0, "due": 225_000, "lost": 0, "outcome": run(100),
        },
        "dupe-window": { "dropped_until_s": 29.0, "passed_from_s": 31.0 },
        "recorded": {
            "packets": 87_926, "rows": [{ "clients": "400 full feeds", "outcome": run(400) }],
        },
    })
}

fn verdict(printed: &Value, item: &str) -> (Verdict, String) {
    let found = items(printed).unwrap();
    let found = found.iter().find(|found| found.item == item).unwrap();
    found.verdict(Published::read().unwrap().item(item).unwrap())
}

/// All judged items of the document; `aprsc.live` is of another machine.
const JUDGED: [&str; 6] = [
    "aprsc.requirements",
    "aprsc.drawing1",
    "aprsc.memory",
    "aprsc.full_feed",
    "aprsc.status",
    "aprsc.filtered",
];

#[test]
fn good_numbers_confirm_what_is_claimed() {
    for item in JUDGED {
        assert_eq!(verdict(&printed(), item), (Verdict::Confirmed, String::new()), "{item}");
    }
    assert_eq!(verdict(&printed(), "aprsc.live").0, Verdict::NotComparable);
}

/// Each finding, with the number that it depends on wrong.
#[test]
fn a_wrong_number_makes_its_item_differ() {
    let wrong: [(&str, &str, Value); 17] = [
        ("aprsc.requirements", "/ceiling/0/octets_per_s", json!(12.0e6)),
        ("aprsc.requirements", "/paper/p99_ms", json!(120.0)),
        ("aprsc.requirements", "/dupe-window/dropped_until_s", json!(25.0)),
        ("aprsc.requirements", "/dupe-window/passed_from_s", json!(35.0)),
        ("aprsc.requirements", "/bursts/lost", json!(1)),
        ("aprsc.requirements", "/bursts/refused", json!(1)),
        ("aprsc.requirements", "/bursts/outcome/cut", json!(1)),
        ("aprsc.drawing1", "/paper/threads/1", json!(5)),
        ("aprsc.drawing1", "/workers/0/outcome/voluntary_per_s", json!(40_000.0)),
        ("aprsc.memory", "/clients/1/rss_kb", json!(15_500)),
        ("aprsc.full_feed", "/full-feed/2/outcome/status/sent_per_s", json!(140_000.0)),
        ("aprsc.full_feed", "/full-feed/1/outcome/cpu", json!(0.2)),
        ("aprsc.status", "/paper/status/received_per_s", json!(900.0)),
        ("aprsc.status", "/paper/status/sent_per_s", json!(475_000.0)),
        ("aprsc.status", "/paper/status/rows/3/generator", json!(1001)),
        ("aprsc.status", "/paper/status/difference_pct", json!(0.2)),
        ("aprsc.filtered", "/filters/0/outcome/named/1", json!(39)),
    ];
    for (item, place, value) in wrong {
        let mut printed = printed();
        *printed.pointer_mut(place).unwrap() = value;
        assert_eq!(verdict(&printed, item).0, Verdict::Differs, "{item}: {place}");
    }
}

#[test]
fn the_connections_are_those_that_the_server_counts() {
    let mut printed = printed();
    for row in printed["clients"].as_array_mut().unwrap() {
        row["counted"] = json!(9000);
    }
    assert_eq!(verdict(&printed, "aprsc.requirements").0, Verdict::Differs);
}

#[test]
fn without_a_complete_run_throughput_is_missing() {
    let mut printed = printed();
    printed["ceiling"][0]["missing"] = json!(7);
    let (verdict, why) = verdict(&printed, "aprsc.requirements");
    assert_eq!((verdict, why.contains("throughput")), (Verdict::Missing, true), "{why}");
}

#[test]
fn a_counter_that_is_not_printed_is_an_error() {
    let mut printed = printed();
    printed["paper"]["status"]["rows"] = json!([]);
    let error = items(&printed).unwrap_err().to_string();
    assert!(error.contains("no row “Clients”"), "{error}");
}

#[test]
fn recorded_packets_are_optional() {
    let words = |printed: &Value| -> String {
        let found: Vec<ItemResults> = items(printed).unwrap();
        found.iter().find(|found| found.item == "aprsc.full_feed").unwrap().words.join(" ")
    };
    let mut printed = printed();
    assert!(words(&printed).contains("87926 of a minute"), "{}", words(&printed));
    printed.as_object_mut().unwrap().remove("recorded");
    assert!(words(&printed).contains("tools/packets"), "{}", words(&printed));
}

/// The window is what stood between both ages, and not only their middle.
#[test]
fn the_window_is_a_range() {
    let found = items(&printed()).unwrap();
    let row = found[0].of("dupe_window_s").unwrap();
    assert_eq!(row.ours, Some(Figure::Range([29.0, 31.0])));
}
