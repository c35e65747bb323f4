//! What may be noted, and why something is refused.

use std::io;

/// Longest text, name of a service, name of a view and name of a person, in characters.
pub const TEXT_MAX: usize = 200;
/// Longest address of a view, in bytes.
pub const ADDRESS_BYTES_MAX: usize = 8_192;
/// Largest number of marks, and of named views, at a time.
pub const ENTRIES_MAX: usize = 10_000;

/// Reason why an annotation is not noted.
#[derive(Debug, thiserror::Error)]
pub enum AnnotationsError {
    /// A text is missing.
    #[error("{field}: it is empty")]
    Empty {
        /// The text that is meant.
        field: &'static str,
    },
    /// A text is too long.
    #[error("{field}: at most {most} characters")]
    TooLong {
        /// The text that is meant.
        field: &'static str,
        /// Largest length.
        most: usize,
    },
    /// A text has a line end or another control character.
    #[error("{field}: it has a control character")]
    Control {
        /// The text that is meant.
        field: &'static str,
    },
    /// A view's address is none of the page.
    #[error("address: path and query of the page are needed, such as /histogram?root=a")]
    Address,
    /// There are as many as may be.
    #[error("there are {ENTRIES_MAX} {what} already: remove some")]
    Full {
        /// Marks or named views.
        what: &'static str,
    },
    /// The file cannot be read or written.
    #[error("annotations.log in the data folder: {0}")]
    Io(#[from] io::Error),
}
