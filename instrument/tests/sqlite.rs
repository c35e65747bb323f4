//! The SQLite extension in Debian's shell and in Python.

#![allow(clippy::unwrap_used)] // helpers of tests

mod support;

use chronoscope_model::Status;
use std::path::PathBuf;
use std::sync::OnceLock;
use support::{World, classes, have, instrument, metric, only, property, run};

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// The extension, without its suffix, as `.load` takes it; built once.
fn extension() -> Option<&'static PathBuf> {
    static EXTENSION: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = EXTENSION.get_or_init(|| {
        let headers = "/usr/include/sqlite3ext.h";
        let there = have(headers, "libsqlite3-dev", "the SQLite extension")
            && have("/usr/bin/sqlite3", "sqlite3", "the SQLite extension");
        there.then(|| instrument("sqlite").join("libsqlite_arm4"))
    });
    built.as_ref()
}

/// Runs statements in the shell, one argument each, on a database in this world.
fn shell(world: &World, database: &str, statements: &[&str]) -> Option<(String, String)> {
    let mut command = world.command("sqlite3");
    command.current_dir(world.path()).arg("-batch").arg("-init").arg("/dev/null").arg(database);
    command.arg(format!(".load {}", extension()?.display())).args(statements);
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((text(&output.stdout), text(&output.stderr)))
}

#[test]
fn statements_of_the_shell_are_transactions() {
    let world = World::new();
    let statements = [
        "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT NOT NULL)",
        "insert into t values (1, 'x'), (2, 'y'), (3, 'z')",
        "SELECT a FROM t WHERE b <> 'y' AND a IN (1, 2, 3)",
        "UPDATE t SET b = 'w' WHERE a > 1",
        "INSERT INTO t VALUES (1, 'again')",
    ];
    let Some((rows, errors)) = shell(&world, "shop.db", &statements) else { return };
    assert_eq!(rows, "1\n3\n");
    assert!(errors.contains("UNIQUE constraint failed"), "{errors}");

    let all = world.transactions();
    let select = only(&all, "SELECT a FROM t WHERE b <> ? AND a IN (?)");
    assert_eq!(select.class.application, "sqlite");
    assert_eq!((select.status, metric(select, "rows")), (Status::Good, Some(2.0)));
    assert!(property(select, "database").ends_with("shop.db"), "{select:?}");
    assert!(metric(select, "vm_steps") > Some(10.0), "{select:?}");
    assert_eq!(metric(select, "fullscan_steps"), Some(0.0), "by the primary key");
    let update = only(&all, "UPDATE t SET b = ? WHERE a > ?");
    assert_eq!((metric(update, "changes"), metric(update, "rows")), (Some(2.0), Some(0.0)));

    let inserts: Vec<_> =
        all.iter().filter(|t| t.class.class.to_lowercase() == "insert into t values (?)").collect();
    assert_eq!(inserts.len(), 2, "{:?}", classes(&all));
    assert_eq!(inserts[0].status, Status::Good);
    assert_eq!(metric(inserts[0], "changes"), Some(3.0));
    assert_eq!(inserts[1].status, Status::Failed);
    assert!(
        inserts[1].properties.iter().any(|(_, value)| value == "constraint failed"),
        "{:?}",
        inserts[1]
    );
    assert!(all.iter().all(|t| t.level == 0), "one after another, not inside one another");
}

