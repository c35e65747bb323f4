//! What of the documents works here, as data: `coverage.toml`, a row for each feature, figure and
//! finding.
//!
//! A row says where it is here, in what state, and how a reader checks that: by an item of the
//! reproduction report, by a test, or by a command. Not here: the outcomes of checks (`reproduce`).

use crate::Published;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Programs that a command may begin with: those of the build that need no other set-up.
const PROGRAMS: [&str; 8] = [
    "chronoscope",
    "aprs-server",
    "radar-generator",
    "radar-tracker",
    "radar-messages",
    "radar-display",
    "sle-provider",
    "sle-user",
];

/// Crates without a library, whose unit tests are in a program.
const PROGRAM_CRATES: [&str; 2] = ["chronoscope-cli", "chronoscope-sle-series"];

/// All rows, in the documents' order.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    /// All rows.
    #[serde(rename = "row")]
    pub rows: Vec<CoverageRow>,
}

/// A feature, a figure or a finding of a document.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoverageRow {
    /// Unique; begins with the document's id and `-`.
    pub id: String,
    /// Id of the document.
    pub document: String,
    /// Place in the document: a section, a slide, a picture.
    pub place: String,
    /// Claim, feature or figure, in a sentence.
    pub what: String,
    /// Place in this repository: command, view of the page, file of docs; empty where there is none.
    #[serde(default, rename = "where")]
    pub here: String,
    /// State of the row.
    pub state: CoverageState,
    /// What is lacking, where it does not work as a whole.
    pub lacking: Option<String>,
    /// How a reader checks the row.
    pub check: Option<CoverageCheck>,
}

/// State of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CoverageState {
    /// It works here, and has a check.
    Works,
    /// A part of it works; the row says what is lacking.
    Part,
    /// It does not work here.
    Not,
}

impl CoverageState {
    /// All of them, in the order in which they are counted.
    pub const ALL: [Self; 3] = [Self::Works, Self::Part, Self::Not];

    /// Name for display.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Part => "in part",
            Self::Not => "not",
        }
    }
}

/// A way to check a row.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "WrittenCheck")]
pub enum CoverageCheck {
    /// The verdict on an item of the report, or on one of its figures.
    Item(ItemCheck),
    /// A test.
    Test(TestCheck),
    /// A short command on the built programs, from the repository's root.
    Command(CommandCheck),
}

/// An item of the report, by its full name, or one figure of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemCheck {
    /// Full name of the item: `phoenix.image10`.
    pub item: String,
    /// A figure of the item.
    pub figure: Option<String>,
}

/// A test, by its file and name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCheck {
    /// Package of the test; `page` and `java` for tests that are not Rust.
    #[serde(rename = "crate")]
    pub package: String,
    /// File, from the repository's root.
    pub file: String,
    /// Name of the function, or of a journey through the page.
    pub name: String,
}

/// A command, and what it must do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandCheck {
    /// Program and arguments, separated by blanks.
    pub line: String,
    /// Expected exit code.
    pub exit: u8,
    /// Text that its output must contain; runs of blanks count as one.
    pub says: Option<String>,
}

/// A check as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCheck {
    item: Option<String>,
    figure: Option<String>,
    test: Option<TestCheck>,
    command: Option<String>,
    exit: Option<u8>,
    says: Option<String>,
}

impl TryFrom<WrittenCheck> for CoverageCheck {
    type Error = String;

    fn try_from(written: WrittenCheck) -> Result<Self, String> {
        let WrittenCheck { item, figure, test, command, exit, says } = written;
        match (item, test, command) {
            (Some(item), None, None) if exit.is_none() && says.is_none() => {
                Ok(Self::Item(ItemCheck { item, figure }))
            }
            (None, Some(test), None) if figure.is_none() && exit.is_none() && says.is_none() => {
                Ok(Self::Test(test))
            }
            (None, None, Some(line)) if figure.is_none() => {
                Ok(Self::Command(CommandCheck { line, exit: exit.unwrap_or(0), says }))
            }
            _ => {
                Err("a check is an item (with a figure), a test, or a command (with exit and says)"
                    .to_owned())
            }
        }
    }
}

