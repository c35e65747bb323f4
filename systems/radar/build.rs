//! Puts the working position's page into `radar-display`: every file below `page/dist-cwp`, which
//! `make page` makes. Where it is not there the program is built without it and says so when a
//! browser comes.

fn main() -> std::io::Result<()> {
    chronoscope_embed::embed("../../page/dist-cwp")
}