#[test]
fn triggers_are_counted_and_inner_statements_are_children() {
    let world = World::new();
    let statements = [
        "CREATE TABLE t (a)",
        "CREATE TABLE log (a)",
        "CREATE TRIGGER noted AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END",
        "INSERT INTO t VALUES (1), (2)",
        "CREATE VIRTUAL TABLE words USING fts5(word)",
        "INSERT INTO words VALUES ('hello')",
    ];
    let Some((_, errors)) = shell(&world, ":memory:", &statements) else { return };
    assert_eq!(errors, "");
    let all = world.transactions();
    let insert = only(&all, "INSERT INTO t VALUES (?)");
    assert_eq!((metric(insert, "triggers"), metric(insert, "changes")), (Some(2.0), Some(4.0)));
    assert_eq!(property(insert, "database"), ":memory:");
    // Full-text search keeps its index with statements of its own.
    let words = only(&all, "INSERT INTO words VALUES (?)");
    let children: Vec<_> = all.iter().filter(|t| t.parent == words.id).collect();
    assert!(children.len() > 2, "{:?}", classes(&all));
    assert!(children.iter().all(|t| t.chain == words.chain && t.level == 1), "{children:?}");
}

#[test]
fn the_environment_and_the_connection_can_name_a_parent() {
    let world = World::new();
    let Some(extension) = extension() else { return };
    let mut command = world.command("sqlite3");
    command.arg("-init").arg("/dev/null").arg(":memory:").env("TRACEPARENT", TRACE);
    let load = format!(".load {}", extension.display());
    let other = TRACE.replace("0af7", "1111");
    let set = format!("SELECT arm4_parent('{other}')");
    let clear = "SELECT arm4_parent(NULL)";
    let wrong = "SELECT arm4_parent('00-short-01')";
    let output =
        command.args([&load, "VALUES (1)", &set, "VALUES (2), (3)", clear, "SELECT 4 AS x", wrong]);
    let output = output.output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("arm4_parent: neither"));
    let all = world.transactions();
    let values: Vec<_> = all.iter().filter(|t| t.class.class == "VALUES (?)").collect();
    let id = |trace: &str| trace["00-".len()..][..32].to_owned();
    assert_eq!(values[0].chain.to_string(), id(TRACE));
    assert_eq!(values[1].chain.to_string(), id(&other), "what the connection was told");
    assert_eq!(only(&all, "SELECT ? AS x").chain.to_string(), id(TRACE), "the environment again");
}

/// One connection of a program in Python: prepared statements again and again, cursors that are
/// open together, an interrupted statement, a callback that fails, threads.
const PROGRAM: &str = r#"
import sqlite3, sys, threading
db = sqlite3.connect(":memory:", check_same_thread=False)
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
db.execute("CREATE TABLE t (a INTEGER, b TEXT)")
for i in range(100):
    db.execute("INSERT INTO t VALUES (?, ?)", (i, "x" * i))
first = db.execute("SELECT a FROM t ORDER BY a")
assert next(first) == (0,)
second = db.execute("SELECT max(a) FROM t")
assert next(second) == (99,)
assert len(first.fetchall()) == 99
db.create_function("broken", 1, lambda x: 1 / 0)
try:
    db.execute("SELECT broken(a) FROM t").fetchall()
    raise SystemExit("an error was lost")
except sqlite3.OperationalError:
    pass
db.set_progress_handler(lambda: 1, 10)
try:
    db.execute("SELECT count(*) FROM t, t AS u, t AS v").fetchall()
    raise SystemExit("an interrupt was lost")
except sqlite3.OperationalError as error:
    assert "interrupted" in str(error)
db.set_progress_handler(None, 0)
half = db.execute("SELECT b FROM t")
next(half)
half.close()
def work(number):
    other = sqlite3.connect(":memory:")
    for i in range(50):
        assert other.execute("SELECT %d + %d" % (number, i)).fetchone() == (number + i,)
    other.close()
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for t in threads: t.start()
for t in threads: t.join()
db.close()
"#;

