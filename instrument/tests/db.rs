//! The preload library with Debian's PostgreSQL and MariaDB, and programs that know nothing of it.

#![allow(clippy::unwrap_used)] // helpers of tests

mod support;

use chronoscope_model::{Status, Transaction};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use support::{
    Server, World, as_nobody, classes, compile, have, instrument, metric, only, property, run,
    text, wait_until,
};

fn library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| instrument("db").join("libarm4_db.so"))
}

/// A PostgreSQL of its own, reached by a socket in the world's folder `run`.
fn postgresql(world: &World) -> Option<Server> {
    let what = "SQL through libpq";
    if !have("/usr/lib/postgresql/15/bin/initdb", "postgresql-15", what)
        || !have("/usr/include/postgresql/libpq-fe.h", "libpq-dev", what)
    {
        return None;
    }
    let (run_dir, data) = (world.folder("run"), world.folder("server").join("data"));
    let mut init = as_nobody("/usr/lib/postgresql/15/bin/initdb");
    init.args(["-A", "trust", "-N", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "-D"]);
    run(init.arg(&data).current_dir(&run_dir));
    let mut server = as_nobody("/usr/lib/postgresql/15/bin/postgres");
    server.arg("-D").arg(&data).arg("-k").arg(&run_dir);
    server.args(["-F", "-c", "listen_addresses=", "-c", "shared_buffers=4MB"]);
    server.stdout(Stdio::null()).stderr(Stdio::null()).current_dir(&run_dir);
    let server = Server(server.spawn().unwrap());
    wait_until("PostgreSQL answers", || {
        let mut ready = Command::new("/usr/lib/postgresql/15/bin/pg_isready");
        ready.arg("-q").arg("-h").arg(&run_dir).status().unwrap().success()
    });
    Some(server)
}

/// A MariaDB of its own, reached by the socket `run/my.sock` as user `root`.
fn mariadb(world: &World) -> Option<Server> {
    let what = "SQL through libmariadb";
    if !have("/usr/sbin/mariadbd", "mariadb-server-core", what)
        || !have("/usr/bin/mariadb", "mariadb-client-core", what)
        || !have("/usr/include/mariadb/mysql.h", "libmariadb-dev", what)
    {
        return None;
    }
    let (run_dir, data) = (world.folder("run"), world.folder("server"));
    let socket = run_dir.join("my.sock");
    let mut init = as_nobody("/usr/bin/mariadb-install-db");
    init.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
    run(init.arg(format!("--datadir={}", data.display())).current_dir(&run_dir));
    let mut server = as_nobody("/usr/sbin/mariadbd");
    server.args(["--no-defaults", "--skip-networking", "--innodb-flush-log-at-trx-commit=0"]);
    server.arg(format!("--datadir={}", data.display()));
    server.arg(format!("--socket={}", socket.display()));
    server.arg(format!("--pid-file={}", run_dir.join("my.pid").display()));
    let server = server.current_dir(&run_dir).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let server = Server(server.unwrap());
    wait_until("MariaDB answers", || {
        let mut ask = Command::new("/usr/bin/mariadb");
        ask.arg("--no-defaults").arg("-uroot").arg("-S").arg(&socket);
        let ask = ask.args(["-e", "CREATE DATABASE IF NOT EXISTS test"]);
        ask.stderr(Stdio::null()).status().unwrap().success()
    });
    Some(server)
}

/// Runs a program as it is and with the library before it; what it said has to be the same.
/// Returns that.
#[track_caller]
fn unchanged(make: &mut dyn FnMut() -> Command) -> String {
    let plain = run(&mut make());
    let measured = run(make().env("LD_PRELOAD", library()));
    let said = text(&plain.stdout);
    assert_eq!(said, text(&measured.stdout));
    assert_eq!(text(&plain.stderr), text(&measured.stderr));
    said
}

fn of_class<'a>(all: &'a [Transaction], class: &str) -> Vec<&'a Transaction> {
    all.iter().filter(|t| t.class.class == class).collect()
}

#[track_caller]
fn rows(all: &[Transaction], class: &str) -> Option<f64> {
    metric(only(all, class), "rows")
}

fn sqlstate(transaction: &Transaction) -> String {
    let found = transaction.properties.iter().find(|(_, value)| value.starts_with("SQLSTATE"));
    found.map_or(String::new(), |(_, value)| value["SQLSTATE ".len()..].to_owned())
}

#[test]
fn every_query_through_libpq_is_a_transaction() {
    let world = World::new();
    let Some(_server) = postgresql(&world) else { return };
    let program = world.path().join("pq_client");
    let flags = ["-std=c11", "-I/usr/include/postgresql", "-c"];
    compile("gcc", &["tests/c/pq_client.c"], &flags, &program_object(&program));
    link(&program, "-lpq");
    let connect = format!("host={} user=postgres dbname=postgres", world.folder("run").display());
    let drop = || {
        let mut psql = Command::new("/usr/lib/postgresql/15/bin/psql");
        let psql = psql.arg(&connect).args(["-q", "-c", "DROP TABLE IF EXISTS words"]);
        run(psql.stderr(Stdio::null()));
    };
    drop();
    let plain = run(world.command(&program).arg(&connect).env("CHRONOSCOPE_RECORD", "off"));
    drop();
    let mut measured = world.command(&program);
    let measured = run(measured.arg(&connect).env("LD_PRELOAD", library()));
    assert_eq!(text(&plain.stdout), text(&measured.stdout));
    assert_eq!(text(&plain.stderr), text(&measured.stderr));
    check_libpq(&world.transactions());
}