impl Coverage {
    /// The table, held to the documents.
    ///
    /// # Errors
    /// When the file that was built in contradicts itself or the documents; a test reads it.
    pub fn read(published: &Published) -> Result<Self> {
        Self::parse(include_str!("../coverage.toml"), published)
    }

    /// A table that was written elsewhere.
    ///
    /// # Errors
    /// When it is not such a table; the row and its fault are named.
    pub fn parse(text: &str, published: &Published) -> Result<Self> {
        let read: Self = toml::from_str(text).context("coverage.toml")?;
        let mut ids = BTreeSet::new();
        for row in &read.rows {
            ensure!(ids.insert(&row.id), "coverage.toml: {} is there twice", row.id);
            row.check(published).with_context(|| format!("coverage.toml: {}", row.id))?;
        }
        Ok(read)
    }

    /// Number of rows by state, of one document or of all.
    #[must_use]
    pub fn counts(&self, document: Option<&str>) -> [(CoverageState, usize); 3] {
        let of = |row: &&CoverageRow| document.is_none_or(|id| row.document == id);
        CoverageState::ALL.map(|state| {
            (state, self.rows.iter().filter(of).filter(|row| row.state == state).count())
        })
    }
}

impl CoverageRow {
    fn check(&self, published: &Published) -> Result<()> {
        let known = published.documents.iter().any(|document| document.id == self.document);
        ensure!(known, "no document is called {}", self.document);
        let begins = format!("{}-", self.document);
        ensure!(self.id.starts_with(&begins), "the id does not begin with {begins}");
        for text in [&self.place, &self.what] {
            ensure!(!text.trim().is_empty(), "a place and a claim are needed");
        }
        let works = self.state == CoverageState::Works;
        ensure!(
            works != self.lacking.is_some(),
            "what is lacking is said of all others, and only there"
        );
        ensure!(!works || self.check.is_some(), "nothing works without a check");
        ensure!(self.state == CoverageState::Not || !self.here.is_empty(), "it is somewhere here");
        self.check.as_ref().map_or(Ok(()), |check| check.check(published))
    }
}

impl CoverageCheck {
    fn check(&self, published: &Published) -> Result<()> {
        match self {
            Self::Item(ItemCheck { item, figure }) => {
                let found = published.item(item).with_context(|| format!("no item {item}"))?;
                let figure = figure.as_ref().filter(|figure| found.figure(figure).is_none());
                ensure!(figure.is_none(), "{item} has no figure {figure:?}");
            }
            Self::Test(test) => {
                let plain = |part: &str| !part.is_empty() && part != "..";
                ensure!(test.file.split('/').all(plain), "{}: not a path in here", test.file);
                ensure!(!test.name.is_empty(), "a test without a name");
                test.line().with_context(|| format!("{}: no kind of test", test.file))?;
            }
            Self::Command(command) => {
                let program = command.words().next().unwrap_or("");
                ensure!(PROGRAMS.contains(&program), "{program:?} is none of {PROGRAMS:?}");
                let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,%+@ ".contains(c);
                ensure!(command.line.chars().all(plain), "{}: quotes, or worse", command.line);
            }
        }
        Ok(())
    }

    /// The command line by which a reader checks it.
    #[must_use]
    pub fn line(&self) -> String {
        match self {
            Self::Item(ItemCheck { item, .. }) => format!("tools/reproduce --only {item}"),
            Self::Test(test) => test.line().unwrap_or_default(),
            Self::Command(command) => command.line.clone(),
        }
    }
}

impl TestCheck {
    /// The command line that runs it; `None` for a file that is no test's.
    #[must_use]
    pub fn line(&self) -> Option<String> {
        let Self { package, file, name } = self;
        if file.starts_with("page/e2e/") && file.ends_with(".test.ts") {
            return Some("tools/page e2e".to_owned());
        }
        if file.starts_with("java/src/test/") && file.ends_with("Test.java") {
            return Some("tools/java test".to_owned());
        }
        let (_, within) = file.split_once("/tests/").or_else(|| file.split_once("/src/"))?;
        let target = if file.contains("/tests/") && !file.contains("/src/") {
            format!("--test {}", within.split('/').next()?.trim_end_matches(".rs"))
        } else if PROGRAM_CRATES.contains(&package.as_str()) {
            "--bins".to_owned()
        } else {
            "--lib".to_owned()
        };
        file.ends_with(".rs").then(|| format!("cargo test -p {package} {target} {name}"))
    }
}

