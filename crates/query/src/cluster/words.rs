//! The words of a cluster, by the hashes that it sends instead of them.

use crate::error::QueryError;
use chronoscope_clickhouse::{ClickHouseError, Node, ResultRows, root_class_text};
use chronoscope_model::{ClassId, ClassName, Names, PathId, ProcessId, ProcessName};
use std::collections::HashMap;

/// Value of ClickHouse's `xxHash64` for an unknown path or host.
const NO_WORD: u64 = 0xef46_db37_51d8_e999;

/// The words of a cluster, by the hashes that it sends instead of them.
#[derive(Default)]
pub(super) struct Words {
    pub(super) names: Names,
    pub(super) classes: HashMap<(u64, u64), ClassId>,
    /// Where clocks were read, of each host a process that stands for all on it.
    hosts: HashMap<u64, ProcessId>,
}

/// Why asking a shard ended early.
pub(super) enum Ended {
    /// A row's path, class or host was named after the words were read.
    NewWord,
    Failed(QueryError),
}

impl From<ClickHouseError> for Ended {
    fn from(error: ClickHouseError) -> Self {
        Self::Failed(error.into())
    }
}

impl Words {
    pub(super) fn read(&mut self, node: &Node) -> Result<(), ClickHouseError> {
        let hashed = "xxHash64(application) AS application_hash, xxHash64(class) AS class_hash";
        let sql = format!("SELECT id, application, class, {hashed} FROM classes");
        node.query(&sql, |batch| {
            let rows = ResultRows { node, batch };
            let (ids, hashes) = (rows.ids("id")?, rows.ids("application_hash")?);
            let class_hashes = rows.ids("class_hash")?;
            let (applications, classes) = (rows.texts("application")?, rows.texts("class")?);
            for row in 0..batch.num_rows() {
                let id = ClassId(ids[row]);
                let (application, class) = (applications.value(row), classes.value(row));
                self.classes.insert((hashes[row], class_hashes[row]), id);
                // A class that nobody named has its number for a name.
                if ClassId::of(application, class) == id {
                    let (application, class) = (application.to_owned(), class.to_owned());
                    self.names.add_class(ClassName { application, class });
                }
            }
            Ok(())
        })?;
        node.query("SELECT DISTINCT xxHash64(path) AS hash, classes FROM paths", |batch| {
            let rows = ResultRows { node, batch };
            for (hash, classes) in rows.ids("hash")?.iter().zip(rows.lists("classes")?) {
                // By the hash of its text: rows have no other number for it.
                self.names.add_path(PathId(*hash), classes);
            }
            Ok(())
        })
    }

    pub(super) fn add_host(&mut self, hash: u64, host: String) {
        let (application, pid, start_ns) = (String::new(), 0, 0);
        let process = ProcessName { application, host, pid, start_ns };
        self.hosts.insert(hash, process.id());
        self.names.add_process(process);
    }

    /// The process that stands for the host of a row.
    pub(super) fn host(&self, hash: u64) -> Option<ProcessId> {
        match hash {
            NO_WORD => Some(ProcessId::NONE),
            hash => self.hosts.get(&hash).copied(),
        }
    }

    /// A root class as the column `top` has it.
    pub(super) fn top(&self, id: ClassId) -> String {
        match self.names.class(id) {
            Some(name) => root_class_text(&name.application, &name.class),
            None if id.is_none() => String::new(),
            None => format!("?{id}"),
        }
    }

    /// The path of a row.
    pub(super) fn path(&self, hash: u64) -> Option<PathId> {
        match hash {
            NO_WORD => Some(PathId::NONE),
            hash => self.names.path(PathId(hash)).map(|_| PathId(hash)),
        }
    }
}

/// The hosts of all processes, with the hashes of their names.
pub(super) fn hosts(node: &Node) -> Result<Vec<(u64, String)>, ClickHouseError> {
    let mut hosts = Vec::new();
    node.query("SELECT DISTINCT host, xxHash64(host) AS hash FROM processes", |batch| {
        let rows = ResultRows { node, batch };
        let texts = rows.texts("host")?;
        let numbered = rows.ids("hash")?.iter().enumerate();
        hosts.extend(numbered.map(|(row, hash)| (*hash, texts.value(row).to_owned())));
        Ok(())
    })?;
    Ok(hosts)
}