/// The object file of a program.
fn program_object(program: &Path) -> PathBuf {
    program.with_extension("o")
}

fn link(program: &Path, library: &str) {
    let arm4 = support::arm4();
    let mut cc = Command::new("gcc");
    cc.arg(program_object(program)).arg("-o").arg(program).arg("-L").arg(arm4.lib());
    run(cc.arg(library).arg("-larm4").arg(format!("-Wl,-rpath,{}", arm4.lib().display())));
}

fn check_libpq(all: &[Transaction]) {
    let job = only(all, "job");
    assert!(
        all.iter().all(|t| t.id == job.id || (t.parent == job.id && t.chain == job.chain)),
        "all under the transaction that is bound to the thread"
    );
    assert!(all.iter().filter(|t| t.id != job.id).all(|t| property(t, "database") == "postgres"));

    let inserts = of_class(all, "INSERT INTO words VALUES (?)");
    let seen: Vec<_> = inserts.iter().map(|t| (t.status, metric(t, "rows"), sqlstate(t))).collect();
    assert_eq!(
        seen,
        [(Status::Good, Some(1.0), String::new()), (Status::Failed, Some(0.0), "23505".to_owned())]
    );
    assert_eq!(sqlstate(only(all, "SELECT * FROM nowhere")), "42P01");
    assert_eq!(sqlstate(only(all, "SELEC ?")), "42601");
    assert_eq!(sqlstate(only(all, "EXECUTE (other)")), "26000");
    assert_eq!(only(all, "(empty)").status, Status::Good);
    let find = of_class(all, "SELECT word FROM words WHERE n = ?");
    assert_eq!(find.len(), 2, "prepared once, executed alone and in a pipeline");
    assert!(find.iter().all(|t| metric(t, "rows") == Some(1.0)), "{find:#?}");
    assert_eq!(of_class(all, "PREPARE").len(), 1);

    let series = of_class(all, "SELECT generate_series(?)");
    let counts: Vec<_> = series.iter().map(|t| metric(t, "rows")).collect();
    assert_eq!(counts, [Some(5.0), Some(3.0)], "all at once, and one by one");
    assert_eq!(only(all, "SELECT ?; SELECT ? / ?; SELECT ?").status, Status::Failed);
    assert_eq!(rows(all, "COPY words FROM STDIN"), Some(2.0), "until the data is over");

    assert_eq!(rows(all, "SELECT word FROM words WHERE n < ?"), Some(1.0));
    assert_eq!(sqlstate(only(all, "SELECT count(*) FROM nobody")), "42P01");
    let after = only(all, "SELECT count(*) FROM words");
    assert_eq!(after.status, Status::Aborted, "a pipeline stops at an error");
    assert_eq!(of_class(all, "DESCRIBE").len(), 1);
}

#[test]
fn psql_pgbench_and_python_are_measured_as_they_are() {
    let world = World::new();
    let Some(_server) = postgresql(&world) else { return };
    let host = world.folder("run");
    let mut psql = || {
        let mut psql = world.command("/usr/lib/postgresql/15/bin/psql");
        psql.arg("-X").arg("-h").arg(&host).args(["-U", "postgres", "postgres"]);
        psql.args(["-c", "SELECT 'a', 1", "-c", "\\copy (SELECT 1) TO stdout", "-c", "\\d"]);
        psql
    };
    let said = unchanged(&mut psql);
    assert!(said.contains(" a "), "{said}");
    let all = world.transactions();
    assert_eq!(only(&all, "SELECT ?").class.application, "psql");
    assert_eq!(metric(only(&all, "COPY (SELECT ?) TO STDOUT"), "rows"), Some(1.0));
    assert!(property(&all[0], "server").ends_with("/run"), "{:?}", all[0]);

    let bench = |arguments: &[&str]| {
        let mut bench = world.command("/usr/lib/postgresql/15/bin/pgbench");
        bench.arg("-h").arg(&host).args(["-U", "postgres"]).args(arguments).arg("postgres");
        run(bench.env("LD_PRELOAD", library()));
    };
    bench(&["-i", "-q", "-s", "1"]);
    bench(&["-n", "-M", "prepared", "-c", "4", "-j", "2", "-t", "25"]);
    bench(&["-n", "-M", "extended", "-S", "-t", "10"]);
    let all = world.transactions();
    let updates =
        of_class(&all, "UPDATE pgbench_accounts SET abalance = abalance + ? WHERE aid = ?");
    assert_eq!(updates.len(), 100, "{:?}", classes(&all));
    assert!(updates.iter().all(|t| metric(t, "rows") == Some(1.0) && t.status == Status::Good));
    let selects = of_class(&all, "SELECT abalance FROM pgbench_accounts WHERE aid = ?");
    assert_eq!(selects.len(), 110);

    let python = "/usr/bin/python3";
    if !have("/usr/lib/python3/dist-packages/psycopg2/__init__.py", "python3-psycopg2", "psycopg2")
    {
        return;
    }
    // Its module brings libpq along for itself alone.
    let script = format!(
        "import psycopg2; c = psycopg2.connect('host={} user=postgres'); k = c.cursor(); \
         k.execute('SELECT %s::int + 1', (41,)); print(k.fetchone()[0])",
        host.display()
    );
    let said = unchanged(&mut || {
        let mut python = world.command(python);
        python.args(["-c", &script]).env("ARM4_APPLICATION", "snake");
        python
    });
    assert_eq!(said, "42\n");
    assert_eq!(only(&world.transactions(), "SELECT ?::int + ?").class.application, "snake");
}

