//! What storing costs: bytes of a transaction in each order, and how many a second become durable.
//!
//! Rows are generated (radar chains, ids as the recorder makes them or at random); what is
//! measured is the store. The disk's own speed stands beside, measured in the same run.

mod ingest;
mod layout;
mod rows;

use anyhow::Result;
use clap::Parser;

/// What storing transactions costs
#[derive(Parser)]
struct Arguments {
    /// Rows of the comparison of orders
    #[arg(long, default_value_t = 1_400_000)]
    rows: usize,
    /// Seconds of taking rows in as fast as possible
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Where the files go for the time of the run
    #[arg(long, default_value = "/tmp")]
    dir: std::path::PathBuf,
    /// Only this part
    #[arg(long, value_parser = ["layout", "ingest"])]
    only: Option<String>,
    /// Print JSON
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
