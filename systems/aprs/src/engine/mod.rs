//! The server without its sockets.

mod seam;

pub use seam::{Close, ConnId, DatagramPort, Input, LogLevel, Now, Output};