#[test]
fn every_query_through_libmariadb_is_a_transaction() {
    let world = World::new();
    let Some(_server) = mariadb(&world) else { return };
    let socket = world.folder("run").join("my.sock");
    let program = world.path().join("mysql_client");
    let flags = ["-std=c11", "-I/usr/include/mariadb", "-c"];
    compile("gcc", &["tests/c/mysql_client.c"], &flags, &program_object(&program));
    link(&program, "-lmariadb");
    let clean = || {
        let mut client = Command::new("/usr/bin/mariadb");
        client.arg("--no-defaults").arg("-uroot").arg("-S").arg(&socket).arg("-e");
        run(client.arg("DROP DATABASE IF EXISTS other; DROP DATABASE test; CREATE DATABASE test"));
    };
    clean();
    let plain =
        run(world.command(&program).arg(&socket).arg("root").env("CHRONOSCOPE_RECORD", "off"));
    clean();
    let mut measured = world.command(&program);
    let measured = run(measured.arg(&socket).arg("root").env("LD_PRELOAD", library()));
    assert_eq!(text(&plain.stdout), text(&measured.stdout));
    assert_eq!(text(&plain.stderr), text(&measured.stderr));
    check_libmariadb(&world.transactions());

    if !have("/usr/lib/python3/dist-packages/MySQLdb/__init__.py", "python3-mysqldb", "MySQLdb") {
        return;
    }
    let script = format!(
        "import MySQLdb; c = MySQLdb.connect(unix_socket='{}', user='root'); k = c.cursor(); \
         k.execute('SELECT %s + 1 AS x', (41,)); print(k.fetchone()[0])",
        socket.display()
    );
    let said = unchanged(&mut || {
        let mut python = world.command("/usr/bin/python3");
        python.args(["-c", &script]);
        python
    });
    assert_eq!(said, "42\n");
    assert_eq!(rows(&world.transactions(), "SELECT ? + ? AS x"), Some(1.0));
}

fn check_libmariadb(all: &[Transaction]) {
    let job = only(all, "job");
    assert!(all.iter().all(|t| t.id == job.id || t.parent == job.id));
    let inserts = of_class(all, "INSERT INTO words VALUES (?)");
    let seen: Vec<_> = inserts.iter().map(|t| (metric(t, "rows"), sqlstate(t))).collect();
    assert_eq!(seen, [(Some(3.0), String::new()), (Some(0.0), "23000".to_owned())]);
    assert_eq!(inserts[1].status, Status::Failed);
    assert_eq!(rows(all, "SELECT * FROM words"), Some(3.0), "stored");
    assert_eq!(rows(all, "SELECT word FROM words"), Some(3.0), "fetched one by one");
    assert_eq!(rows(all, "SELECT n FROM words WHERE n > ?"), Some(3.0), "sent and read");
    assert_eq!(sqlstate(only(all, "SELEC ?")), "42000");
    let several = "SELECT ?; UPDATE words SET word = ? WHERE n < ?; SELECT n FROM words";
    assert_eq!(rows(all, several), Some(1.0 + 2.0 + 3.0), "all three results");
    let elsewhere = all.iter().filter(|t| property(t, "database") == "other").count();
    assert_eq!(elsewhere, 1, "after USE, until the database was changed again");

    let executed = of_class(all, "SELECT n FROM words WHERE n < ?");
    let counts: Vec<_> = executed.iter().map(|t| metric(t, "rows")).collect();
    assert_eq!(counts, [Some(2.0), Some(2.0)], "stored, and fetched one by one");
    assert_eq!(rows(all, "UPDATE words SET word = ? WHERE n = ?"), Some(1.0));
    let prepared: Vec<_> = of_class(all, "PREPARE").iter().map(|t| sqlstate(t)).collect();
    assert_eq!(prepared, ["", "42S02", ""]);
    assert!(all.iter().all(|t| t.id == job.id || property(t, "server") == "localhost"));
}
