//! The names of a cluster by the ids that records use, as the ledger of a folder of files has them.

use super::missing::Missing;
use arrow_array::types::UInt32Type;
use chronoscope_clickhouse::{ClickHouseError, Cluster, Node, ResultRows};
use chronoscope_model::{ClassId, ClassName, Names, PathId, ProcessName};
use chronoscope_store::Aliases;
use std::collections::HashMap;

/// All names of a cluster.
#[derive(Debug, Default)]
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
            names.read_classes(node)?;
            names.read_processes(node)?;
            names.read_paths(node)?;
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

    fn read_classes(&mut self, node: &Node) -> Result<(), ClickHouseError> {
        node.query("SELECT id, application, class FROM classes", |batch| {
            let rows = ResultRows { node, batch };
            let (ids, applications) = (rows.ids("id")?, rows.texts("application")?);
            let classes = rows.texts("class")?;
            for (row, id) in ids.iter().enumerate() {
                let (application, class) = (applications.value(row), classes.value(row));
                // A class that nobody named has its number for a name.
                if ClassId::of(application, class) == ClassId(*id) {
                    let (application, class) = (application.to_owned(), class.to_owned());
                    self.names.add_class(ClassName { application, class });
                }
            }
            Ok(())
        })
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

    fn read_paths(&mut self, node: &Node) -> Result<(), ClickHouseError> {
        node.query("SELECT id, path, classes FROM paths", |batch| {
            let rows = ResultRows { node, batch };
            let (ids, texts) = (rows.ids("id")?, rows.texts("path")?);
            for (row, classes) in rows.lists("classes")?.into_iter().enumerate() {
                let id = PathId(ids[row]);
                self.paths.insert(texts.value(row).to_owned(), id);
                // A path that nobody named is stored as one class with its number.
                let is_named = self.names.class(ClassId(id.0)).is_some();
                if is_named || classes != [ClassId(id.0)] {
                    self.names.add_path(id, classes);
                }
            }
            Ok(())
        })
    }
}
