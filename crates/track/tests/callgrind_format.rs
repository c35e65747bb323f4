//! The format as the manual gives it, and each way in which a file is refused.

#![allow(clippy::unwrap_used)] // helpers of tests

mod hostile_profile;

use chronoscope_track::callgrind::{
    Callable, Costs, Limits, Profile, ProfilePart, ReadError, Site, WriteOptions, read, read_set,
    write,
};
use hostile_profile::rows;
use proptest::prelude::*;

fn text(text: &str) -> Result<Profile, ReadError> {
    read(text.as_bytes(), Limits::default())
}

fn kept(name: &str) -> Profile {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/callgrind/");
    text(&std::fs::read_to_string(format!("{folder}{name}")).unwrap()).unwrap()
}

#[test]
fn names_and_positions_are_decompressed() {
    let profile = kept("compressed");
    assert_eq!(
        rows(&profile),
        [
            r#"["main", "a.c", "/usr/bin/a"] "a.c" 10 [3]"#,
            r#"["main", "a.c", "/usr/bin/a"] "a.c" 11 -> ["puts", "puts.c", "libc.so.6"] 2 [30, 1]"#,
            r#"["main", "a.c", "/usr/bin/a"] "a.c" 11 [7]"#,
            r#"["main", "a.c", "/usr/bin/a"] "a.c" 12 []"#,
            r#"["main", "a.c", "/usr/bin/a"] "inline.h" 9 [10]"#,
            r#"["puts", "puts.c", "libc.so.6"] "puts.c" 7 [40, 1]"#,
        ]
    );
    assert_eq!(profile.discrepancies(), []);
    let part = &profile.parts[0];
    assert_eq!((part.pid, part.thread, &*part.command), (16189, Some(2), "./a --with=x"));
    assert_eq!(part.descriptions[1], ("Trigger".to_owned(), "Program termination".to_owned()));
}

/// The manual's example: a call without `cfi=` stays in the caller's file.
#[test]
fn a_called_function_is_in_the_callers_file_unless_said() {
    let profile = kept("uncompressed");
    assert_eq!(profile.functions.len(), 3);
    assert_eq!(profile.total("Cycles"), Some(820));
    assert_eq!(profile.total("Flops"), Some(0));
}

#[test]
fn events_of_parts_are_taken_by_name() {
    let profile = kept("parts");
    assert_eq!((profile.total("Ir"), profile.total("Dr")), (Some(11), Some(2)));
    let found = profile.discrepancies();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].part, &*found[0].event), (1, "Ir"));
    assert_eq!((found[0].stated, found[0].read), (7, 6));
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let message = |bad: &str| text(bad).unwrap_err().to_string();
    for (bad, says) in [
        ("", "there is no \"events:\" line: not a Callgrind profile"),
        ("hello", "line 1 is not a line of a Callgrind profile: \"hello\""),
        ("version: 2", "line 1: format version \"2\", this program reads version 1"),
        ("events: Ir\n3 4", "line 2 comes before any \"fn=\""),
        ("fn=a\n3 4", "line 2 comes before any \"events:\""),
        ("events: Ir\nfn=a\n3 4 5", "line 3 has more counts than the 1 events"),
        ("events: Ir\nfn=a\n3 x", "line 3: a count \"x\" is not a number that fits"),
        ("events: Ir\nfn=a\n-1 1", "line 3: position \"-1\" is not a number that fits"),
        ("events: Ir\nfn=a\n4294967296 1", "line 3: source line \"4294967296 1\" is not a number"),
        ("events: Ir\nfn=(3)", "line 2 refers to name (3), which no earlier line defines"),
        ("events: Ir\nfn=a\ncalls=1 0\n0 1", "line 4 comes before any \"cfn=\""),
        ("events: Ir\nfn=a\ncfn=b\ncalls=1 0\n", "the file ends after line 4, where the cost"),
        ("events: Ir\nfn=a\ncfn=b\ncalls=1 0\nfn=c", "line 5: the line after a call is missing"),
        ("events: Ir\nfn=a\ncfn=b\ncalls=1", "line 4: a position is missing"),
        ("events: Ir\nfn=a\n1 18446744073709551615\n2 1", "line 4: a sum exceeds 64 bits"),
        ("events: Ir Ir", "line 1 is not a line"),
        ("events:", "line 1: the name of an event is missing"),
        ("positions: column", "line 1 is not a line"),
        ("events: Ir\nfn=a\njcnd=1", "line 3: jumps executed is missing"),
        ("events: Ir\nfn=a\njump=1 2\n2 9", "line 4 has more counts than the 0 events"),
    ] {
        assert!(message(bad).starts_with(says), "{bad:?}: {}", message(bad));
    }
    assert!(matches!(read(&b"\xff"[..], Limits::default()), Err(ReadError::NotText { line: 1 })));
}

