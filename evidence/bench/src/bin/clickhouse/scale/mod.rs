//! What a given number of rows a second needs: clusters of one to four shards are measured, lines are put
//! through what they took, and the tables of `docs/scale.md` are computed from these.

mod costs;
mod measure;
mod tables;

use anyhow::{Context, Result, ensure};
use costs::Costs;
use measure::{Measured, Sizes};
use serde_json::{Value, json};
use std::path::Path;

/// Lines of a page between which the tables stand.
const BEGIN: &str = "<!-- tables: tools/bench clickhouse --scale -->";
const END: &str = "<!-- end of tables -->";

/// Measures clusters of 1 to `shards_max` shards, each with large and with small inserts.
pub(crate) fn measure(dir: &Path, chains: usize, shards_max: usize) -> Result<Value> {
    let mut measured = Vec::new();
    for shards in 1..=shards_max {
        for batch in [65_536, 16_384] {
            let sizes = Sizes { shards, chains, batch };
            let one = measure::cluster(&dir.join(format!("{shards}-{batch}")), sizes)?;
            eprintln!("{}", json!(one));
            measured.push(one);
        }
    }
    let load = std::fs::read_to_string("/proc/loadavg")?.trim().to_owned();
    Ok(json!({ "measured": measured, "load_average": load }))
}

/// The tables of the page, as Markdown, from what [`measure()`] returned.
pub(crate) fn tables(value: &Value) -> Result<String> {
    let measured: Vec<Measured> = serde_json::from_value(value["measured"].clone())?;
    let costs = Costs::of(&measured).context("three sizes of a cluster are needed")?;
    let load = value["load_average"].as_str().unwrap_or("not known");
    let load = load.split_whitespace().take(3).collect::<Vec<_>>().join(", ");
    Ok(tables::markdown(&measured, &costs, &load))
}

/// Puts the tables into a page, between the lines that are there for them.
pub(crate) fn put_into(page: &Path, tables: &str) -> Result<()> {
    let text = std::fs::read_to_string(page).with_context(|| page.display().to_string())?;
    std::fs::write(page, with_tables(&text, tables)?).with_context(|| page.display().to_string())
}

fn with_tables(text: &str, tables: &str) -> Result<String> {
    let (before, rest) = text.split_once(BEGIN).with_context(|| format!("no line {BEGIN}"))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("no line {END}"))?;
    ensure!(!after.contains(BEGIN), "the line {BEGIN} is there twice");
    Ok(format!("{before}{BEGIN}\n\n{}\n\n{END}{after}", tables.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_stand_between_their_lines() {
        let page = format!("# Page\n\n{BEGIN}\nold\n{END}\n\nEnd\n");
        let new = with_tables(&page, "| a |\n").unwrap();
        assert_eq!(new, format!("# Page\n\n{BEGIN}\n\n| a |\n\n{END}\n\nEnd\n"));
        assert_eq!(with_tables(&new, "| a |\n").unwrap(), new);
        assert!(with_tables("nothing", "").is_err());
    }
}
