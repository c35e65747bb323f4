//! The HTTP side of `serve`.
