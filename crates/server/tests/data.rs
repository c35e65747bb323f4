//! Deleting a range of time and importing a file over HTTP: who may, what is said before and after,
//! and what stays as it was when it is refused.

#![allow(clippy::unwrap_used)] // helpers of tests

mod world;

use chronoscope_collect::Ingest;
use chronoscope_server::{Rights, ServerOptions, Tokens};
use chronoscope_store::{Options, Snapshot, Store};
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use world::{ALL, BEGIN_NS, CHAINS, World, fill, received};

/// Half a second after the first chain: half of the chains start before.
const HALF_NS: i64 = BEGIN_NS + 600_500_000;

/// A server that writes its store, and the tokens `ops`, which may write, and `eye`, which may not.
struct Managed {
    world: World,
    tokens: [String; 2],
}

impl Managed {
    fn new(with_tokens: bool) -> Self {
        let mut secrets = [String::new(), String::new()];
        let open = |dir: &Path| Store::open(dir, Options::default(), BEGIN_NS).unwrap();
        let change = |options: &mut ServerOptions| {
            let store = Arc::new(open(&options.data_dir));
            options.ingest = Some(Ingest::into_files(store));
            if with_tokens {
                let mut tokens = Tokens::default();
                secrets = [("ops", true), ("eye", false)].map(|(name, write)| {
                    let token = tokens.add(name, Rights { read: true, write }).unwrap();
                    token.secret().to_owned()
                });
                let file = options.data_dir.join("tokens");
                tokens.write(&file).unwrap();
                options.tokens = Some(file);
            }
        };
        let world = World::of(|dir| fill(dir, &[BEGIN_NS]), change);
        Self { world, tokens: secrets }
    }

