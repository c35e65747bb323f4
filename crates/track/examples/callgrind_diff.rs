//! What moved between two Callgrind profiles:
//! `cargo run -p chronoscope-track --example callgrind_diff BEFORE AFTER [PICTURE.svg]`.

use std::path::Path;

use chronoscope_track::callgrind::diff::{Options, diff, svg, text};
use chronoscope_track::callgrind::{Limits, read_set};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<_> = std::env::args().skip(1).collect();
    let [before, after, picture @ ..] = &files[..] else {
        return Err("usage: callgrind_diff BEFORE AFTER [PICTURE.svg]".into());
    };
    let read = |file: &String| read_set(Path::new(file), Limits::default());
    let (before, after) = (read(before)?.profile, read(after)?.profile);
    let options = Options::default();
    print!("{}", text(&diff(&before, &after, &options)?, 20));
    if let Some(picture) = picture.first() {
        std::fs::write(picture, svg(&before, &after, &options)?)?;
    }
    Ok(())
}
