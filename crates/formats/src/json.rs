//! JSON, version 1. Fields are only ever added; times are UTC nanoseconds, durations nanoseconds.

use chronoscope_chain::{Counts, Distribution, PartStatistics, QUANTILES, Split, Verdict};
use chronoscope_model::{ClassName, FurtherParent, ProcessName, Transaction};
use chronoscope_statistics::{Histogram, Quantile};
use serde_json::{Map, Value, json};

/// Version of every document.
pub const VERSION: u32 = 1;

/// A whole document: its version and one named part.
pub fn document(name: &str, part: Value) -> Value {
    let mut document = Map::new();
    document.insert("version".to_owned(), VERSION.into());
    document.insert(name.to_owned(), part);
    Value::Object(document)
}

/// One transaction, with every field.
pub fn transaction(t: &Transaction) -> Value {
    json!({
        "application": t.class.application,
        "class": t.class.class,
        "process": t.process.as_ref().map(process),
        "thread": t.thread,
        "start_ns": t.start_ns,
        "elapsed_ns": t.elapsed_ns,
        "cpu_ns": t.known_cpu_ns(),
        "process_cpu_ns": t.process_cpu_ns,
        "status": t.status.name(),
        "id": t.id.to_string(),
        "parent": (!t.parent.is_none()).then(|| t.parent.to_string()),
        "chain": t.chain.to_string(),
        "flags": t.flags.0,
        "level": t.level,
        "path": t.path,
        "root_start_ns": t.root_start_ns,
        "root_process": t.root_process.as_ref().map(process),
        "properties": pairs(&t.properties),
        "metrics": pairs(&t.metrics),
        "links": t.extras.further_parents.iter().map(link).collect::<Value>(),
    })
}

/// A further parent of a transaction. Without `root_start_ns` its correlator did not carry the root.
fn link(parent: &FurtherParent) -> Value {
    json!({
        "chain": parent.chain.to_string(),
        "id": parent.id.to_string(),
        "root_start_ns": parent.root.map(|root| root.start_ns),
    })
}

/// A process.
pub fn process(p: &ProcessName) -> Value {
    json!({
        "application": p.application, "host": p.host, "pid": p.pid, "start_ns": p.start_ns,
    })
}

/// A class by its name.
pub fn class(c: &ClassName) -> Value {
    json!({ "application": c.application, "class": c.class })
}

/// A histogram: exact count, sum, smallest and largest; quantiles to 3.125 %.
pub fn histogram(h: &Histogram) -> Value {
    json!({
        "count": h.count(),
        "sum_ns": u64::try_from(h.sum()).unwrap_or(u64::MAX),
        "mean_ns": h.mean(),
        "min_ns": h.min(),
        "p50_ns": h.quantile(Quantile::P50),
        "p99_ns": h.quantile(Quantile::P99),
        "max_ns": h.max(),
    })
}

/// A distribution; all durations in nanoseconds, quantiles by nearest rank.
pub fn distribution(d: &Distribution) -> Value {
    let named = QUANTILES.iter().zip(d.quantiles_ns);
    let quantiles = named.map(|(quantile, ns)| (format!("{quantile}"), ns.into()));
    json!({
        "count": d.count,
        "min_ns": d.min_ns,
        "mean_ns": d.mean_ns,
        "median_ns": d.median_ns(),
        "sd_ns": d.sd_ns,
        "max_ns": d.max_ns,
        "quantiles_ns": quantiles.collect::<Map<_, Value>>(),
        "three_sigma_ns": d.three_sigma_ns(),
        "above_3_sigma": d.above_3_sigma,
        "share_above_3_sigma": d.share_above_3_sigma(),
    })
}

/// A verdict.
pub fn verdict(v: &Verdict) -> Value {
    json!({
        "limit_ns": v.requirement.limit_ns,
        "required_share": f64::from(v.requirement.share_millionths) / 1e6,
        "within": v.within,
        "above": v.above(),
        "share_above": v.share_above(),
        "holds": v.holds(),
        "state": v.state().name(),
        "population": v.population.name(),
        "count": v.count,
        "undecided": v.undecided,
        "unseen": (v.unseen < u64::MAX).then_some(v.unseen),
        "not_arrived": v.not_arrived,
        "text": v.to_string(),
    })
}

/// Numbers of durations used and left out, by reason.
pub fn counts(c: &Counts) -> Value {
    json!({
        "used": c.used,
        "incomplete": c.incomplete,
        "before_parent": c.before_parent,
        "foreign": c.foreign,
        "negative": c.negative,
        "root_missing": c.root_missing,
        "duplicates": c.duplicates,
    })
}

/// The split of a path: an object for each of `hops`, root first.
pub fn split(hops: &[String], split: &Split) -> Value {
    let part = |p: &PartStatistics| {
        json!({
            "mean_ns": p.mean_ns(),
            "p50_ns": p.quantile_ns(Quantile::P50),
            "p99_ns": p.quantile_ns(Quantile::P99),
        })
    };
    let named = hops.iter().zip(&split.hops);
    named
        .map(|(hop, (inside, waiting))| {
            json!({ "hop": hop, "inside": part(inside), "waiting": part(waiting) })
        })
        .collect()
}

fn pairs<V: Clone + Into<Value>>(pairs: &[(String, V)]) -> Value {
    Value::Object(pairs.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::{NO_PROCESS_CPU, Names, Record, TransactionId};

    #[test]
    fn a_transaction_in_json() {
        let mut names = Names::default();
        names.add_class(ClassName { application: "MRTS".into(), class: "Correlate".into() });
        let (class, _) = names.classes().next().unwrap();
        let record = Record {
            class,
            id: TransactionId(255),
            elapsed_ns: 5,
            process_cpu_ns: NO_PROCESS_CPU,
            ..Record::default()
        };
        let mut context = [0; 32];
        let metric = chronoscope_model::context::ContextEntry::Metric("plots", 3.5);
        let len = chronoscope_model::context::append(&mut context, 0, metric).unwrap();
        let value = transaction(&Transaction::from_record(&record, &context[..len], &names));
        assert_eq!(value["class"], "Correlate");
        assert_eq!(value["id"], "00000000000000ff");
        assert_eq!(value["parent"], Value::Null);
        assert_eq!(value["process_cpu_ns"], Value::Null);
        assert_eq!(value["metrics"]["plots"], 3.5);
        assert_eq!(value["cpu_ns"], 0, "a recorder measured 0");
    }

    #[test]
    fn cpu_time_that_nobody_measured_is_null() {
        let flags = chronoscope_model::Flags::FOREIGN.0;
        let record = Record { flags, ..Record::default() };
        let value = transaction(&Transaction::from_record(&record, b"", &Names::default()));
        assert_eq!(value["cpu_ns"], Value::Null);
    }
}
