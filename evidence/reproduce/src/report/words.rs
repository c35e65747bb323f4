//! Cells of the figures' tables, in the page and in the documents' pages.

use super::number;
use crate::outcome::Row;
use chronoscope_published::{Figure, Judge, Value, Whose};

/// A value, or a dash where there is none.
pub(super) fn value(value: Option<Value>) -> String {
    match value {
        None => "–".to_owned(),
        Some(Value::Number(one)) => number(one),
        Some(Value::Range([from, to])) => format!("{} to {}", number(from), number(to)),
    }
}

/// What the document prints: nothing for a claim in words and for an aim of ours.
pub(super) fn printed_value(figure: &Figure) -> String {
    match figure.whose {
        Whose::Document => value(Some(figure.value)),
        Whose::Claim => "in words".to_owned(),
        Whose::Aim => "–".to_owned(),
    }
}

/// What ours is held to, or why it is not.
pub(super) fn held_to(figure: &Figure) -> String {
    let bound = value(Some(figure.value));
    let [from, to] = figure.value.bounds();
    let held = match figure.judge {
        Judge::None => return figure.not_comparable.clone().unwrap_or_default(),
        Judge::AtMost => format!("≤ {}", number(to)),
        Judge::AtLeast => format!("≥ {}", number(from)),
        Judge::Near => match figure.tolerance {
            Some(0.0) => format!("= {bound}"),
            Some(part) => format!("{bound} ± {} %", number(part * 100.0)),
            None => format!("{bound} ± 10 %"),
        },
    };
    if figure.whose == Whose::Aim { format!("our aim: {held}") } else { held }
}

/// Ours over theirs, where both are one number and ours is held to it.
pub(super) fn ratio(figure: &Figure, ours: Option<Value>) -> String {
    let printed = figure.whose == Whose::Document && figure.is_judged();
    match (figure.value, ours) {
        (Value::Number(theirs), Some(Value::Number(ours))) if theirs != 0.0 && printed => {
            number(ours / theirs)
        }
        _ => String::new(),
    }
}

/// Remarks: a peer or limit of the same run, ours, and the figure's source.
pub(super) fn notes(published: Option<&Figure>, row: Option<&Row>) -> String {
    let source = published.and_then(|figure| figure.source.clone());
    let beside = row.and_then(|row| row.beside.as_ref());
    let beside = beside.map(|beside| format!("{}: {}", beside.what, number(beside.value)));
    let note = row.map(|row| row.note.clone()).filter(|note| !note.is_empty());
    [beside, note, source].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(text: &str) -> Figure {
        toml::from_str(&format!("id = \"x\"\nwhat = \"x\"\n{text}")).unwrap()
    }

    #[test]
    fn a_number_of_another_machine_has_no_ratio() {
        let of = |text: &str| ratio(&figure(text), Some(Value::Number(5.0)));
        assert_eq!(of("value = 10\njudge = \"near\""), "0.5");
        assert_eq!(of("value = 10\nnot_comparable = \"another machine\""), "");
        assert_eq!(of("value = 10"), "", "a circumstance");
        assert_eq!(of("value = 10\njudge = \"at_most\"\nwhose = \"aim\""), "", "nobody's");
    }

    #[test]
    fn only_what_the_document_prints_is_called_published() {
        let claim = figure("value = 1\njudge = \"at_least\"\nwhose = \"claim\"\nsource = \"“x”\"");
        assert_eq!((printed_value(&claim), held_to(&claim)), ("in words".into(), "≥ 1".into()));
        let aim = figure("value = 5\njudge = \"at_most\"\nwhose = \"aim\"");
        assert_eq!((printed_value(&aim), held_to(&aim)), ("–".into(), "our aim: ≤ 5".into()));
        let near = figure("value = [1, 2]\njudge = \"near\"\ntolerance = 0.05");
        assert_eq!(
            (printed_value(&near), held_to(&near)),
            ("1 to 2".into(), "1 to 2 ± 5 %".into())
        );
    }
}
