//! Filters and groups by attributes over HTTP.

#![allow(clippy::unwrap_used)] // helpers of tests

mod world;

use serde_json::{Value, json};
use world::{ALL, CHAINS, World};

#[test]
fn durations_are_filtered_and_grouped() {
    let world = World::new();
    let late = CHAINS / 10;
    let groups = world.answer(&format!("groups?{ALL}&by=leaf.host.name&limit_ns=40000000"));
    assert_eq!(groups["by"], json!(["leaf.host.name"]));
    let rows = groups["groups"].as_array().unwrap();
    let row = |row: &Value| {
        let count = row["distribution"]["count"].as_u64().unwrap();
        (row["group"]["values"][0].clone(), count, row["above"].as_u64().unwrap())
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    assert_eq!(rows, [("quick".into(), CHAINS - late, 0), ("slow".into(), late, late)]);
    assert_eq!(groups["distribution"]["count"], CHAINS);
    // The root is on one host; the leaf's own is asked first.
    let both = world.answer(&format!("groups?{ALL}&by=host.name&by=root.host.name"));
    assert_eq!(both["groups"][1]["group"]["values"], json!(["slow", "quick"]), "{both}");
    let of_slow = format!("{ALL}&where=host.name%3Dslow");
    for filters in ["where=host.name%3Dslow", "where=host.name!%3Dquick&where=service.name"] {
        let chains = world.answer(&format!("chains?{ALL}&{filters}&limit=1"));
        assert_eq!(
            (&chains["total"], &chains["chains"][0]["leaf_host"]),
            (&late.into(), &"slow".into())
        );
    }
    assert_eq!(world.answer(&format!("histogram?{of_slow}"))["distribution"]["count"], late);
    // The same from what earlier questions found, and without the filter.
    assert_eq!(world.answer(&format!("chains?{of_slow}"))["total"], late);
    assert_eq!(world.answer(&format!("chains?{ALL}"))["total"], CHAINS);
}

#[test]
fn classes_are_filtered_and_grouped() {
    let world = World::new();
    let all = world.answer("classes");
    assert!(all["classes"][0].get("group").is_none());
    let by = world.answer("classes?by=host.name");
    let rows = by["classes"].as_array().unwrap().iter();
    let rows: Vec<_> =
        rows.map(|row| (&row["name"], &row["group"]["values"][0], &row["count"])).collect();
    assert_eq!((by["total"].as_u64(), rows.len()), (Some(3), 3), "{by}");
    assert_eq!(rows[2], (&"B::out".into(), &"slow".into(), &(CHAINS / 10).into()));
    let slow = world.answer("classes?where=host.name%3Dslow&limit=1");
    assert_eq!((&slow["total"], &slow["classes"][0]["count"]), (&1.into(), &(CHAINS / 10).into()));
    let (status, outside) = world.outside("/classes?where=host.name%3Dslow&by=service.name");
    let outside: Value = serde_json::from_str(&outside).unwrap();
    assert_eq!((status, &outside["classes"]["total"]), (200, &1.into()), "{outside}");
    assert_eq!(outside["classes"]["where"], json!(["host.name=slow"]));
}

#[test]
fn the_answer_for_programs_has_groups_too() {
    let world = World::new();
    let (status, answer) = world.outside(&format!("/chains?{ALL}&by=host.name&where=host.name"));
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(status, 200);
    assert_eq!(answer["chains"]["groups"]["groups"][0]["values"], json!(["quick"]));
    let (_, plain) = world.outside(&format!("/chains?{ALL}"));
    let plain: Value = serde_json::from_str(&plain).unwrap();
    assert_eq!(plain["chains"]["distribution"], answer["chains"]["distribution"]);
    assert!(plain["chains"].get("groups").is_none() && plain["chains"].get("where").is_none());
    assert_eq!(world.outside(&format!("/chains?{ALL}&where=%3D")).0, 400);
    assert_eq!(world.outside(&format!("/chains?{ALL}&where=a&judge=each-root&limit_ns=1")).0, 400);
}

#[test]
fn names_and_values_complete_what_is_typed() {
    let world = World::new();
    let names = world.answer("attributes");
    let rows = names["names"].as_array().unwrap();
    let rows: Vec<_> = rows.iter().map(|row| (&row["key"], &row["rows"], &row["values"])).collect();
    let (both, all) = ((2 * CHAINS).into(), 2.into());
    assert_eq!(rows, [(&"host.name".into(), &both, &all), (&"service.name".into(), &both, &all)]);
    let values = world.answer("attributes/values?name=host.name");
    assert_eq!(values["values"][1], json!({ "value": "slow", "rows": CHAINS / 10 }));
    assert_eq!((&values["without"], &values["rows"]), (&0.into(), &both));
}

/// The late chains end on the host `slow`, and no other does.
#[test]
fn the_attribute_of_the_slow_is_named() {
    let world = World::new();
    let late = CHAINS / 10;
    let is_named = |found: &Value, why: &str| {
        let first = &found["differences"][0];
        assert_eq!(first["filter"], "host.name=slow", "{why}: {found}");
        assert_eq!((&first["other"], &first["usual"]), (&late.into(), &0.into()), "{why}");
        assert_eq!((&first["other_share"], &first["ratio"]), (&1.0.into(), &Value::Null), "{why}");
        assert!(first["p_corrected"].as_f64().unwrap() <= 0.02, "{why}: {found}");
        assert!(first["median_shift_ns"].as_i64().unwrap() > 40_000_000, "{why}: {found}");
        assert_eq!(found["other"], json!({ "total": late, "sampled": late }), "{why}");
    };
    let slow = world.answer(&format!("contrast?{ALL}&limit_ns=40000000"));
    is_named(&slow, "above a limit");
    assert_eq!((&slow["limit_ns"], &slow["looked_at"]), (&40_000_000.into(), &2.into()));
    let sentence = "host.name=slow: 100 % of the slow, 0 % of the others of the same time";
    assert_eq!(slow["sentence"], sentence);
    is_named(&world.answer(&format!("contrast?{ALL}&above=p90")), "the slowest tenth");
    let context = format!("context_from_ns=0&context_until_ns={}", i64::MAX);
    let selected = format!("contrast?{ALL}&of=selected&min_ns=40000000&{context}");
    is_named(&world.answer(&selected), "selected");
    let nothing = world.answer(&format!("contrast?{ALL}&limit_ns=900000000"));
    assert_eq!(
        (&nothing["differences"], &nothing["sentence"]),
        (&json!([]), &"nothing is slow".into())
    );
}

/// Every tenth chain ends on the host `slow` in both halves.
#[test]
fn two_times_are_compared_by_attributes() {
    let world = World::new();
    let begin_ns = world::BEGIN_NS;
    let (middle_ns, end_ns) = (begin_ns + 600_500_000, begin_ns + 10_000_000_000);
    let times = format!("until_ns={middle_ns}&b_from_ns={middle_ns}&b_until_ns={end_ns}");
    let found = world.answer(&format!("contrast?{ALL}&of=times&{times}"));
    assert_eq!((&found["usual"]["total"], &found["other"]["total"]), (&600.into(), &600.into()));
    assert_eq!(found["differences"], json!([]), "every tenth in both: {found}");
    let slow = format!("{ALL}&where=host.name%3Dslow");
    let found = world.answer(&format!("contrast?{slow}&of=times&{times}"));
    assert_eq!((&found["other"]["total"], &found["looked_at"]), (&60.into(), &0.into()), "{found}");
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let world = World::new();
    for wrong in [
        format!("chains?{ALL}&where=%3Dslow"),
        format!("chains?{ALL}&by=host.name"),
        format!("groups?{ALL}"),
        format!("groups?{ALL}&by=a&by=b&by=c"),
        format!("groups?{ALL}&by=a&order=longest"),
        format!("arrivals?{ALL}&limit_ns=1&where=host.name"),
        format!("contrast?{ALL}&above=p101"),
        format!("contrast?{ALL}&of=times"),
        format!("contrast?{ALL}&b_from_ns=1"),
        format!("contrast?{ALL}&of=selected&above=p90"),
        format!("contrast?{ALL}&sample=0"),
        format!("contrast?{ALL}&of=times&b_store=nobody"),
        "classes?where=".to_owned(),
        "classes?by=a&form_ns=1".to_owned(),
        "attributes/values".to_owned(),
        "attributes/values?name=".to_owned(),
    ] {
        let (status, body) = world.get(&wrong);
        assert_eq!(status, 400, "{wrong}: {body}");
    }
}
