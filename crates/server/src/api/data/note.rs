//! What a deletion and an import have in common: the mark that notes them, and that only one is
//! under way.

use super::super::Api;
use super::super::error::ApiError;
use crate::log::LogLine;
use chronoscope_annotations::NewMark;
use chronoscope_clock as clock;

/// Notes a change as a mark. A failure is not the change's, which is done: the log has it.
pub(super) fn note(api: &Api, text: String, by: &str) {
    let new = NewMark { at_ns: clock::utc_now_ns(), text, by: by.to_owned(), ..NewMark::default() };
    if let Err(error) = api.annotations.add_mark(new) {
        LogLine::error("no_mark").with("error", error).say();
    }
}

/// A change that runs already, so that another waits.
pub(super) fn busy() -> ApiError {
    ApiError::busy("another deletion or import is under way").hint("try again when it is done")
}
