//! Embeds the working position's page into `radar-display`: every file below `systems/radar/page/dist`, which
//! `make page` makes. Without these files the program is built without the page and reports that to
//! browsers.

fn main() -> std::io::Result<()> {
    chronoscope_embed::embed("page/dist")
}
