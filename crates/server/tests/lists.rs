//! Lists that may be long come in pieces.

#![allow(clippy::unwrap_used)] // helpers of tests

mod world;

use serde_json::Value;
use world::World;

#[test]
fn a_long_list_comes_in_pieces() {
    let world = World::new();
    let names = |piece: &str| {
        let answer = world.answer(&format!("classes?{piece}"));
        assert_eq!(answer["total"], 2, "{answer}");
        let rows = answer["classes"].as_array().unwrap().iter();
        rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(""), ["A::in", "B::out"]);
    assert_eq!(names("limit=1"), ["A::in"]);
    assert_eq!(names("limit=1&offset=1"), ["B::out"]);
    assert_eq!(names("offset=2"), [""; 0]);
    let paths = world.answer("paths?limit=1&offset=1");
    assert_eq!((paths["paths"].as_array().unwrap().len(), &paths["total"]), (1, &2.into()));
    let (status, all) = world.outside("/classes?offset=1");
    let all: Value = serde_json::from_str(&all).unwrap();
    assert_eq!((status, &all["classes"]["total"]), (200, &2.into()), "{all}");
    assert_eq!(all["classes"]["rows"].as_array().unwrap().len(), 1);
    for wrong in ["classes?limit=0", "paths?limit=10001", "classes?limit=x"] {
        assert_eq!(world.get(wrong).0, 400, "{wrong}");
    }
    assert_eq!(world.outside("/classes?limit=0").0, 400);
}
