//! Rings and core files from a stranger: the kept inputs of the fuzz targets, and attacks by name.
#![allow(clippy::unwrap_used)]

mod ring_bytes;

use chronoscope_clock as clock;
use chronoscope_record::read::{Ring, RingError};
use proptest::prelude::*;
use ring_bytes::{CORE, RING_ADDRESS, RING_OFFSET, check_core, check_ring, core_head, segment};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Calls `check` for each kept input of a target: how many were opened, and how many refused.
fn replay(target: &str, check: impl Fn(&[u8]) -> bool) -> (usize, usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(target);
    let (mut opened, mut refused) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let is_opened = check(&std::fs::read(entry.unwrap().path()).unwrap());
        *(if is_opened { &mut opened } else { &mut refused }) += 1;
    }
    (opened, refused)
}

/// A folder and the path of a core file that is to be in it.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("core");
    (folder, path)
}

fn open_core(bytes: &[u8]) -> Result<Vec<Ring>, RingError> {
    let (_folder, path) = place();
    std::fs::write(&path, bytes).unwrap();
    Ring::open_core(&path)
}

fn changed_core(change: impl FnOnce(&mut Vec<u8>)) -> Result<Vec<Ring>, RingError> {
    let mut bytes = CORE.bytes.clone();
    change(&mut bytes);
    open_core(&bytes)
}

#[test]
fn kept_rings_are_read_or_refused() {
    let (opened, refused) = replay("ring", check_ring);
    assert!(opened >= 5 && refused >= 5, "{opened} opened, {refused} refused");
}

#[test]
fn kept_core_files_are_read_or_refused() {
    let (_folder, path) = place();
    let (opened, refused) = replay("core_file", |input| check_core(input, &path).is_ok());
    assert!(opened >= 5 && refused >= 5, "{opened} opened, {refused} refused");
}

proptest! {
    #[test]
    fn a_changed_ring_is_read_or_refused(
        version in 0u8..2,
        cut in prop_oneof![4 => Just(0u32), 1 => 0u32..260_000],
        changes in prop::collection::vec((any::<u16>(), word()), 0..6),
    ) {
        check_ring(&[&[version][..], &input(cut, &changes)].concat());
    }

    #[test]
    fn a_changed_core_file_is_read_or_refused(
        cut in prop_oneof![4 => Just(0u32), 1 => 0u32..264_000],
        changes in prop::collection::vec((any::<u16>(), word()), 0..6),
    ) {
        let (_folder, path) = place();
        // Refused is as good as read: what is checked is that it comes to an end.
        let _ = check_core(&input(cut, &changes), &path);
    }
}

/// Numbers that parsers get wrong.
fn word() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        0u64..5000,
        any::<u64>().prop_map(|word| u64::MAX - word % 5000),
        (0u32..64).prop_map(|bit| 1 << bit),
    ]
}

fn input(cut: u32, changes: &[(u16, u64)]) -> Vec<u8> {
    let mut input = cut.to_le_bytes().to_vec();
    for (which, word) in changes {
        input.extend(which.to_le_bytes());
        input.extend(word.to_le_bytes());
    }
    input
}

#[test]
fn a_core_file_as_it_should_be_has_its_ring() {
    let rings = open_core(&CORE.bytes).unwrap();
    assert_eq!(rings.len(), 1);
    assert_eq!(rings[0].process().application, "MRTS");
}

#[test]
fn a_process_with_more_context_than_there_is_room_for_is_refused_and_garbage_says_nothing() {
    let with = |len: u32| {
        changed_core(|bytes| {
            let at = RING_OFFSET + 768; // docs/formats/ring.md, "Process context"
            bytes[at..at + 4].copy_from_slice(&len.to_le_bytes());
            bytes[at + 4..at + 3076].fill(0xff);
        })
    };
    for len in [3073, u32::MAX] {
        let Err(RingError::Damaged { position, what }) = with(len) else { panic!("{len}") };
        assert_eq!(position, 768, "{what}");
    }
    let ring = with(3072).unwrap().remove(0);
    let context = ring.names().process_context(ring.process_id());
    assert_eq!(context.len(), 3072);
    assert_eq!(chronoscope_model::context::entries(context).count(), 0);
}

