//! `/proc/net/dev`: what this host's interfaces counted (Linux; `proc_net_dev(5)`).

use super::{INTERFACES_MAX, Interface};
use crate::counters::Counters;

/// Path of the file.
pub const PATH: &str = "/proc/net/dev";

/// Columns after the name: eight of received traffic, eight of sent traffic.
const COLUMNS: usize = 16;

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{PATH}, line {line}: {text:?}: a name, a colon and {COLUMNS} numbers expected")]
pub struct ProcNetError {
    /// Line number, from 1.
    pub line: usize,
    /// Text of the line.
    pub text: String,
}

/// The interfaces of a text such as [`PATH`] has.
///
/// # Errors
/// [`ProcNetError`]: the first line that cannot be read.
pub fn read(text: &str) -> Result<Vec<Interface>, ProcNetError> {
    let lines = (1..).zip(text.lines()).skip(2); // headings
    let lines = lines.filter(|(_, line)| !line.trim().is_empty()).take(INTERFACES_MAX);
    lines
        .map(|(number, line)| {
            interface(line).ok_or_else(|| ProcNetError {
                line: number,
                text: line.chars().take(200).collect(),
            })
        })
        .collect()
}

fn interface(line: &str) -> Option<Interface> {
    // A name may have a colon in it (an alias): the last one ends it.
    let (name, numbers) = line.rsplit_once(':')?;
    let numbers: Vec<u64> =
        numbers.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let columns: [u64; COLUMNS] = numbers.try_into().ok()?;
    let [in_bytes, in_packets, in_errors, in_drops, ..] = columns;
    let [.., out_bytes, out_packets, out_errors, out_drops, _, _, _, _] = columns;
    let counters = Counters {
        in_packets,
        out_packets,
        in_bytes,
        out_bytes,
        in_errors,
        out_errors,
        in_drops,
        out_drops,
    };
    Some(Interface { name: name.trim().to_owned(), counters, bits_per_s: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 1696    20    0    0    0     0          0         0     1696    20    0    0    0     0       0          0
eth0:1: 11 12 13 14 15 16 17 18 21 22 23 24 25 26 27 28
";

    #[test]
    fn the_columns_of_linux() {
        let found = read(TEXT).unwrap();
        let expected = Counters::from_values([12, 22, 11, 21, 13, 23, 14, 24]);
        assert_eq!(
            found[1],
            Interface { name: "eth0:1".to_owned(), counters: expected, bits_per_s: None }
        );
        assert_eq!((found[0].name.as_str(), found[0].counters.out_packets), ("lo", 20));
        let error = read(&TEXT.replace("27 28", "27")).unwrap_err();
        assert!(error.to_string().starts_with("/proc/net/dev, line 4: \"eth0:1: 11"), "{error}");
    }

    /// The file of this machine can be read.
    #[test]
    fn this_host() {
        let Ok(text) = std::fs::read_to_string(PATH) else {
            eprintln!("SKIPPED: this system has no {PATH}");
            return;
        };
        assert!(
            read(&text).unwrap().iter().any(|interface| super::super::is_loopback(&interface.name))
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(.{0,40}\n){0,6}") {
            let _ = read(&text);
        }
    }
}
