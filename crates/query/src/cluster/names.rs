//! The names of a cluster by the ids that records use, as the ledger of a folder of files has them.

use super::missing::Missing;
use arrow_array::types::{UInt8Type, UInt32Type};
use chronoscope_clickhouse::{ClickHouseError, Cluster, Node, ResultRows};
use chronoscope_model::{ClassId, ClassName, Names, PathId, ProcessName};
use chronoscope_store::Aliases;
use std::collections::HashMap;

/// All names of a cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct ClusterNames {
    pub(super) names: Names,
    /// Rows have the text of their path. Of several ids with one text any will do: it is the text
    /// that segments hold.
    pub(super) paths: HashMap<String, PathId>,
    /// Chains whose rows belong to others.
    pub(super) aliases: Aliases,
}

impl ClusterNames {
    /// Reads the names of all shards: each has all, but for those that are just being inserted.
    pub(super) fn read(cluster: &Cluster) -> Result<Self, ClickHouseError> {
        Self::read_reachable(cluster, &mut Missing::default())
    }

    /// The same without the shards that are in `missing`, of which no name is missed.
    pub(super) fn read_reachable(
        cluster: &Cluster,
        missing: &mut Missing,
    ) -> Result<Self, ClickHouseError> {
        let by_shard = cluster.ask_all(&mut missing.0, |_, node| {
            let mut names = Self::default();
            names.read_all(node)?;
            Ok(names)
        })?;
        let mut all = Self::default();
        for theirs in by_shard {
            all.names.merge(&theirs.names);
            all.paths.extend(theirs.paths);
        }
        all.aliases = cluster.aliases()?;
        Ok(all)
    }

    /// The processes alone, as far as they are known to the shards that answer.
    pub(super) fn read_reachable_processes(
        cluster: &Cluster,
        missing: &mut Missing,
    ) -> Result<Names, ClickHouseError> {
        let by_shard = cluster.ask_all(&mut missing.0, |_, node| {
            let mut names = Self::default();
            names.read_processes(node)?;
            Ok(names.names)
        })?;
        let mut all = Names::default();
        for theirs in by_shard {
            all.merge(&theirs);
        }
        Ok(all)
    }

    /// Reads the names of a shard in one answer: questions wait for them.
    fn read_all(&mut self, node: &Node) -> Result<(), ClickHouseError> {
        let sql = "SELECT toUInt8(0) AS kind, id, application AS one, class AS other, \
             toUInt32(0) AS pid, toInt64(0) AS start_ns, CAST([], 'Array(UInt64)') AS classes \
             FROM classes UNION ALL \
             SELECT 1, id, path, '', 0, 0, classes FROM paths UNION ALL \
             SELECT 2, id, application, host, pid, start_ns, [] FROM processes";
        // Which paths were named shows when all classes are known.
        let mut paths: Vec<(PathId, String, Vec<ClassId>)> = Vec::new();
        node.query(sql, |batch| {
            let rows = ResultRows { node, batch };
            let (kinds, ids) = (rows.numbers::<UInt8Type>("kind")?, rows.ids("id")?);
            let (one, other) = (rows.texts("one")?, rows.texts("other")?);
            let (pids, starts) = (rows.numbers::<UInt32Type>("pid")?, rows.times("start_ns")?);
            for (row, classes) in rows.lists("classes")?.into_iter().enumerate() {
                let (one, other) = (one.value(row).to_owned(), other.value(row).to_owned());
                match kinds[row] {
                    // A class that nobody named has its number for a name.
                    0 if ClassId::of(&one, &other) == ClassId(ids[row]) => {
                        self.names.add_class(ClassName { application: one, class: other });
                    }
                    0 => {}
                    1 => paths.push((PathId(ids[row]), one, classes)),
                    _ => {
                        let (pid, start_ns) = (pids[row], starts[row]);
                        let name = ProcessName { application: one, host: other, pid, start_ns };
                        self.names.add_process(name);
                    }
                }
            }
            Ok(())
        })?;
        for (id, text, classes) in paths {
            self.paths.insert(text, id);
            // A path that nobody named is stored as one class with its number.
            let is_named = self.names.class(ClassId(id.0)).is_some();
            if is_named || classes != [ClassId(id.0)] {
                self.names.add_path(id, classes);
            }
        }
        Ok(())
    }

    fn read_processes(&mut self, node: &Node) -> Result<(), ClickHouseError> {
        node.query("SELECT application, host, pid, start_ns FROM processes", |batch| {
            let rows = ResultRows { node, batch };
            let (applications, hosts) = (rows.texts("application")?, rows.texts("host")?);
            let (pids, starts) = (rows.numbers::<UInt32Type>("pid")?, rows.times("start_ns")?);
            for row in 0..batch.num_rows() {
                self.names.add_process(ProcessName {
                    application: applications.value(row).to_owned(),
                    host: hosts.value(row).to_owned(),
                    pid: pids[row],
                    start_ns: starts[row],
                });
            }
            Ok(())
        })
    }
}
