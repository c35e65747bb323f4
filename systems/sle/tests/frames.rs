//! Files of frames: what the fuzzer kept, and files on disk.
#![allow(clippy::unwrap_used)]

#[path = "frames/check.rs"]
mod check;

use chronoscope_sle::frame::ReceivedFrame;
use chronoscope_sle::pdu::FrameQuality;
use chronoscope_sle::service::returns::OfflineRange;
use chronoscope_sle::source::{
    FileError, FrameFile, FrameFileLayout, FrameFileSettings, ReadProgress, StoreReader,
    StoreWriter,
};
use chronoscope_sle::time::Now;
use std::path::Path;

const NOW: Now = Now { monotonic_ns: 0, utc_ns: 0 };

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

type Read<'a> = &'a mut dyn FnMut(&mut Vec<ReceivedFrame>) -> Result<ReadProgress, FileError>;

fn all_of(read: Read<'_>) -> (Vec<Vec<u8>>, Option<String>) {
    let mut frames = Vec::new();
    let error = loop {
        match read(&mut frames) {
            Ok(ReadProgress::End) => break None,
            Ok(_) => {}
            Err(error) => break Some(error.to_string()),
        }
    };
    (frames.into_iter().map(|frame| frame.data.to_vec()).collect(), error)
}

#[test]
fn a_file_on_disk_becomes_a_store_and_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frames");
    let octets: Vec<u8> = (0..=255).cycle().take(1_000_000).collect();
    std::fs::write(&path, &octets).unwrap();
    let settings =
        FrameFileSettings { layout: FrameFileLayout::Fixed(1000), rate: None, repeat: false };
    let mut file = FrameFile::open(&path, settings).unwrap();
    let (frames, error) = all_of(&mut |out| file.read(3, NOW, out));
    assert_eq!((frames.concat() == octets, frames.len(), error), (true, 1000, None));

    let store = folder.path().join("store");
    let mut writer = StoreWriter::new(std::fs::File::create(&store).unwrap()).unwrap();
    for (number, frame) in frames.iter().enumerate() {
        let received_utc_ns = number as u64;
        let data = frame.clone().into();
        let quality = FrameQuality::Good;
        let frame = ReceivedFrame { data, received_utc_ns, quality, annotation: None };
        writer.write(&frame).unwrap();
    }
    writer.finish().unwrap();
    let range = OfflineRange { start_utc_ns: 100, stop_utc_ns: 199 };
    let mut reader = StoreReader::open(&store, range).unwrap();
    let (span, error) = all_of(&mut |out| reader.read(3, out));
    assert_eq!((span == frames[100..200], error), (true, None));
}

#[test]
fn a_file_that_is_cut_gives_what_it_has_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frames");
    std::fs::write(&path, [7; 25]).unwrap();
    let settings =
        FrameFileSettings { layout: FrameFileLayout::Fixed(10), rate: None, repeat: false };
    let mut file = FrameFile::open(&path, settings).unwrap();
    let (frames, error) = all_of(&mut |out| file.read(3, NOW, out));
    assert_eq!(frames, [[7; 10], [7; 10]]);
    assert_eq!(error.unwrap(), "octet 20: the file ends within the frame that begins here");
    assert!(FrameFile::open(&folder.path().join("none"), settings).is_err());
}
