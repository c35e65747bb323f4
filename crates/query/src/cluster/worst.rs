//! The worst transactions of every class of a cluster: each shard finds its own.

use super::fetch::{ALL, CONTEXT, transaction};
use super::missing::Missing;
use super::sql::{between, quoted};
use crate::QueryError;
use crate::cluster::ClusterView;
use crate::progress::Progress;
use crate::worst::{ByClass, WorstBy, WorstQuery};
use chronoscope_clickhouse::{ClickHouseError, Node, ResultRows};
use chronoscope_model::schema::column;
use chronoscope_model::{ChainId, ClassName, Flags, Transaction};
use chronoscope_store::{Damage, Minute};
use std::cmp::Reverse;
use std::ops::Range;

const FOREIGN: u8 = Flags::FOREIGN.0;

impl ClusterView {
    /// The worst transactions by class, the worst first, as [`crate::worst`] finds them in files; and
    /// the shards that are missing.
    ///
    /// # Errors
    /// [`QueryError::ClickHouse`] also when one of the shards does not answer; `Cancelled`.
    pub fn worst(
        &self,
        question: &WorstQuery,
        progress: &Progress,
    ) -> Result<(ByClass, Vec<Damage>), QueryError> {
        let selected = match &question.class {
            None => None,
            Some(class) => {
                let names = self.class_names()?;
                Some(names.into_iter().filter(|name| class.selects(name)).collect::<Vec<_>>())
            }
        };
        if selected.as_ref().is_some_and(Vec::is_empty) || question.count == 0 {
            return Ok((ByClass::new(), Vec::new()));
        }
        progress.expect(self.cluster().shard_count() as u64);
        let sql = sql(question, selected.as_deref());
        let mut missing = Missing::default();
        let by_shard = self.cluster().ask_all(&mut missing.0, |_, node| rows(node, &sql))?;
        let mut found = ByClass::new();
        for row in by_shard.into_iter().flatten() {
            found.entry(row.class.clone()).or_default().push(row);
        }
        for rows in found.values_mut() {
            let value = |t: &Transaction| match question.by {
                WorstBy::Elapsed => Some(t.elapsed_ns),
                WorstBy::Cpu => t.known_cpu_ns(),
            };
            // The order of files: of equal ones the earlier first.
            rows.sort_by_key(|row| (Reverse(value(row)), row.start_ns, row.id));
            rows.truncate(question.count);
        }
        progress.check()?;
        Ok((found, missing.into_damage()))
    }
}

/// The query for a shard's worst rows: their keys first, from a few columns, then all of them.
fn sql(question: &WorstQuery, classes: Option<&[ClassName]>) -> String {
    let Range { start, end } = question.start_ns;
    let minutes = Minute::of(start).0..=Minute::of(end.saturating_sub(1)).0;
    let mut conditions = vec![
        between("minute", &minutes),
        // Of foreign rows it is their own start.
        format!("toUnixTimestamp64Nano(root_start) >= {start}"),
        format!("toUnixTimestamp64Nano(root_start) < {end}"),
    ];
    if !question.hosts.is_empty() {
        let hosts: Vec<_> = question.hosts.iter().map(|host| quoted(host)).collect();
        conditions.push(format!("host IN ({})", hosts.join(", ")));
    }
    if let Some(classes) = classes {
        let class =
            |name: &ClassName| format!("({}, {})", quoted(&name.application), quoted(&name.class));
        let classes: Vec<_> = classes.iter().map(class).collect();
        conditions.push(format!("(application, class) IN ({})", classes.join(", ")));
    }
    let value = match question.by {
        WorstBy::Elapsed => "elapsed_ns",
        WorstBy::Cpu => {
            conditions.push(format!("(bitAnd(flags, {FOREIGN}) = 0 OR cpu_ns > 0)"));
            "cpu_ns"
        }
    };
    let conditions = conditions.join(" AND ");
    let key = "minute, chain_high, chain_low, id";
    let within = between("minute", &minutes);
    format!(
        "SELECT {ALL}, {CONTEXT}, chain_high, chain_low FROM transactions WHERE {within} AND ({key}) \
         IN (SELECT {key} FROM transactions WHERE {conditions} \
         ORDER BY {value} DESC, start, id LIMIT {} BY application, class)",
        question.count
    )
}

fn rows(node: &Node, sql: &str) -> Result<Vec<Transaction>, ClickHouseError> {
    let mut found = Vec::new();
    node.query(sql, |batch| {
        let rows = ResultRows { node, batch };
        let (high, low) = (rows.ids(column::CHAIN_HIGH)?, rows.ids(column::CHAIN_LOW)?);
        for row in 0..batch.num_rows() {
            let chain = ChainId::from_halves(high[row], low[row]);
            found.push(transaction(&rows, row, chain)?);
        }
        Ok(())
    })?;
    Ok(found)
}
