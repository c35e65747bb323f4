//! Files of frames: what the fuzzer kept, and files on disk.
#![allow(clippy::unwrap_used)]

#[path = "frames/check.rs"]
mod check;

use chronoscope_sle::service::returns::OfflineRange;
use chronoscope_sle::source::{
    Feed, FrameFile, FrameFileSettings, Layout, Source, StoreReader, StoreWriter, WhenFull,
};
use std::path::Path;
use std::sync::mpsc;

#[test]
fn kept_inputs_are_read_or_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/sle_frames");
    let (mut read, mut refused) = (0, 0);
    for entry in std::fs::read_dir(corpus).unwrap() {
        match check::check(&std::fs::read(entry.unwrap().path()).unwrap()) {
            Ok(_) => read += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(read >= 3 && refused >= 5, "{read} read, {refused} refused");
}

fn all_of(source: Source) -> (Vec<Vec<u8>>, Option<String>) {
    let (wake, woken) = mpsc::channel();
    let feed = Feed::spawn(source, 10, WhenFull::Wait, move || wake.send(()).unwrap()).unwrap();
    let mut frames = Vec::new();
    while !feed.has_ended() {
        if feed.take(3, &mut frames) == 0 {
            woken.recv().unwrap();
        }
    }
    let error = feed.take_error().map(|error| error.to_string());
    (frames.into_iter().map(|frame| frame.data.to_vec()).collect(), error)
}

#[test]
fn a_file_on_disk_becomes_a_store_and_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frames");
    let octets: Vec<u8> = (0..=255).cycle().take(1_000_000).collect();
    std::fs::write(&path, &octets).unwrap();
    let settings = FrameFileSettings { layout: Layout::Fixed(1000), rate: None, repeat: false };
    let (frames, error) = all_of(Source::File(FrameFile::open(&path, settings).unwrap()));
    assert_eq!((frames.concat() == octets, frames.len(), error), (true, 1000, None));

    let store = folder.path().join("store");
    let mut writer = StoreWriter::new(std::fs::File::create(&store).unwrap()).unwrap();
    for (number, frame) in frames.iter().enumerate() {
        let received_utc_ns = number as u64;
        let data = frame.clone().into();
        let quality = chronoscope_sle::pdu::FrameQuality::Good;
        let annotation = None;
        let frame =
            chronoscope_sle::frame::ReceivedFrame { data, received_utc_ns, quality, annotation };
        writer.write(&frame).unwrap();
    }
    writer.finish().unwrap();
    let range = OfflineRange { start_utc_ns: 100, stop_utc_ns: 199 };
    let (span, error) = all_of(Source::Store(StoreReader::open(&store, range).unwrap()));
    assert_eq!((span == frames[100..200], error), (true, None));
}

#[test]
fn a_file_that_is_cut_gives_what_it_has_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frames");
    std::fs::write(&path, [7; 25]).unwrap();
    let settings = FrameFileSettings { layout: Layout::Fixed(10), rate: None, repeat: false };
    let (frames, error) = all_of(Source::File(FrameFile::open(&path, settings).unwrap()));
    assert_eq!(frames, [[7; 10], [7; 10]]);
    assert_eq!(error.unwrap(), "octet 20: the file ends within the frame that begins here");
    assert!(FrameFile::open(&folder.path().join("none"), settings).is_err());
}