#[test]
fn a_core_file_that_is_cut_short_anywhere_is_refused_or_read() {
    let (_folder, path) = place();
    let whole = &CORE.bytes;
    std::fs::write(&path, whole).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    for len in (0..whole.len()).rev().filter(|len| *len < 300 || len % 509 == 0) {
        file.set_len(len as u64).unwrap();
        match Ring::open_core(&path) {
            Err(RingError::NotACore { position, .. }) => assert!(position <= len as u64),
            // A chunk may lie wholly behind the cut.
            Err(RingError::Cut { position, .. }) => {
                assert!(position < (whole.len() - RING_OFFSET) as u64);
            }
            Err(error) => panic!("{len}: {error}"),
            // Not even the ring's beginning is there, or everything that tells where things are.
            Ok(rings) => assert_eq!(rings.len(), usize::from(len > RING_OFFSET + 24)),
        }
    }
}

#[test]
fn what_is_no_core_file_is_refused_with_a_position() {
    let refused = |change: fn(&mut Vec<u8>), position: u64, what: &str| {
        let error = changed_core(change).unwrap_err().to_string();
        assert_eq!(error, format!("byte {position}: not a core file: {what}"));
    };
    refused(|core| core[0] = b'#', 0, "no ELF file");
    refused(|core| core[4] = 1, 4, "not 64 bits, little-endian"); // ELF32
    refused(|core| core[5] = 2, 4, "not 64 bits, little-endian"); // big-endian
    refused(|core| core[16] = 2, 16, "an ELF file of another type");
    refused(|core| core[54] = 0, 54, "program headers of another size");
    refused(|core| core.truncate(63), 0, "the file ends here");
    refused(
        |core| core[32..40].fill(0xff), // where the program headers are
        u64::MAX,
        "the file ends here",
    );
    refused(
        // The number of program headers is in a section header, which says four billion.
        |core| {
            core[56..58].fill(0xff);
            core[40..48].copy_from_slice(&4096u64.to_le_bytes());
            core[4096 + 44..4096 + 48].fill(0xff);
        },
        56,
        "more program headers than a process has mappings",
    );
    let own_program = std::env::current_exe().unwrap();
    assert!(matches!(Ring::open_core(&own_program), Err(RingError::NotACore { position: 16, .. })));
}

