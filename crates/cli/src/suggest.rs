//! "Did you mean …?" for names of classes and of flags.

use chronoscope_model::ClassName;

/// The class that somebody who wrote `asked` most likely meant: the one of `known` that is nearest
/// by edit distance, case aside; `None` when none is near. It is spelt as `asked` is: with its
/// application where that has one, else without.
pub(crate) fn suggest(asked: &str, known: &[ClassName]) -> Option<String> {
    let with_application = asked.contains("::");
    nearest(
        asked,
        known.iter().map(|class| match with_application {
            true => class.to_string(),
            false => class.class.clone(),
        }),
    )
}

/// The name that is nearest to `asked` by edit distance, case aside; `None` when none is near.
pub(crate) fn nearest<N: AsRef<str>>(asked: &str, names: impl Iterator<Item = N>) -> Option<N> {
    let wanted = asked.to_lowercase();
    // A third of the letters, at least two: a transposition is two edits.
    let distance_max = (wanted.chars().count() / 3).max(2);
    let mut best: Option<(usize, N)> = None;
    for name in names {
        let distance = edit_distance(&wanted, &name.as_ref().to_lowercase());
        // Nobody who wrote two letters meant two quite different ones.
        let near = distance <= distance_max && distance < wanted.chars().count();
        let is_best = best.as_ref().is_none_or(|(least, _)| distance < *least);
        if near && name.as_ref() != asked && is_best {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

/// The sentence for the end of a message: ` Did you mean decodePlots?`, or nothing.
pub(crate) fn did_you_mean(asked: &str, known: &[ClassName]) -> String {
    suggest(asked, known).map_or(String::new(), |name| format!(" Did you mean {name}?"))
}

/// Levenshtein's distance: insertions, deletions and substitutions of letters.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<ClassName> {
        let names = [("MRTS", "decodePlots"), ("MRTS", "Correlate"), ("CWP", "TargetView_redraw")];
        names.map(|(a, c)| ClassName { application: a.into(), class: c.into() }).to_vec()
    }

    #[test]
    fn the_nearest_class_is_suggested() {
        for (asked, meant) in [
            ("decodePlot", "decodePlots"),
            ("DECODEPLOTS", "decodePlots"),
            ("corelate", "Correlate"),
            ("MRTS::decodeplots", "MRTS::decodePlots"),
            ("TargetView_redarw", "TargetView_redraw"),
        ] {
            assert_eq!(suggest(asked, &known()).as_deref(), Some(meant), "{asked}");
        }
    }

    #[test]
    fn nothing_is_suggested_for_what_is_far_from_all() {
        for asked in ["", "x", "request", "GET /index.html"] {
            assert_eq!(suggest(asked, &known()), None, "{asked}");
        }
    }

    #[test]
    fn distances_by_hand() {
        for (a, b, distance) in [("kitten", "sitting", 3), ("", "abc", 3), ("flaw", "lawn", 2)] {
            assert_eq!((edit_distance(a, b), edit_distance(b, a)), (distance, distance));
        }
    }
}
