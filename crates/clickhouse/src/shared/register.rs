//! Tables of entries of which the last one counts.

use super::inserts::PLAIN;
use crate::Cluster;
use crate::error::ClickHouseError;
use crate::insert::escaped;
use crate::rows::ResultRows;
use std::fmt::Write;

/// A table of entries by kind and name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// Alarms, their notifications, and what people say of them.
    Alarms,
    /// Marks and named views.
    Annotations,
}

/// An entry of a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterEntry {
    /// Its kind.
    pub kind: String,
    /// Its name: one of this kind.
    pub name: String,
    /// Its content; empty where the entry has ended.
    pub value: String,
}

impl Register {
    const fn table(self) -> &'static str {
        match self {
            Self::Alarms => "alarms",
            Self::Annotations => "annotations",
        }
    }
}

impl Cluster {
    /// The entries of a register that have not ended, by kind and name; of transitions those of the
    /// last day.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn register(&self, register: Register) -> Result<Vec<RegisterEntry>, ClickHouseError> {
        let node = self.first();
        let sql = format!(
            "SELECT CAST(kind, 'String') AS kind, name, value FROM {} FINAL WHERE value != '' \
             AND (kind != 'transition' OR written > now() - toIntervalDay(1)) \
             ORDER BY kind, name SETTINGS select_sequential_consistency = 1",
            register.table()
        );
        let mut entries = Vec::new();
        node.query(&sql, |batch| {
            let rows = ResultRows { node, batch };
            let (kinds, names, values) =
                (rows.texts("kind")?, rows.texts("name")?, rows.texts("value")?);
            entries.extend((0..batch.num_rows()).map(|row| RegisterEntry {
                kind: kinds.value(row).to_owned(),
                name: names.value(row).to_owned(),
                value: values.value(row).to_owned(),
            }));
            Ok(())
        })?;
        Ok(entries)
    }

    /// Writes entries, all or none; when it returns they are on the server's disk. Of two writes
    /// of one entry the one that the server took later counts.
    ///
    /// # Errors
    /// [`ClickHouseError`]; they may have been written.
    pub fn write_register(
        &self,
        register: Register,
        collector: u64,
        entries: &[RegisterEntry],
    ) -> Result<(), ClickHouseError> {
        if entries.is_empty() {
            return Ok(());
        }
        let mut lines = String::new();
        for RegisterEntry { kind, name, value } in entries {
            let (kind, name, value) = (escaped(kind), escaped(name), escaped(value));
            // A String takes everything.
            let _ = writeln!(lines, "{kind}\t{name}\t{value}\t{collector}");
        }
        let table = register.table();
        let sql = format!("INSERT INTO {table} (kind, name, value, collector) FORMAT TSV");
        self.first().insert(&PLAIN, &sql, lines.as_bytes())
    }
}
