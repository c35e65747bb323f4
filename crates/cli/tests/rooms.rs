//! Which room may import which: the table in ARCHITECTURE.md is the rule, the manifests are held
//! against it.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

type Rooms = BTreeMap<String, BTreeSet<String>>;

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: &Path) -> toml::Table {
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

/// Room to the rooms it may use, as the table says. Rooms are paths, without `crates/`.
fn allowed() -> Rooms {
    let page = std::fs::read_to_string(top().join("ARCHITECTURE.md")).unwrap();
    let table = page.split("| room | promise | may use |").nth(1).unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let room = cells[1].trim_matches('`').trim_start_matches("crates/").to_owned();
        let uses = cells[3].split(',').map(|used| used.trim().to_owned());
        (room, uses.filter(|used| used != "–").collect())
    })
    .collect()
}

/// Room to the rooms its manifest depends on, tests aside.
fn actual() -> Rooms {
    let workspace = read(&top().join("Cargo.toml"));
    let members = workspace["workspace"]["members"].as_array().unwrap();
    let packages = workspace["workspace"]["dependencies"].as_table().unwrap();
    let folders = members.iter().flat_map(|member| folders_of(member.as_str().unwrap()));
    folders.map(|folder| (room(&folder), dependencies(&folder, packages))).collect()
}

/// The folders that a member of the workspace stands for: itself, or those below its `/*`.
fn folders_of(member: &str) -> Vec<PathBuf> {
    let Some(parent) = member.strip_suffix("/*") else { return vec![top().join(member)] };
    let entries = std::fs::read_dir(top().join(parent)).unwrap();
    let folders = entries.map(|entry| entry.unwrap().path());
    folders.filter(|folder| folder.join("Cargo.toml").exists()).collect()
}

fn room(folder: &Path) -> String {
    let path = folder.strip_prefix(top()).unwrap().to_str().unwrap();
    path.trim_start_matches("crates/").to_owned()
}

fn dependencies(folder: &Path, packages: &toml::Table) -> BTreeSet<String> {
    let manifest = read(&folder.join("Cargo.toml"));
    let sections = ["dependencies", "build-dependencies"].map(|name| manifest.get(name));
    let names = sections.into_iter().flatten().flat_map(|s| s.as_table().unwrap().keys());
    let paths = names.filter_map(|name| packages.get(name)?.get("path")?.as_str());
    paths.map(|path| path.trim_start_matches("crates/").to_owned()).collect()
}

#[test]
fn every_room_is_on_the_map_and_every_row_has_a_room() {
    let (map, rooms) = (allowed(), actual());
    assert!(rooms.len() > 5, "{rooms:?}");
    assert_eq!(map.keys().collect::<Vec<_>>(), rooms.keys().collect::<Vec<_>>());
}

#[test]
fn no_room_uses_one_that_it_may_not_know() {
    let map = allowed();
    for (room, uses) in actual() {
        for used in uses {
            assert!(
                map[&room].contains(&used),
                "{room} depends on {used}, which the table in ARCHITECTURE.md does not allow"
            );
        }
    }
}
