//! With the feature `off` a measured function is, byte for byte, the plain one.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)]
#![allow(unsafe_code)] // functions that can be found by name

use chronoscope_record::{self as record, Class, Status, class, transaction};

static WORK: Class = class!("work");

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn chronoscope_test_plain(mut value: u64) -> u64 {
    value = value.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (value >> 7);
    value.rotate_left(13)
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn chronoscope_test_measured(mut value: u64) -> u64 {
    let mut outer = WORK.begin();
    outer.metric("value", 1.0);
    outer.property("key", "value");
    let inner = WORK.start();
    value = value.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (value >> 7);
    inner.stop(Status::Failed);
    drop(outer);
    value.rotate_left(13)
}

#[unsafe(no_mangle)]
#[inline(never)]
#[transaction]
extern "C" fn chronoscope_test_attribute(mut value: u64) -> u64 {
    value = value.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (value >> 7);
    value.rotate_left(13)
}

/// The machine code of a function of this program, by its entry in the ELF symbol table.
fn code(name: &str) -> Vec<u8> {
    let file = std::fs::read("/proc/self/exe").unwrap();
    let u32_at = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let u64_at = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
    let u16_at = |at: usize| usize::from(u16::from_le_bytes([file[at], file[at + 1]]));
    let (sections, count) = (u64_at(40), u16_at(60));
    let section = |index: usize| sections + index * 64;
    let table = (0..count).map(section).find(|at| u32_at(at + 4) == 2).expect("a symbol table");
    let names = u64_at(section(u32_at(table + 40)) + 24);
    let (first, bytes) = (u64_at(table + 24), u64_at(table + 32));
    let symbol = (first..first + bytes)
        .step_by(24)
        .find(|at| file[names + u32_at(*at)..].starts_with(format!("{name}\0").as_bytes()))
        .expect(name);
    let text = section(u16_at(symbol + 6));
    let from = u64_at(symbol + 8) - u64_at(text + 16) + u64_at(text + 24);
    file[from..from + u64_at(symbol + 16)].to_vec()
}

#[test]
fn nothing_is_left() {
    record::init("TEST");
    let value = std::hint::black_box(77);
    assert_eq!(chronoscope_test_plain(value), chronoscope_test_measured(value));
    assert_eq!(chronoscope_test_plain(value), chronoscope_test_attribute(value));
    let plain = code("chronoscope_test_plain");
    assert!((8..80).contains(&plain.len()), "{} bytes", plain.len());
    assert_eq!(code("chronoscope_test_measured"), plain);
    assert_eq!(code("chronoscope_test_attribute"), plain);
    assert!(record::ring_path().is_none() && record::current().is_none());
    assert_eq!((size_of::<record::Guard>(), size_of::<record::Started>()), (0, 0));
}
