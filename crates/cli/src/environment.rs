//! Everything that this program reads from its environment.

use std::io::IsTerminal;
use std::path::PathBuf;

/// Where transactions are stored when `--data` does not say: `$CHRONOSCOPE_DATA`, else
/// `chronoscope` in `$XDG_DATA_HOME` or `~/.local/share`.
pub(crate) fn data_dir() -> PathBuf {
    let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    variable("CHRONOSCOPE_DATA").unwrap_or_else(|| {
        let shared = variable("XDG_DATA_HOME")
            .or_else(|| variable("HOME").map(|home| home.join(".local/share")));
        shared.unwrap_or_else(std::env::temp_dir).join("chronoscope")
    })
}

/// Where transactions are stored when neither `--store` nor `--data` says: `$CHRONOSCOPE_STORE`.
pub(crate) fn store_url() -> Option<String> {
    std::env::var("CHRONOSCOPE_STORE").ok().filter(|url| !url.is_empty())
}

/// Whether stdout is a terminal that may be repainted.
pub(crate) fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
}

/// Whether stderr is a terminal, on which progress may overwrite itself.
pub(crate) fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}
