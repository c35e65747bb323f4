//! Durations of the pictures' transactions, whose times are chosen for easy computation.

use super::number;
use crate::outcome::ItemResults;
use crate::run::Run;
use anyhow::{Context, Result};
use chronoscope_published::Cell;
use serde_json::Value;
use std::path::Path;

/// A transaction: name, parent (0: none), start and elapsed time in ms.
type Transaction = (&'static str, u32, u64, u64);

/// Image 6: a parent that waits for its children.
const SYNCHRONOUS: &[Transaction] = &[("T1", 0, 0, 60), ("T2", 1, 10, 20), ("T3", 1, 35, 15)];
/// Image 7: each begins before the one before it has ended, or after.
const IN_A_ROW: &[Transaction] = &[("T1", 0, 0, 10), ("T2", 1, 15, 10), ("T3", 2, 40, 20)];
/// Image 8: a tree with two leaves.
const TREE: &[Transaction] =
    &[("T1", 0, 0, 10), ("T2", 1, 20, 10), ("T3", 2, 45, 25), ("T4", 2, 35, 10)];

/// Puts each into a store of its own and asks.
///
/// # Errors
/// When a program fails.
pub fn run(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    let questions: [(&str, &[Transaction], &[Asked]); 3] = [
        (
            "phoenix.image6",
            SYNCHRONOUS,
            &[("Δt1", &["--sync", "T1"], 60.0), ("Δt2", &["--sync", "T2"], 20.0)],
        ),
        (
            "phoenix.image7",
            IN_A_ROW,
            &[
                ("APCD(T1) = (t3 + Δt3) − t1", &["--root", "T1", "--apcd"], 60.0),
                ("APCD(T2) = (t3 + Δt3) − t2", &["--root", "T2", "--apcd"], 45.0),
            ],
        ),
        (
            "phoenix.image8",
            TREE,
            &[
                ("ACPD(T4) = (t4 − t1) + Δt4", &["--root", "T1", "--leaf", "T4"], 45.0),
                ("ACPD(T3) = (t3 − t1) + Δt3", &["--root", "T1", "--leaf", "T3"], 70.0),
                (
                    "ACPD(T2/T4) = (t4 − t2) + Δt4, one level below T2",
                    &["--root", "T2", "--leaf", "T4", "--level", "1"],
                    25.0,
                ),
            ],
        ),
    ];
    questions.into_iter().map(|(item, some, asked)| one(run, item, some, asked)).collect()
}

/// A duration: its name, its query, and its value in ms.
type Asked = (&'static str, &'static [&'static str], f64);

fn one(
    run: &mut Run<'_>,
    item: &str,
    transactions: &[Transaction],
    asked: &[Asked],
) -> Result<ItemResults> {
    let folder = run.fresh(item)?;
    let (file, data) = (folder.join("transactions.csv"), folder.join("data"));
    write(&file, transactions)?;
    run.call("chronoscope")?.arg("import").arg(&file).arg("--data").arg(&data).text()?;
    let mut found = ItemResults::new(item);
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    for (name, words, right_ms) in asked {
        let call = run.call("chronoscope")?.args(["chains", "--json", "--data"]).arg(&data);
        // The last one's requirement is not tested here.
        let answer: Value = call.args(*words).json()?;
        let ms = number(&answer, "/chains/distribution/mean_ns")? / 1e6;
        if ms != *right_ms {
            wrong.push(*name);
        }
        rows.push(vec![(*name).into(), (*right_ms).into(), ms.into()]);
    }
    let given = transactions.iter().map(|(name, parent, start, elapsed)| -> Vec<Cell> {
        let parent = if *parent == 0 { "–".to_owned() } else { format!("T{parent}") };
        vec![(*name).into(), parent.into(), (*start as f64).into(), (*elapsed as f64).into()]
    });
    found.table(
        "transactions that were put in",
        &["", "parent", "start ms", "elapsed ms"],
        given.collect(),
    );
    found.table("durations", &["", "by hand, ms", "chronoscope, ms"], rows);
    found.figure("differing", wrong.len() as f64).note(wrong.join(", "));
    Ok(found)
}

/// Writes transactions in the form of `docs/formats/csv.md`.
fn write(path: &Path, transactions: &[Transaction]) -> Result<()> {
    const BEGIN_NS: u64 = 1_200_000_000_000_000_000;
    let mut text =
        "application,class,start,elapsed_ns,id,parent,chain_high,chain_low\r\n".to_owned();
    for (index, (name, parent, start_ms, elapsed_ms)) in transactions.iter().enumerate() {
        let (start_ns, elapsed_ns) = (BEGIN_NS + start_ms * 1_000_000, elapsed_ms * 1_000_000);
        let id = index + 1;
        text += &format!("image,{name},{start_ns},{elapsed_ns},{id},{parent},1,1\r\n");
    }
    std::fs::write(path, text).with_context(|| path.display().to_string())
}