    /// Status and body of a request with these headers.
    fn send(&self, line: &str, headers: &str, body: &[u8]) -> (u16, Value) {
        let mut stream = TcpStream::connect(self.world.server.address()).unwrap();
        let head = format!(
            "{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\ncontent-length: {}\r\n\
             {headers}\r\n",
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        received(stream)
    }

    fn bearer(&self, who: usize) -> String {
        format!("authorization: Bearer {}\r\n", self.tokens[who])
    }

    fn get(&self, path: &str) -> Value {
        let (status, body) = self.send(&format!("GET /api/v1/{path}"), &self.bearer(0), b"");
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    fn delete(&self, headers: &str, rows_max: u64) -> (u16, Value) {
        let what = json!({"from_ns": BEGIN_NS, "until_ns": HALF_NS, "rows_max": rows_max});
        let headers = format!("content-type: application/json\r\n{headers}");
        self.send("POST /api/v1/data/deletion", &headers, what.to_string().as_bytes())
    }

    fn import(&self, headers: &str, name: &str, body: &[u8]) -> (u16, Value) {
        self.send(&format!("POST /api/v1/data/import?name={name}"), headers, body)
    }

    fn rows(&self) -> u64 {
        Snapshot::open(self.world.dir.path()).unwrap().row_count()
    }

    fn uploads(&self) -> usize {
        std::fs::read_dir(self.world.dir.path().join("uploads")).map_or(0, Iterator::count)
    }
}

/// Two transactions of one chain.
const ROWS: &str = "application,class,start,elapsed_ns,id,parent,chain_high,chain_low\r\n\
                    X,a,1795300000000000000,5,1,0,0,9\r\nX,b,1795300000000000001,2,2,1,0,9\r\n";

#[test]
fn a_server_without_a_token_changes_nothing_and_says_what_to_do() {
    let managed = Managed::new(false);
    let answers = [managed.delete("", u64::MAX), managed.import("", "a.csv", ROWS.as_bytes())];
    for (status, body) in answers {
        assert_eq!(status, 403, "{body}");
        assert!(body["error"].as_str().unwrap().contains("has no token"), "{body}");
        assert!(body["hint"].as_str().unwrap().contains("--tokens"), "{body}");
    }
    let (status, data) = managed.send("GET /api/v1/data", "", b"");
    assert_eq!(status, 200);
    assert!(data["refused"].as_str().unwrap().contains("--tokens"), "{data}");
    assert_eq!((managed.rows(), managed.uploads()), (2 * CHAINS, 0));
}

#[test]
fn a_token_that_may_only_read_and_a_page_of_another_origin_change_nothing() {
    let managed = Managed::new(true);
    let (eye, ops) = (managed.bearer(1), managed.bearer(0));
    let foreign = |token: &str| format!("{token}origin: https://attacker.example\r\n");
    for (headers, expected) in [
        (String::new(), 401),
        (eye, 403),
        (foreign(""), 403),
        (foreign(&ops), 403),
        ("authorization: Bearer x\r\n".to_owned(), 401),
    ] {
        assert_eq!(managed.delete(&headers, u64::MAX).0, expected, "{headers}");
        assert_eq!(managed.import(&headers, "a.csv", ROWS.as_bytes()).0, expected, "{headers}");
    }
    // A form of a browser is not JSON.
    let form = format!("{ops}content-type: text/plain\r\n");
    assert_eq!(managed.send("POST /api/v1/data/deletion", &form, b"{}").0, 400);
    assert_eq!((managed.rows(), managed.uploads()), (2 * CHAINS, 0));
}

#[test]
fn a_range_is_shown_deleted_noted_and_told_by_questions() {
    let managed = Managed::new(true);
    let ops = managed.bearer(0);
    let range = format!("range?from_ns={BEGIN_NS}&until_ns={HALF_NS}");
    let shown = managed.get(&range);
    assert_eq!((&shown["rows"], &shown["chains"]), (&json!(1200), &json!(600)));
    assert!(shown["bytes"].as_u64().unwrap() > 0);
    // More rows than were shown: refused, and nothing is deleted.
    let (status, body) = managed.delete(&ops, 1199);
    assert_eq!(status, 409, "{body}");
    assert_eq!(managed.rows(), 2 * CHAINS);
    let (status, deleted) = managed.delete(&ops, 1200);
    assert_eq!((status, &deleted["rows"]), (200, &json!(1200)), "{deleted}");
    assert_eq!(managed.rows(), 2 * CHAINS - 1200);
    // A view of the store is at most a second old.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    assert_eq!(managed.get(&range)["rows"], 0);
    let note = &managed.get("data")["deletions"][0];
    assert_eq!((&note["rows"], &note["by"]), (&json!(1200), &json!("ops")));
    let mark = &managed.get("marks")["marks"][0];
    assert_eq!(mark["by"], "ops");
    assert!(
        mark["text"].as_str().unwrap().starts_with("1200 rows from 2026-11-21T00:00:00"),
        "{mark}"
    );
    // Questions over that time say it, and a verdict is not given without it.
    let within = format!("{ALL}&limit_ns=1000000000");
    let all = managed.get(&format!("histogram?{within}"));
    assert_eq!(all["losses"]["deleted_rows"], 1200);
    assert_eq!(all["counts"]["used"], 600);
    assert_ne!(all["verdict"]["holds"], json!(true), "{}", all["verdict"]);
    let later = managed.get(&format!("histogram?{within}&from_ns={HALF_NS}"));
    assert_eq!(later["losses"]["deleted_rows"], 0);
    assert_eq!(later["counts"]["used"], 600);
    for wrong in [json!({}), json!({"from_ns": 2, "until_ns": 1, "rows_max": 1})] {
        let headers = format!("content-type: application/json\r\n{ops}");
        let body = wrong.to_string();
        assert_eq!(managed.send("POST /api/v1/data/deletion", &headers, body.as_bytes()).0, 400);
    }
}

#[test]
fn a_file_is_imported_once_and_garbage_not_at_all() {
    let managed = Managed::new(true);
    let ops = managed.bearer(0);
    let before = managed.rows();
    let (status, body) = managed.import(&ops, "rows.csv", ROWS.as_bytes());
    let expected = json!({"rows": 2, "rows_before": 0, "format": "csv"});
    assert_eq!((status, &body), (200, &expected));
    assert_eq!(managed.rows(), before + 2);
    // The same content under another name.
    let (status, body) = managed.import(&ops, "copy.csv", ROWS.as_bytes());
    assert_eq!((status, &body["rows"], &body["rows_before"]), (200, &json!(0), &json!(2)));
    let mark = managed.get("marks");
    assert_eq!(mark["marks"].as_array().unwrap().len(), 1);
    assert_eq!(mark["marks"][0]["text"], "2 rows imported from rows.csv");
    // The last line is wrong: none of the lines before it is stored.
    let bad = format!("{ROWS}X,c,noon,2,3,1,0,9\r\n");
    for (name, body, what) in [
        ("bad.csv", bad.as_bytes(), "bad.csv: line 4: start"),
        ("words", b"just words", "words: this is not XML, CSV or Parquet"),
        ("cut.parquet", b"PAR1\0\0\0\0", "cut.parquet: "),
        ("no.xml", b"<armData", "no.xml: "),
        ("b%07in%0a", b"\xff\xfe\x00", "bin: this is not XML, CSV or Parquet"),
    ] {
        let (status, refused) = managed.import(&ops, name, body);
        assert_eq!(status, 400, "{name}: {refused}");
        assert!(refused["error"].as_str().unwrap().starts_with(what), "{name}: {refused}");
    }
    // More than is taken is refused by its length, before it is sent.
    let line = "POST /api/v1/data/import?name=a.csv";
    let mut stream = TcpStream::connect(managed.world.server.address()).unwrap();
    let head = format!(
        "{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{ops}content-length: \
         99999999999\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    assert_eq!(received(stream).0, 400);
    assert_eq!((managed.rows(), managed.uploads()), (before + 2, 0));
}

/// A sender that goes away in the middle leaves neither rows nor a file.
#[test]
fn half_an_upload_is_nothing() {
    let managed = Managed::new(true);
    let before = managed.rows();
    let mut stream = TcpStream::connect(managed.world.server.address()).unwrap();
    let head = format!(
        "POST /api/v1/data/import?name=a.csv HTTP/1.1\r\nHost: localhost\r\n{}content-length: \
         {}\r\n\r\n{ROWS}",
        managed.bearer(0),
        ROWS.len() + 1
    );
    stream.write_all(head.as_bytes()).unwrap();
    let begun = |wanted: usize| {
        for _ in 0..1000 {
            if managed.uploads() == wanted {
                return true;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        false
    };
    assert!(begun(1), "the upload has begun");
    drop(stream);
    assert!(begun(0), "its file is removed");
    assert_eq!(managed.rows(), before);
}

#[test]
fn what_a_killed_server_left_of_uploads_is_removed_at_the_start() {
    let leave = |dir: &Path| {
        fill(dir, &[BEGIN_NS]);
        std::fs::create_dir(dir.join("uploads")).unwrap();
        std::fs::write(dir.join("uploads/0123456789abcdef"), "x").unwrap();
    };
    let world = World::of(leave, |_| ());
    world.answer("status");
    assert_eq!(std::fs::read_dir(world.dir.path().join("uploads")).unwrap().count(), 0);
    // A server that only reads takes nothing, whoever asks.
    assert_eq!(world.answer("data")["can_delete"], json!(false));
}
