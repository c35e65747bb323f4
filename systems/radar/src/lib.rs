//! A radar data processing chain: generator, tracker, message server, display.
//!
//! # Where to look
//!
//! * a plot in the tracker: `tracker/mod.rs`; systematic errors of radars:
//!   `tracker/registration.rs`
//! * an update on its way to a screen: `display/position.rs`, `display/browser/mod.rs`; the page:
//!   `systems/radar/page/src/position.ts`
//! * the quality of tracks: `evaluate/mod.rs`
//! * questions to the message server: `messages/query/mod.rs`, `docs/radar-queries.md`
//! * a day to replay: `day/mod.rs`
//! * starting the programs: `port_files.rs`

/// Says something on stderr, as [`eprintln!`]: what others chose in it cannot steer a terminal.
macro_rules! say {
    ($($text:tt)*) => {
        eprintln!("{}", crate::safe(&format!($($text)*)))
    };
}

/// Escapes a text for a terminal.
fn safe(text: &str) -> std::borrow::Cow<'_, str> {
    chronoscope_escape::terminal_lines(text)
}

pub mod asterix;
pub mod day;
pub mod display;
pub mod evaluate;
pub mod exit;
pub mod generator;
pub mod geodesy;
pub mod link;
pub mod messages;
pub mod port_files;
pub mod tracker;
pub mod traffic;

#[cfg(test)]
mod tests {
    /// A page's words are in the error that says what is wrong with them.
    #[test]
    fn what_a_page_says_does_not_steer_a_terminal() {
        #[derive(Debug, serde::Deserialize)]
        enum Word {
            #[serde(rename = "known")]
            _Known,
        }
        let words = "\"\\u001b[2J\u{9b}1m\u{202e}\"";
        let error = serde_json::from_str::<Word>(words).unwrap_err().to_string();
        assert!(error.contains(chronoscope_escape::is_control), "{error:?}");
        let said = super::safe(&error);
        assert!(!said.contains(chronoscope_escape::is_control), "{said:?}");
        assert!(said.contains("\\u001b[2J\\u009b1m\\u202e"), "{said}");
    }
}