/// A segment without an end was looked at page by page, for years.
#[test]
fn a_segment_that_claims_all_addresses_takes_no_time() {
    let began_ns = clock::monotonic_ns();
    for bytes in [1 << 40, u64::MAX / 2, u64::MAX] {
        let rings = changed_core(|core| {
            let segment = segment(0, 0, bytes);
            core[64..120].copy_from_slice(&segment);
            core[120..176].copy_from_slice(&[0; 56]);
            core[32..40].copy_from_slice(&64u64.to_le_bytes());
        });
        assert_eq!(rings.unwrap().len(), 0);
    }
    let took = Duration::from_nanos(clock::monotonic_ns() - began_ns);
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn many_segments_that_share_the_files_bytes_are_refused() {
    let shared = [segment(RING_ADDRESS, 0, 1 << 20); 30_000];
    let mut core = core_head(&shared);
    core.resize(4 << 20, 0);
    let error = open_core(&core).unwrap_err().to_string();
    assert_eq!(error, "byte 64: not a core file: segments that share bytes of the file");
}

/// A ring in a segment that began with a neighbour's memory is found behind terabytes of nothing.
#[test]
fn a_sparse_terabyte_is_searched_in_no_time() {
    const BYTES: u64 = 1 << 40;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("core");
    let ring = &CORE.bytes[RING_OFFSET..];
    let ring_at = BYTES - ring.len() as u64;
    // Counted from the segment's beginning, which is the file's.
    let base = RING_ADDRESS - ring_at;
    let file = std::fs::File::create(&path).unwrap();
    if let Err(error) = file.set_len(BYTES) {
        eprintln!("SKIPPED: no file of a terabyte here: {error}");
        return;
    }
    file.write_all_at(&core_head(&[segment(base, 0, BYTES)]), 0).unwrap();
    file.write_all_at(ring, ring_at).unwrap();
    let began_ns = clock::monotonic_ns();
    let rings = Ring::open_core(&path).unwrap();
    let took = Duration::from_nanos(clock::monotonic_ns() - began_ns);
    assert_eq!(rings.len(), 1);
    assert!(took < Duration::from_secs(5), "{took:?}");
}

/// A core file of a program that reads rings has copies of them, whole ones and damaged ones.
#[test]
fn a_copy_of_a_ring_in_a_core_file_does_not_hide_the_processs_own() {
    let mut copy = CORE.bytes[RING_OFFSET..].to_vec();
    copy[8..12].fill(0xff); // of a version to come
    let (len, offset) = (copy.len() as u64, CORE.bytes.len() as u64);
    let rings = changed_core(|core| {
        let segments =
            [segment(1 << 20, offset, len), segment(RING_ADDRESS, RING_OFFSET as u64, len)];
        core[..64 + 112].copy_from_slice(&core_head(&segments));
        core.extend(&copy);
    });
    assert_eq!(rings.unwrap().len(), 1);
}

#[test]
fn what_is_no_plain_file_is_no_core_file() {
    let (folder, path) = place();
    let refused = |path: &Path| {
        let error = Ring::open_core(path).unwrap_err().to_string();
        assert_eq!(error, "byte 0: not a core file: no plain file");
    };
    refused(folder.path());
    refused(Path::new("/dev/zero"));
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    refused(&path);
}

/// Each ring takes the memory of its names, and all may say that they have the same ones.
#[test]
fn rings_without_number_do_not_fill_the_memory() {
    const RINGS: u64 = 64;
    // Where the header says how many chunks there are, and where it says which.
    const CHUNK_COUNT: usize = 104;
    const DIRECTORY: usize = 8192;
    // The kept ring with 64 chunks of names, the same one for all rings of the core file.
    const NAMES: u64 = 64 << 10;
    let header = &CORE.bytes[RING_OFFSET..RING_OFFSET + 0x12000];
    let names_at = 4096 + RINGS * header.len() as u64;
    let mut segments = Vec::new();
    let mut memory = vec![0; 4096];
    for ring in 0..RINGS {
        let offset = 4096 + ring * header.len() as u64;
        let address = RING_ADDRESS + offset;
        segments.push(segment(address, offset, header.len() as u64));
        let mut header = header.to_vec();
        header[16..24].copy_from_slice(&address.to_le_bytes());
        // The directory: chunks of names only, far behind the rings.
        let count = 64u64;
        header[CHUNK_COUNT..][..8].copy_from_slice(&count.to_le_bytes());
        for chunk in 0..count {
            let page = (names_at - offset + chunk * NAMES) / 4096;
            let entry = [1, u32::try_from(chunk).unwrap(), u32::try_from(page).unwrap(), 16];
            let at = DIRECTORY + usize::try_from(chunk).unwrap() * 16;
            header[at..at + 16].copy_from_slice(&entry.map(u32::to_le_bytes).concat());
        }
        memory.extend(header);
    }
    segments.push(segment(RING_ADDRESS + names_at, names_at, 64 * NAMES));
    for chunk in 0..64u64 {
        // Paths of no class, each with a number of its own: 16 bytes, the least.
        let entries = (NAMES - 16) / 16;
        let mut names = (entries * 16).to_le_bytes().to_vec();
        names.extend(0u64.to_le_bytes());
        for entry in 0..entries {
            names.extend([8, 0, 2, 0]);
            names.extend((1 + chunk * 10_000 + entry).to_le_bytes());
            names.extend([0; 4]);
        }
        names.resize(usize::try_from(NAMES).unwrap(), 0);
        memory.extend(names);
    }
    memory[..64 + segments.len() * 56].copy_from_slice(&core_head(&segments));
    let error = open_core(&memory).unwrap_err().to_string();
    let what = "rings that take more memory than a process's";
    assert_eq!(error, format!("byte 0: not a core file: {what}"));
}
