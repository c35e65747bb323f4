//! What the recorder says on stderr: little, and each thing once.

use std::sync::atomic::{AtomicU32, Ordering};

/// Things worth a line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Topic {
    OtherFolder = 1,
    PrivateMemory = 2,
    LateInit = 4,
    Growth = 8,
    Ended = 16,
}

static SAID: AtomicU32 = AtomicU32::new(0);

/// Characters of a line. More come from a folder's name only, and stderr may be a pipe that
/// nobody empties: the program would wait.
const CHARS_MAX: usize = 400;

/// Says it, unless it was said before.
pub(crate) fn once(topic: Topic, text: &str) {
    let bit = topic as u32;
    if SAID.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
        let shown: String = text.chars().take(CHARS_MAX).collect();
        eprintln!("chronoscope: {shown}");
    }
}
