//! The HTTP side of `serve`.

mod views;

pub use views::answer;
