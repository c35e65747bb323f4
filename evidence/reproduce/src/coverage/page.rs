//! The page `docs/coverage.md`, out of the table: without times and outcomes, the same each time.

use chronoscope_published::coverage::{Coverage, CoverageCheck, CoverageRow, CoverageState};
use chronoscope_published::{Document, Published};
use std::fmt::Write as _;

const HEAD: &str = "\
# What works of the five documents

One row for each feature, figure and finding of the five published documents, in their order: where \
it is here, whether it works, and how to check that. A row *works* only with a check. *In part* and \
*not* say what is lacking, or that ours differs from the document's finding.

| check | |
|---|---|
| `tools/reproduce --only ITEM` | builds the programs and measures; the verdict on the item, or on the figure named beside it, stands in `out/reproduce/report/index.html` ([reproduce.md](reproduce.md)). `QUICK=1` before it takes the short form, which lacks some figures |
| `cargo test -p CRATE …` | a test. Tests that need other programs of the workspace say which; `make test` builds all, and runs all |
| `tools/page e2e`, `tools/java test` | journeys through the page in Chromium; tests of the Java binding |
| `chronoscope …` and other programs | a command on the built programs (`make build` or `cargo build --release --workspace --bins`; they are in `target/release`), from the repository's root. `make reproduce` runs all of them; `tools/reproduce --only coverage` runs these alone |

`make reproduce` writes the outcomes of all checks but the tests' into the report's section \
\"Coverage\". This page is written by `reproduce --coverage docs/coverage.md` out of \
`evidence/published/coverage.toml`, and a test holds it to that.
";

/// The whole page.
#[must_use]
pub fn page(published: &Published, coverage: &Coverage) -> String {
    let mut page = HEAD.to_owned();
    let all = coverage.rows.len();
    let _ =
        writeln!(page, "\n| document | rows | works | in part | not |\n|---|---:|---:|---:|---:|");
    for document in &published.documents {
        let counts = coverage.counts(Some(&document.id)).map(|(_, count)| count);
        let [works, part, not] = counts;
        let (title, id) = (&document.title, &document.id);
        let rows: usize = counts.iter().sum();
        let _ = writeln!(page, "| [{title}](#{id}) | {rows} | {works} | {part} | {not} |");
    }
    let [works, part, not] = coverage.counts(None).map(|(_, count)| count);
    let _ = writeln!(page, "| all | {all} | {works} | {part} | {not} |");
    for document in &published.documents {
        section(&mut page, document, coverage);
    }
    page
}

fn section(page: &mut String, document: &Document, coverage: &Coverage) {
    let Document { id, title, authors, year, .. } = document;
    let _ = write!(
        page,
        "\n## {id}\n\n{authors}, *{title}* ({year}).\n\n\
         | place | claim, feature or figure | here | state | check |\n|---|---|---|---|---|\n"
    );
    for row in coverage.rows.iter().filter(|row| row.document == *id) {
        let cells = [
            row.place.clone(),
            row.what.clone(),
            row.here.clone(),
            state(row),
            row.check.as_ref().map_or("–".to_owned(), check),
        ];
        let _ = writeln!(page, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    }
}

/// The state, and what is lacking.
#[must_use]
pub fn state(row: &CoverageRow) -> String {
    let lacking = row.lacking.as_deref().map_or(String::new(), |lacking| format!(": {lacking}"));
    let name = match row.state {
        CoverageState::Works => "works".to_owned(),
        other => format!("**{}**", other.name()),
    };
    name + &lacking
}

/// The command, and what of its result is meant.
fn check(check: &CoverageCheck) -> String {
    let line = check.line();
    match check {
        CoverageCheck::Item(check) => match &check.figure {
            Some(figure) => format!("`{line}`, figure `{figure}`"),
            None => format!("`{line}`"),
        },
        CoverageCheck::Test(test) if line.ends_with(&test.name) => format!("`{line}`"),
        CoverageCheck::Test(test) => format!("`{line}`: “{}”", test.name),
        CoverageCheck::Command(command) => {
            let exit = match command.exit {
                0 => String::new(),
                code => format!(" ends with {code}"),
            };
            let says =
                command.says.as_ref().map_or(String::new(), |says| format!(" prints “{says}”"));
            format!("`{line}`{exit}{says}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is committed is what the table gives: `reproduce --coverage docs/coverage.md` writes it.
    #[test]
    fn the_page_is_what_the_table_gives() {
        let published = Published::read().unwrap();
        let coverage = Coverage::read(&published).unwrap();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/coverage.md");
        let kept = std::fs::read_to_string(path).unwrap();
        let made = page(&published, &coverage);
        let line = kept.lines().zip(made.lines()).find(|(kept, made)| kept != made);
        assert_eq!(line, None, "reproduce --coverage docs/coverage.md writes it anew");
        assert_eq!(kept.len(), made.len());
    }

    #[test]
    fn a_row_has_its_state_and_check() {
        let published = Published::read().unwrap();
        let text = "[[row]]\nid = \"csts-x\"\ndocument = \"csts\"\nplace = \"slide 1\"\n\
                    what = \"a | b\"\nwhere = \"sle-user\"\nstate = \"part\"\nlacking = \"c\"\n\
                    check = { command = \"sle-user --help\", exit = 2, says = \"x\" }";
        let coverage = Coverage::parse(text, &published).unwrap();
        let page = page(&published, &coverage);
        let row = "| slide 1 | a \\| b | sle-user | **in part**: c | `sle-user --help` ends with 2 \
                   prints “x” |";
        assert!(page.contains(row), "{page}");
        assert!(page.contains("| all | 1 | 0 | 1 | 0 |"));
    }
}
