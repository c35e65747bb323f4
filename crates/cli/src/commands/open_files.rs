//! The limit of open files.

/// Lets as many files be open as the system allows: every ring that is read is one.
pub(super) fn raise_open_files() {
    if let Err(error) = chronoscope_collect::raise_open_files() {
        say!("the limit of open files stays as it is (ulimit -n): {error}");
    }
}
