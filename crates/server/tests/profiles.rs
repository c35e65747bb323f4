//! Profiles of runs over HTTP: a tree of calls, a function, a file for the Firefox Profiler, and what
//! is answered where there is none.

#![allow(clippy::unwrap_used)] // helpers of tests

mod world;

use serde_json::{Value, json};
use std::path::Path;
use world::World;

/// A Callgrind profile in which `main` (10 instructions of its own) calls `work` twice.
fn profile(work: u64) -> String {
    format!(
        "version: 1\ncreator: by hand\npid: 1\ncmd: program\npositions: line\nevents: Ir Dr\n\n\
         ob=/bin/program\nfl=/src/program.c\nfn=main\n1 10 2\ncfn=work\ncalls=2 20\n2 {} 6\n\n\
         fn=work\n20 {} 6\n\ntotals: {} 8\n",
        work,
        work,
        work + 10
    )
}

/// A stored run of one program, with this profile or without one.
fn store(runs: &Path, id: &str, profile: Option<&str>) {
    let folder = runs.join(id);
    std::fs::create_dir_all(folder.join("profiles")).unwrap();
    if let Some(profile) = profile {
        std::fs::write(folder.join("profiles/program"), profile).unwrap();
    }
    let load = json!({"one": 0.5, "five": 0.5, "fifteen": 0.5});
    let process = json!({
        "name": "program", "command": ["{bin}/program"], "program_sha256": null, "program_path": null,
        "runs": [{"Ir": 40}], "profile": profile.map(|_| "profiles/program"),
    });
    let item = json!({
        "name": "program", "kind": "unit", "exactness": "threaded", "processes": [process],
        "failure": null,
    });
    let run = json!({
        "version": 1, "id": id, "suite": "suite", "started_ns": 1_795_219_200_000_000_000_i64,
        "commit": null,
        "system": {
            "machine": "m", "cpu": "c", "cpus": 2, "memory_bytes": 1, "kernel": "k", "libc": "l",
            "valgrind": "v", "chronoscope": "0.1.0",
        },
        "method": {"callgrind": {"because": "of a test"}}, "calibration": null,
        "load_before": load, "load_after": load, "complete": true, "items": [item],
        "bin": "/bin", "suite_folder": "/",
    });
    std::fs::write(folder.join("run.json"), run.to_string()).unwrap();
}

fn world() -> World {
    let fill = |dir: &Path| {
        let runs = dir.join("runs");
        store(&runs, "before", Some(&profile(30)));
        store(&runs, "after", Some(&profile(90)));
        store(&runs, "none", None);
        store(&runs, "broken", Some("version: 1\nevents: Ir\nfn=main\n1 ten\n"));
    };
    World::of(fill, |_| ())
}

/// The frame of a function on its path from the root.
fn frame<'a>(flame: &'a Value, name: &str) -> &'a Value {
    let is = |frame: &&Value| {
        frame["function"].as_u64().is_some_and(|index| {
            flame["functions"][usize::try_from(index).unwrap()]["name"] == name
        })
    };
    flame["frames"].as_array().unwrap().iter().find(is).unwrap()
}

#[test]
fn a_profile_is_a_tree_and_differs_from_that_of_a_run_before() {
    let world = world();
    let flame = world.answer("profiles/flame?run=after&process=program");
    assert_eq!((&flame["event"], &flame["total"]), (&"Ir".into(), &100.into()), "{flame}");
    assert_eq!(flame["events"], json!(["Ir", "Dr"]));
    assert_eq!(frame(&flame, "main")["inclusive"], 100);
    assert_eq!((&frame(&flame, "work")["own"], &flame["total_before"]), (&90.into(), &Value::Null));
    let of_reads = world.answer("profiles/flame?run=after&process=program&event=Dr");
    assert_eq!((&of_reads["total"], &frame(&of_reads, "work")["own"]), (&8.into(), &6.into()));
    let both = world.answer("profiles/flame?run=after&process=program&before=before");
    assert_eq!((&both["total"], &both["total_before"]), (&100.into(), &40.into()));
    let work = frame(&both, "work");
    assert_eq!((&work["own"], &work["own_before"]), (&90.into(), &30.into()));
}

#[test]
fn a_function_has_callers_and_callees() {
    let world = world();
    let main = world.answer("profiles/function?run=after&process=program&function=main");
    assert_eq!((&main["own"], &main["inclusive"]), (&10.into(), &100.into()), "{main}");
    assert_eq!(
        (&main["callees"][0]["name"], &main["callees"][0]["calls"]),
        (&"work".into(), &2.into())
    );
    let work =
        world.answer("profiles/function?run=after&process=program&function=work&file=program.c");
    assert_eq!(
        (&work["callers"][0]["name"], &work["callees"]),
        (&"main".into(), &json!([])),
        "{work}"
    );
    let (status, body) = world.get("profiles/function?run=after&process=program&function=nowhere");
    assert_eq!(status, 404, "{body}");
}

#[test]
fn the_firefox_profiler_gets_a_file() {
    let world = world();
    let file = world.answer("profiles/firefox?run=after&process=program");
    assert_eq!(
        file["meta"]["product"].as_str().map(|name| name.contains("program")),
        Some(true),
        "{file}"
    );
    assert!(file["threads"][0]["stackTable"]["length"].as_u64() > Some(1), "{file}");
    let (status, body) = world.get("profiles/firefox?run=after&process=program&before=before");
    assert_eq!((status, &body["hint"]), (400, &"ask without `before`".into()), "{body}");
}

#[test]
fn what_is_not_there_or_not_readable_is_said() {
    let world = world();
    for (status, path) in [
        (404, "profiles/flame?run=nowhere&process=program"),
        (404, "profiles/flame?run=after&process=another"),
        (404, "profiles/flame?run=none&process=program"),
        (404, "profiles/flame?run=after&process=program&of=stacks"),
        (404, "profiles/flame?run=after&process=program&before=nowhere"),
        (400, "profiles/flame?run=after&process=program&event=Nothing"),
        (400, "profiles/flame?run=after"),
        (400, "profiles/flame?run=after&process=program&unknown=1"),
        (500, "profiles/flame?run=broken&process=program"),
    ] {
        let (found, body) = world.get(path);
        assert_eq!(found, status, "{path}: {body}");
        assert!(body["error"].as_str().is_some_and(|text| !text.is_empty()), "{path}: {body}");
    }
}
