//! The files for people's own servers (`dist/clickhouse`), as far as a server without Keeper can
//! take them: the tables are those that writers make, users may do what they should, and the
//! configuration says what it should.

#![allow(clippy::unwrap_used)] // helpers of tests

mod cluster;
mod world;

use chronoscope_clickhouse::{Cluster, ClusterWriter, TableOptions};
use chronoscope_query::{Limits, Question, StoreLocation};
use cluster::{Servers, Start, dist};
use std::path::Path;
use world::World;

/// Tables of a shard, `versions` included.
const TABLES: usize = 27;

#[test]
fn files_for_peoples_own_servers() {
    let servers = Servers::start_as(1, |dir| {
        // Where the server's users are, the folder users.d beside is read too.
        let default = "<clickhouse><users><default><password></password>\
            <networks><ip>127.0.0.1</ip></networks><profile>default</profile>\
            <quota>default</quota></default></users><profiles><default></default></profiles>\
            <quotas><default></default></quotas></clickhouse>";
        let path = dir.join("users.xml");
        std::fs::write(&path, default).unwrap();
        std::fs::create_dir(dir.join("users.d")).unwrap();
        let users = format!("<clickhouse>{}</clickhouse>", dist("users.d/chronoscope.xml"));
        std::fs::write(dir.join("users.d/chronoscope.xml"), users).unwrap();
        let more_config = format!(
            "{}<users_config>{}</users_config>",
            dist("config.d/cluster.xml"),
            path.display()
        );
        let launcher =
            ["env", "CHRONOSCOPE_WRITER_PASSWORD=write it", "CHRONOSCOPE_READER_PASSWORD=r"];
        Start { launcher: launcher.map(str::to_owned).into(), more_config }
    });
    let Some(servers) = servers else { return };
    the_tables_are_those_of_writers(&servers);
    users_may_do_what_they_should(&servers);
    let clusters = "SELECT count(), uniqExact(shard_num), uniqExact(host_name) \
        FROM system.clusters WHERE cluster = 'chronoscope'";
    assert_eq!(servers.sql(0, clusters), "4\t2\t4");
    let macros = "SELECT getMacro('cluster'), getMacro('shard'), getMacro('replica')";
    assert_eq!(servers.sql(0, macros), "chronoscope\t1\tch-1-1");
}

/// The tables with copies differ from those that writers make in their engines and the name of one
/// setting only.
fn the_tables_are_those_of_writers(servers: &Servers) {
    let cluster = Cluster::new(&servers.url("writers")).unwrap();
    cluster.prepare(&TableOptions::default()).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist/clickhouse/schema.sql");
    let schema = std::fs::read_to_string(path).unwrap();
    let copies = "('/clickhouse/tables/{shard}/{database}/{table}', '{replica}'";
    assert_eq!(schema.matches(copies).count(), TABLES);
    let schema = schema
        .replace(&format!("{copies})"), "")
        .replace(&format!("{copies}, "), "(")
        .replace("Replicated", "")
        .replace(" replicated_deduplication_window", " non_replicated_deduplication_window");
    let is_text = |line: &&str| !line.starts_with("--");
    let schema: String = schema.lines().filter(is_text).map(|line| format!("{line}\n")).collect();
    for statement in schema.split(";\n").map(str::trim).filter(|statement| !statement.is_empty()) {
        servers.sql(0, statement);
    }
    let tables = |database: &str| {
        let sql = format!(
            "SELECT name, create_table_query FROM system.tables \
             WHERE database = '{database}' AND engine != 'Distributed' ORDER BY name"
        );
        servers.sql(0, &sql).replace(&format!("{database}."), "")
    };
    let (made, ours) = (tables("chronoscope"), tables("writers"));
    assert_eq!(made.lines().count(), TABLES);
    for table in made.lines() {
        assert!(ours.lines().any(|line| line == table), "not as writers make it: {table}\n{ours}");
    }
}

fn users_may_do_what_they_should(servers: &Servers) {
    let url = |user: &str| {
        format!("clickhouse://{user}@{}/chronoscope?cluster=everybody", servers.name(0))
    };
    let world = World::new(31, 50);
    let mut batch = chronoscope_model::Batch::default();
    world.records.iter().for_each(|record| batch.push(*record, b""));
    let cluster = Cluster::new(&url("chronoscope:write%20it")).unwrap();
    cluster.prepare(&TableOptions::default()).unwrap();
    let writer = ClusterWriter::new(cluster);
    writer.insert(&batch, &world.names, 1).unwrap();
    let question = Question::acpd("X::a", "c");
    let ask =
        |user: &str| StoreLocation::open(&url(user)).unwrap().ask(&question, &Limits::default());
    let used = ask("chronoscope:write%20it").unwrap().counts.used;
    assert!(used > 0);
    assert_eq!(ask("chronoscope_reader:r").unwrap().counts.used, used);
    let reader = ClusterWriter::new(Cluster::new(&url("chronoscope_reader:r")).unwrap());
    let error = reader.insert(&batch, &world.names, 2).unwrap_err().to_string();
    assert!(error.contains("readonly") || error.contains("ACCESS_DENIED"), "{error}");
    let error = ask("chronoscope_reader:wrong").unwrap_err().to_string();
    assert!(error.contains("AUTHENTICATION_FAILED") && !error.contains("wrong"), "{error}");
}
