//! Every environment variable that the library reads beyond the recorder's.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `CHRONOSCOPE_ARM_OFF` | what is not recorded: a list of `WHAT`, `APPLICATION/WHAT`, `APPLICATION::CLASS/WHAT`, separated by commas; `WHAT` is one of `bind_thread`, `block`, `diagnostic`, `message_event`, `metric`, `user`, `transaction`, `all` | nothing is off |
//! | `CHRONOSCOPE_ARM_DEPTH` | `none`, `process`, `container`: the collection depth that programs are told; with `none` nothing is recorded | `container` |

use crate::switches::{NAMES, TRANSACTION};
use std::sync::OnceLock;

/// Switched-off parts of an application, or of one of its classes, as bits of [`crate::switches`].
pub(crate) fn off(application: &str, class: Option<&str>) -> u32 {
    static LIST: OnceLock<String> = OnceLock::new();
    let list = LIST.get_or_init(|| std::env::var("CHRONOSCOPE_ARM_OFF").unwrap_or_default());
    let depth = if depth() == 0 { TRANSACTION } else { 0 };
    parse(list, application, class) | depth
}

/// Collection depth, one of `ARM_COLLECTION_DEPTH_...`.
pub(crate) fn depth() -> i32 {
    static DEPTH: OnceLock<i32> = OnceLock::new();
    *DEPTH.get_or_init(|| match std::env::var("CHRONOSCOPE_ARM_DEPTH").as_deref() {
        Ok("none") => 0,
        Ok("process") => 1,
        _ => 2,
    })
}

/// Parts that a list switches off. Invalid entries are ignored.
fn parse(list: &str, application: &str, class: Option<&str>) -> u32 {
    let full = class.map(|class| format!("{application}::{class}"));
    let mut bits = 0;
    for item in list.split(',').map(str::trim) {
        let (whose, what) = item.rsplit_once('/').unwrap_or(("", item));
        let is_meant = whose.is_empty() || whose == application || Some(whose) == full.as_deref();
        if is_meant && what == "all" {
            bits |= (1 << NAMES.len()) - 1;
        } else if is_meant && let Some(at) = NAMES.iter().position(|name| *name == what) {
            bits |= 1 << at;
        }
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switches::{BLOCK, METRIC, USER};

    #[test]
    fn a_list_means_all_an_application_or_a_class() {
        let list = "user, CWP/block,MRTS::decodePlots/metric,nonsense";
        assert_eq!(parse(list, "CWP", None), USER | BLOCK);
        assert_eq!(parse(list, "MRTS", Some("decodePlots")), USER | METRIC);
        assert_eq!(parse(list, "MRTS", Some("Correlate")), USER);
        assert_eq!(parse("a/b/transaction", "a/b", None), TRANSACTION);
        assert_eq!(parse("all", "any", None), 0x7f);
    }
}
