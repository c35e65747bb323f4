//! Everything that this program reads from its environment.

use anyhow::{Context, Result};
use chronoscope_server::Token;
use std::collections::BTreeMap;
use std::env::VarError;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Folder of stored transactions without `--data`: `$CHRONOSCOPE_DATA`, else `chronoscope` in
/// `$XDG_DATA_HOME` or `~/.local/share`.
pub(crate) fn data_dir() -> PathBuf {
    let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    variable("CHRONOSCOPE_DATA").unwrap_or_else(|| {
        let shared = variable("XDG_DATA_HOME")
            .or_else(|| variable("HOME").map(|home| home.join(".local/share")));
        shared.unwrap_or_else(std::env::temp_dir).join("chronoscope")
    })
}

/// Variables whose name begins with `prefix`; those that are not text are left out.
pub(crate) fn with_prefix(prefix: &str) -> BTreeMap<String, String> {
    let all = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    all.filter(|(name, _)| name.starts_with(prefix)).collect()
}

/// The variables and their meaning, for the manual page.
pub(crate) const VARIABLES: [(&str, &str); 7] = [
    ("CHRONOSCOPE_DATA", "Folder of the stored transactions, where --data is not given."),
    ("CHRONOSCOPE_STORE", "URL of the store, where neither --store nor --data is given."),
    ("CHRONOSCOPE_DIR", "Folder of the rings, for measured programs and for their readers."),
    ("CHRONOSCOPE_TOKEN", "The token to send or to require, where no file of it is given."),
    ("CHRONOSCOPE_CACHE", "Folder of files that can be made again."),
    (
        "CHRONOSCOPE_SERVE_FLAG",
        "A flag of serve: CHRONOSCOPE_SERVE_WAIT_LATE=5min is --wait-late 5min.",
    ),
    ("CHRONOSCOPE_AGENT_FLAG", "The same for agent. Several values are separated by commas."),
];

/// Folder of files that can be rebuilt: `$CHRONOSCOPE_CACHE`, else `chronoscope` in
/// `$XDG_CACHE_HOME` or `~/.cache`.
pub(crate) fn cache_dir() -> PathBuf {
    let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    variable("CHRONOSCOPE_CACHE").unwrap_or_else(|| {
        let shared =
            variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
        shared.unwrap_or_else(std::env::temp_dir).join("chronoscope")
    })
}

/// File to which GitHub's runners expect a job's summary (Markdown) to be appended:
/// `$GITHUB_STEP_SUMMARY`.
pub(crate) fn step_summary() -> Option<PathBuf> {
    std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// URL of the store without `--store` and `--data`: `$CHRONOSCOPE_STORE`.
pub(crate) fn store_url() -> Option<String> {
    std::env::var("CHRONOSCOPE_STORE").ok().filter(|url| !url.is_empty())
}

/// The token to send or to require: in `file`, else `$CHRONOSCOPE_TOKEN`, else none.
///
/// # Errors
/// When the file cannot be read, or its content cannot be a token.
pub(crate) fn token(file: Option<&Path>) -> Result<Option<Token>> {
    let (text, place) = match (file, std::env::var("CHRONOSCOPE_TOKEN")) {
        (Some(file), _) => {
            let place = file.display().to_string();
            (std::fs::read_to_string(file).with_context(|| place.clone())?, place)
        }
        (None, Ok(text)) if !text.is_empty() => (text, "CHRONOSCOPE_TOKEN".to_owned()),
        (None, Err(error @ VarError::NotUnicode(_))) => {
            return Err(error).context("CHRONOSCOPE_TOKEN");
        }
        (None, _) => return Ok(None),
    };
    Token::new(&text).with_context(|| place).map(Some)
}

/// Name of who runs this program; empty when it is unknown.
pub(crate) fn user_name() -> String {
    let names = ["USER", "LOGNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    names.into_iter().find(|name| !name.is_empty()).unwrap_or_default()
}

/// Name of this host.
pub(crate) fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}

/// Whether stdout is a terminal that may be repainted.
pub(crate) fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
}

/// The size of a terminal, in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScreenSize {
    /// Cells of a line.
    pub(crate) columns: usize,
    /// Height in lines.
    pub(crate) rows: usize,
}

/// Size of the terminal on stdout; `None` where stdout is no terminal. A terminal of unknown size
/// has 80 columns and 24 rows.
pub(crate) fn stdout_size() -> Option<ScreenSize> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let told = rustix::termios::tcgetwinsize(&stdout).ok();
    let told = told.map(|size| (usize::from(size.ws_col), usize::from(size.ws_row)));
    let (columns, rows) = told.filter(|(c, r)| *c > 0 && *r > 0).unwrap_or((80, 24));
    Some(ScreenSize { columns, rows })
}

/// Whether stderr is a terminal, on which progress may overwrite itself.
pub(crate) fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}