#[test]
fn a_program_in_python_is_measured_as_it_is() {
    let Some(extension) = extension() else { return };
    let python = "/usr/bin/python3"; // Debian's: it may load extensions
    if !have(python, "python3", "the SQLite extension in Python") {
        return;
    }
    let world = World::new();
    run(world.command(python).arg("-c").arg(PROGRAM).arg(extension));
    let all = world.transactions();
    let count = |class: &str| all.iter().filter(|t| t.class.class == class).count();
    assert_eq!(count("INSERT INTO t VALUES (?)"), 100);
    assert_eq!(count("SELECT ? + ?"), 200, "in connections opened later, in four threads");
    let first = only(&all, "SELECT a FROM t ORDER BY a");
    let second = only(&all, "SELECT max(a) FROM t");
    assert_eq!((metric(first, "rows"), metric(second, "rows")), (Some(100.0), Some(1.0)));
    assert_ne!(second.parent, first.id, "open together, but not one inside the other");
    assert!(first.elapsed_ns > second.start_ns.abs_diff(first.start_ns));
    assert_eq!(only(&all, "SELECT broken(a) FROM t").status, Status::Failed);
    assert_eq!(only(&all, "SELECT count(*) FROM t, t AS u, t AS v").status, Status::Aborted);
    let half = only(&all, "SELECT b FROM t");
    assert_eq!(half.status, Status::Good);
    assert!(metric(half, "rows") <= Some(2.0), "Python may read one row ahead: {half:?}");
}

#[test]
fn texts_without_end_share_a_class() {
    let world = World::new();
    let script = (0..600).map(|i| format!("CREATE TABLE t{i} (a);\n")).collect::<String>();
    let file = world.path().join("many.sql");
    std::fs::write(&file, script).unwrap();
    let read = format!(".read {}", file.display());
    let Some((_, errors)) = shell(&world, ":memory:", &[&read]) else { return };
    assert_eq!(errors, "");
    let all = world.transactions();
    let shared = all.iter().filter(|t| t.class.class == "CREATE (other)").count();
    assert_eq!((all.len(), shared), (600, 88));
}

/// Statements of a megabyte, with control characters, cut short, and more of them than there are
/// classes: the shell says what it says without the extension.
#[test]
fn hostile_statements_are_answered_as_without_the_extension() {
    let Some(extension) = extension() else { return };
    let world = World::new();
    let long = |piece: &str| piece.repeat(1_000_000 / piece.len());
    let mut script = String::from(".bail off\n");
    for piece in ["a", "''", "\"\"", "[", "(", "--x\n", "/*", "\u{1}", "\u{4f60}", "1,", "$a$"] {
        script += &format!("SELECT length('{}');\n", long(piece).replace('\'', "''"));
        script += &format!("SELECT '{}' IS NULL AS \"{}\";\n", "x", piece.replace('"', "\"\""));
    }
    script += &format!("SELECT 1 -- {}\n;\n", long("/*"));
    script += &format!("SELECT {};\n", vec!["1"; 1900].join(","));
    script += "SELEC \u{1b}2J;\nSELECT '\u{7f}\u{8}\u{202e}';\nSELECT x'00ff', 1e, 0x;\n;;;\n";
    for number in 0..1500 {
        script += &format!("SELECT {number} AS column_{number};\n");
    }
    script += "SELECT 'never closed";
    let file = world.path().join("script");
    let answers = |load: &str| {
        std::fs::write(&file, format!("{load}\n{script}")).unwrap();
        let mut command = world.command("sqlite3");
        command.args(["-batch", "-init", "/dev/null", ":memory:"]);
        let output = command.stdin(std::fs::File::open(&file).unwrap()).output().unwrap();
        (output.status.code(), output.stdout, output.stderr)
    };
    let plain = answers("");
    let measured = answers(&format!(".load {}", extension.display()));
    assert!(plain.1.len() > 5_000, "{plain:?}");
    assert!(plain == measured, "{}", String::from_utf8_lossy(&measured.2));
    let all = world.transactions();
    assert!(all.len() > 1000);
    assert!(classes(&all).iter().all(|class| !class.chars().any(char::is_control)));
    let names: std::collections::BTreeSet<_> = classes(&all).into_iter().collect();
    assert!(names.len() <= 512 + 30, "{} classes", names.len());
}
