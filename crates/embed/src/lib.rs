//! A built page in a program: a folder becomes a table of compressed files (feature `build`, for
//! build scripts), and a file of it becomes an HTTP answer that a browser holds to a strict policy
//! (feature `serve`, for servers).
//!
//! Not here: which path is answered with which file.

#[cfg(feature = "build")]
mod build;
#[cfg(feature = "serve")]
mod serve;

#[cfg(feature = "build")]
pub use build::embed;
#[cfg(feature = "serve")]
pub use serve::{COMMON, answer};

/// One file of a page.
#[derive(Debug)]
pub struct File {
    /// Below the page's folder.
    pub path: &'static str,
    /// Tag of the content, for `ETag`, in quotation marks.
    pub tag: &'static str,
    /// Compressed content.
    pub gzip: &'static [u8],
}
