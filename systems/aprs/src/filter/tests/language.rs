//! What is a filter and what is not, and the commands around it.

use crate::filter::{Command, Filter, TERMS_MAX, TermError};

fn error(text: &str) -> Option<TermError> {
    Filter::parse(text).err().map(|error| error.error)
}

#[test]
fn accepted_as_aprsc_does() {
    for text in [
        "",
        "  r/33/-97/200   t/n  ",
        "a/60/24/59/25/",
        "a/60/24/59/25/rubbish",
        "a/90.005/-180.005/-90/180",
        "r/+60.1/2.5e1/100km",
        "f/OH2TI/10/",
        "m/.5",
        "m/1000000",
        "bxyz/OH2TI",
        "b/OH2TI/",
        "b//OH2TI",
        "b/ABCDEFGHIJKLMN",
        "t/",
        "t/p/",
        "t/p/OH2/1",
        "q/",
        "q/C/",
        "q//i",
        "s/",
        "s/->/#/T/",
        "-u/APRS",
    ] {
        assert_eq!(error(text), None, "{text}");
    }
}

#[test]
fn refused_with_a_reason() {
    use TermError::{
        Box, Callsign, Distance, Letter, Missing, Number, OffEarth, Overlay, Trailing, Unknown,
        Wildcard,
    };
    for (text, expected) in [
        ("x/1", Letter),
        ("-", Letter),
        ("/", Letter),
        ("a/60/24/59", Missing("east")),
        ("a/60/24/59/25x", Trailing),
        ("a/59/24/60/25", Box),
        ("a/60/179/59/-179", Box),
        ("a/91/24/60/25", OffEarth("north")),
        ("b", Missing("a name")),
        ("b/", Missing("a name")),
        ("f/ABCDEFGHIJ/1", Callsign),
        ("f//1", Callsign),
        ("f/OH2TI", Missing("distance")),
        ("m/0.09", Distance),
        ("m/-5", Distance),
        ("m/x", Number("distance")),
        ("m/.", Number("distance")),
        ("m/nan", Number("distance")),
        ("p/OH*", Wildcard),
        ("q/A", Unknown('A')),
        ("q/C/X", Trailing),
        ("r/60/181/1", OffEarth("longitude")),
        ("r/60/25", Missing("distance")),
        ("s", Missing("symbols")),
        ("s/-//T", Overlay),
        ("t", Missing("types")),
        ("t/x", Unknown('x')),
        ("t/p/AB/1", Callsign),
        ("t/p/OH2TI/1/", Trailing),
    ] {
        assert_eq!(error(text), Some(expected), "{text}");
    }
}

#[test]
fn an_error_says_where() {
    let error = Filter::parse("r/33/-97/200  z/n").unwrap_err();
    assert_eq!(error.at, 14);
    assert_eq!(
        error.to_string(),
        "filter \"z/n\" at octet 14: the first letter must be one of a b d e f g m o p q r s t u"
    );
}

#[test]
fn clients_keep_what_is_right() {
    let (filter, errors) = Filter::parse_lenient("b/OH2TI x/1 -p/OH");
    assert_eq!(errors.len(), 1);
    assert_eq!(filter, Filter::parse_lenient("b/OH2TI x/1 -p/OH").0);
    assert_eq!(filter.text(), "b/OH2TI x/1 -p/OH");
    assert!(!filter.is_empty());
    assert!(Filter::parse_lenient("x/1").0.is_empty());
    assert_eq!(Filter::parse_lenient(b"b/\xff\tb/A\t").0.text(), "b/_ b/A");
}

#[test]
fn a_filter_has_an_end() {
    let many = "b/A ".repeat(TERMS_MAX + 1000);
    let (_, errors) = Filter::parse_lenient(&many);
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].error, TermError::TooMany);
    assert_eq!(error(&"b/A ".repeat(TERMS_MAX)), None);
}

#[test]
fn commands_in_comments_and_messages() {
    assert_eq!(Command::in_comment(b"#filter p/N/K"), Some(Command::Set(b"p/N/K")));
    assert_eq!(Command::in_comment(b"#  fIlTer   p/N "), Some(Command::Set(b"  p/N ")));
    assert_eq!(Command::in_comment(b"#xxyzFILTER p/OG"), Some(Command::Set(b"p/OG")));
    assert_eq!(Command::in_comment(b"#filter?"), Some(Command::Query));
    assert_eq!(Command::in_comment(b"#filter Default"), Some(Command::Default));
    assert_eq!(Command::in_comment(b"#filterp/N"), Some(Command::Malformed));
    assert_eq!(Command::in_comment(b"# a comment"), None);
    assert_eq!(Command::in_message(b"Filter p/OZ/ZZ"), Some(Command::Set(b"p/OZ/ZZ")));
    assert_eq!(Command::in_message(b"my filter p/OZ"), None);
}

#[test]
fn answers_are_aprscs() {
    let (filter, _) = Filter::parse_lenient("p/OZ z/1 -t/w b/OH2TI");
    let answer = |command: Command<'_>| command.answer(filter.text());
    assert_eq!(answer(Command::Set(b"")), "filter p/OZ z/1 -t/w b/OH2TI active");
    assert_eq!(answer(Command::Query), "filters: -t/w p/OZ b/OH2TI ");
    assert_eq!(Command::Default.answer(""), "User filters reset to default");
    assert_eq!(Command::Query.answer(""), "filters: ");
}
