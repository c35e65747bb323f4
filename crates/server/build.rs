//! Puts the page into the program: every file below `page/dist`, compressed, with its hash.
//!
//! `page/dist` is made by `make page`, which needs Node. Where it is not there the program is built
//! without the page and says so when it is asked for it.

fn main() -> std::io::Result<()> {
    chronoscope_embed::embed("../../page/dist")
}
