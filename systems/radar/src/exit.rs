//! End of a program: an error is one line on stderr, without a backtrace.

use std::process::ExitCode;

/// Exit code of `done`; an error is said as `PROGRAM: what: why`. An error of the user (a file that
/// cannot be read, an address in use) is no fault of the program, so it has no backtrace even where
/// the environment asks for them (`RUST_BACKTRACE`): panics have one.
pub fn end(program: &str, done: anyhow::Result<()>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say!("{program}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