#[test]
fn a_file_that_would_take_too_much_is_refused() {
    let small = Limits { line_bytes: 20, name_bytes: 200, counts: 4, events: 2 };
    for (bad, what) in [
        ("fn=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "octets in one line"),
        ("fn=a\nfn=b\nfn=c\nfn=d\n", "octets of names"),
        ("events: a b c", "events"),
        ("events: a b\nfn=a\n1\n2\n3", "counts of places and calls"),
    ] {
        match read(bad.as_bytes(), small) {
            Err(ReadError::TooMuch { what: said, .. }) => assert_eq!(said, what),
            other => panic!("{bad:?}: {other:?}"),
        }
    }
}

#[test]
fn parts_and_threads_beside_each_other_are_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, pid: u32, count: u32| {
        let text = format!("pid: {pid}\nevents: Ir\nfn=main\n1 {count}\n");
        std::fs::write(folder.path().join(name), text).unwrap();
    };
    put("out.7", 7, 1);
    put("out.7.1", 7, 20);
    put("out.7.2-03", 7, 300);
    put("out.7-01", 8, 4000);
    put("out.77", 7, 50000);
    let set = read_set(&folder.path().join("out.7"), Limits::default()).unwrap();
    assert_eq!(set.profile.total("Ir"), Some(321));
    assert_eq!((set.files.len(), set.strangers.len()), (3, 1));
    let none = read_set(&folder.path().join("none"), Limits::default()).unwrap_err();
    assert!(none.to_string().ends_with("no such profile, and no part (.1) or thread (-01) of it"));
}

prop_compose! {
    fn profiles()(
        lines in prop::collection::vec((0..6_u32, 0..4_usize, 0..50_u32, 0..9_u64, 0..9_u64), 0..40),
        calls in prop::collection::vec((0..6_u32, 0..4_usize, 0..50_u32, 0..6_u32, 1..9_u64), 0..40),
    ) -> Profile {
        let mut profile = Profile::default();
        profile.events = vec!["Ir".into(), "Dr".into()];
        profile.parts.push(ProfilePart::default());
        let files = ["a.c", "b.h", "???", "(1) odd"].map(|name| profile.names.intern(name));
        for name in ["main", "f(int)", "operator=", "fib'2", "(below main)", "a::b<c: d>"] {
            let name = profile.names.intern(name);
            let callable = Callable { name, file: files[name as usize % 4], object: files[2] };
            profile.function(callable);
        }
        for (function, file, line, ir, dr) in lines {
            let site = Site { function, file: files[file], line };
            profile.lines.entry(site).or_default().add(&Costs::new(vec![ir, dr])).unwrap();
        }
        for (function, file, line, callee, count) in calls {
            let site = Site { function, file: files[file], line };
            profile.calls.entry((site, callee)).or_default().count += count;
        }
        profile
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(profile in profiles(), compress_positions: bool) {
        let options = WriteOptions { compress_positions, ..WriteOptions::default() };
        let mut written = Vec::new();
        write(&profile, options, &mut written).unwrap();
        let again = read(&written[..], Limits::default()).unwrap();
        prop_assert_eq!(rows(&again), rows(&profile));
        prop_assert_eq!(again.discrepancies(), vec![]);
    }

    #[test]
    fn the_sum_of_two_profiles_has_the_sums_of_both(a in profiles(), b in profiles()) {
        let mut sum = a.clone();
        sum.add(&b).unwrap();
        for event in ["Ir", "Dr"] {
            prop_assert_eq!(sum.total(event), Some(a.total(event).unwrap() + b.total(event).unwrap()));
        }
        let calls = |profile: &Profile| profile.calls.values().map(|call| call.count).sum::<u64>();
        prop_assert_eq!(calls(&sum), calls(&a) + calls(&b));
    }

    #[test]
    fn no_text_panics(words in prop::collection::vec(prop::sample::select(vec![
        "fn=", "(1)", " x", "\n", "calls=", "cfn=", "events: Ir\n", "+3", "*", " ", "4", "0x",
        "jcnd=", "1/2 ", "fi=", "totals: ", "positions: instr line\n", "part: 1\n", "=", ":",
    ]), 0..60)) {
        hostile_profile::check(words.concat().as_bytes());
    }
}
