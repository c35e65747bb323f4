//! A built page in a program: a folder becomes a table of compressed files (feature `build`, for
//! build scripts), and a file of it becomes an HTTP answer that a browser holds to a strict policy
//! (feature `serve`, for servers).
//!
//! Not here: which path is answered with which file.

#[cfg(feature = "build")]
mod build;
mod file;
#[cfg(feature = "serve")]
mod serve;

#[cfg(feature = "build")]
pub use build::embed;
pub use file::File;
#[cfg(feature = "serve")]
pub use serve::{COMMON, answer};
