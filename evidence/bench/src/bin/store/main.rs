//! Benchmark of storing: bytes of a transaction in each order, and durable transactions per second.
//!
//! Rows are generated (radar chains, ids as the recorder makes them or at random); only the store
//! is measured. The disk's own speed is measured in the same run for comparison.

mod ingest;
mod layout;
mod rows;

use anyhow::Result;
use clap::Parser;

/// Measures the cost of storing transactions
#[derive(Parser)]
struct Arguments {
    /// Rows of the comparison of orders
    #[arg(long, default_value_t = 1_400_000)]
    rows: usize,
    /// Duration of storing rows as fast as possible, in seconds
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Folder for the files during the run
    #[arg(long, default_value = "/tmp")]
    dir: std::path::PathBuf,
    /// Run only this part
    #[arg(long, value_parser = ["layout", "ingest"])]
    only: Option<String>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let wanted = |part: &str| arguments.only.as_deref().is_none_or(|only| only == part);
    let mut results = serde_json::Map::new();
    if wanted("layout") {
        let value = layout::compare(&arguments.dir, arguments.rows, arguments.json)?;
        results.insert("layout".to_owned(), value);
    }
    if wanted("ingest") {
        let value = ingest::run(&arguments.dir, arguments.seconds, arguments.json)?;
        results.insert("ingest".to_owned(), value);
    }
    if arguments.json {
        println!("{}", serde_json::Value::Object(results));
    }
    Ok(())
}