impl CommandCheck {
    /// Program and arguments.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.line.split_whitespace()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(row: &str) -> Result<Coverage> {
        Coverage::parse(&format!("[[row]]\n{row}"), &Published::read().unwrap())
    }

    const WORKS: &str = "id = \"csts-x\"\ndocument = \"csts\"\nplace = \"slide 1\"\nwhat = \"x\"\n\
                         where = \"sle-user\"\nstate = \"works\"\n";

    fn fault(row: &str) -> String {
        format!("{:#}", parse(row).unwrap_err())
    }

    #[test]
    fn a_check_is_one_of_three() {
        let check = |text: &str| {
            parse(&format!("{WORKS}check = {{ {text} }}")).map(|read| read.rows[0].check.clone())
        };
        let item = check("item = \"csts.asn1\", figure = \"invocation_pct\"").unwrap().unwrap();
        assert_eq!(item.line(), "tools/reproduce --only csts.asn1");
        let command = check("command = \"sle-user --help\", exit = 2, says = \"x\"").unwrap();
        let Some(CoverageCheck::Command(command)) = command else { panic!("{command:?}") };
        assert_eq!((command.exit, command.words().count()), (2, 2));
        assert!(check("item = \"csts.asn1\", says = \"x\"").is_err());
        assert!(check("command = \"sle-user\", item = \"csts.asn1\"").is_err());
        assert!(check("figure = \"invocation_pct\"").is_err());
    }

    #[test]
    fn a_test_is_run_by_its_target() {
        let line = |package: &str, file: &str| {
            let [package, file] = [package, file].map(str::to_owned);
            TestCheck { package, file, name: "x".to_owned() }.line()
        };
        let of = |file: &str| line("chronoscope-net", file).unwrap_or_default();
        assert_eq!(of("crates/net/tests/scan.rs"), "cargo test -p chronoscope-net --test scan x");
        let folder = of("crates/net/tests/requests/main.rs");
        assert_eq!(folder, "cargo test -p chronoscope-net --test requests x");
        assert_eq!(of("crates/net/src/path/queue.rs"), "cargo test -p chronoscope-net --lib x");
        assert_eq!(
            of("systems/aprs/src/engine/tests/order.rs"),
            "cargo test -p chronoscope-net --lib x"
        );
        let program = line("chronoscope-cli", "crates/cli/src/picture.rs");
        assert_eq!(program.as_deref(), Some("cargo test -p chronoscope-cli --bins x"));
        assert_eq!(of("page/e2e/live.test.ts"), "tools/page e2e");
        assert_eq!(line("x", "docs/net.md"), None);
    }

    #[test]
    fn what_is_wrong_with_a_row_is_named() {
        assert!(fault(WORKS).contains("csts-x: nothing works without a check"));
        let with = |from: &str, to: &str| {
            fault(&format!("{WORKS}check = {{ item = \"csts.asn1\" }}").replace(from, to))
        };
        assert!(with("csts-x", "x").contains("does not begin with csts-"));
        assert!(with("document = \"csts\"", "document = \"cst\"").contains("no document"));
        assert!(with("csts.asn1", "csts.asn2").contains("no item csts.asn2"));
        assert!(
            with("item = \"csts.asn1\"", "item = \"csts.asn1\", figure = \"y\"")
                .contains("no figure")
        );
        assert!(with("\"works\"", "\"part\"").contains("what is lacking"));
        assert!(with("\"works\"", "\"works\"\nlacking = \"all\"").contains("what is lacking"));
        assert!(with("item = \"csts.asn1\"", "command = \"sh -c true\"").contains("is none of"));
        assert!(with("item = \"csts.asn1\"", "command = \"sle-user 'a b'\"").contains("quotes"));
        let twice = format!(
            "{WORKS}check = {{ item = \"csts.asn1\" }}\n[[row]]\n{WORKS}check = {{ item = \"csts.asn1\" }}"
        );
        assert!(fault(&twice).contains("csts-x is there twice"));
    }
}
