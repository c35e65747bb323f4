//! The language of filters.

use super::geometry::{Area, Point, Radius};
use super::name::{Name, Pattern};
use super::term::{Centre, Field, Range, Symbols, Term, q_bit};
use crate::callsign::CALLSIGN_LEN_MAX;
use crate::packet::{Position, Types};
use std::sync::Arc;

/// Most terms of a filter: those after are refused, as aprsc leaves them out.
pub const TERMS_MAX: usize = 255;

/// Shortest callsign in `t/…/call/km`.
const CALLSIGN_LEN_MIN: usize = 3;

/// A term that is not one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("filter {term:?} at octet {at}: {error}")]
pub struct FilterError {
    /// Begin of the term in the filter's text, in octets.
    pub at: usize,
    /// The term, cut after 40 octets.
    pub term: String,
    /// Error of the term.
    pub error: TermError,
}

/// Error in a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TermError {
    /// No letter of a filter.
    #[error("the first letter must be one of a b d e f g m o p q r s t u")]
    Letter,
    /// Too few arguments, or the letter alone.
    #[error("an argument is missing: {0}")]
    Missing(&'static str),
    /// Text where a number is expected.
    #[error("{0} is not a number")]
    Number(&'static str),
    /// A latitude or longitude that is none.
    #[error("{0} is not a valid latitude or longitude")]
    OffEarth(&'static str),
    /// A box without an inside, or across the date line.
    #[error("the box must be written north/west/south/east, and not cross the date line")]
    Box,
    /// Less than 100 m.
    #[error("the distance is less than 0.1 km")]
    Distance,
    /// A callsign of more than nine octets, or of less than three in `t`.
    #[error("the callsign has a wrong length")]
    Callsign,
    /// A wildcard in `p`, whose names are beginnings anyway.
    #[error("a prefix takes no wildcard")]
    Wildcard,
    /// An unknown type or q construct.
    #[error("{0:?} is not allowed here")]
    Unknown(char),
    /// Text after the end of the filter.
    #[error("there is text after the last argument")]
    Trailing,
    /// Overlays without symbols of the alternate table.
    #[error("overlays need symbols of the alternate table")]
    Overlay,
    /// More terms than are taken.
    #[error("a filter has at most {TERMS_MAX} terms")]
    TooMany,
}

/// Terms with what they are, in order: whether it excludes, and itself or its error.
pub(super) fn terms(
    text: &[u8],
) -> impl Iterator<Item = (&[u8], Result<(bool, Term), FilterError>)> {
    words(text).enumerate().map(move |(number, (at, word))| {
        let parsed = if number < TERMS_MAX { term(word) } else { Err(TermError::TooMany) };
        (word, parsed.map_err(|error| FilterError { at, term: excerpt(word), error }))
    })
}

/// Words between blanks, with their offsets. Text after the first word too many is not read: a long
/// text must not make a long list of errors.
fn words(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += text[at..].iter().position(|octet| !octet.is_ascii_whitespace())?;
        let begin = at;
        let len = text[at..].iter().position(u8::is_ascii_whitespace);
        at = len.map_or(text.len(), |len| at + len);
        Some((begin, &text[begin..at]))
    })
    .take(TERMS_MAX + 1)
}

fn excerpt(word: &[u8]) -> String {
    String::from_utf8_lossy(&word[..word.len().min(40)]).into_owned()
}

fn term(word: &[u8]) -> Result<(bool, Term), TermError> {
    let (excludes, word) = match word.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, word),
    };
    let (letter, arguments) = word.split_first().ok_or(TermError::Letter)?;
    let term = match letter.to_ascii_lowercase() {
        b'a' => area(arguments)?,
        b'b' => names(Field::Source, word, Wild::AtEnd)?,
        b'd' => names(Field::Digipeater, word, Wild::AtEnd)?,
        b'e' => names(Field::Entry, word, Wild::AtEnd)?,
        b'f' => friend(arguments)?,
        b'g' => names(Field::Addressee, word, Wild::AtEnd)?,
        b'm' => Term::Range(Range { centre: Centre::Client, ..range(arguments)?.0 }),
        b'o' => names(Field::Object, word, Wild::AtEnd)?,
        b'p' => names(Field::Source, word, Wild::Always)?,
        b'q' => q_construct(arguments)?,
        b'r' => place(arguments)?,
        b's' => symbols(arguments)?,
        b't' => types(arguments)?,
        b'u' => names(Field::Destination, word, Wild::AtEnd)?,
        _ => return Err(TermError::Letter),
    };
    Ok((excludes, term))
}

/// Whether names are beginnings.
#[derive(Clone, Copy, PartialEq)]
enum Wild {
    /// Only with a `*`: anywhere in the name, it counts as one at the end, as with aprsc.
    AtEnd,
    /// Always, also without `*`.
    Always,
}

/// Parses `b/call1/call2…`: the text between the letter and the first slash is ignored.
fn names(field: Field, word: &[u8], wild: Wild) -> Result<Term, TermError> {
    let slash = word.iter().position(|octet| *octet == b'/');
    let list = slash.map_or(&[][..], |slash| &word[slash + 1..]);
    // A slash at the end begins no further name.
    let list = list.strip_suffix(b"/").unwrap_or(list);
    if list.is_empty() {
        return Err(TermError::Missing("a name"));
    }
    let pattern = |text: &[u8]| {
        let starred = text.contains(&b'*');
        if starred && wild == Wild::Always {
            return Err(TermError::Wildcard);
        }
        let mut octets = [0; CALLSIGN_LEN_MAX];
        let mut len = 0;
        for (to, from) in octets.iter_mut().zip(text.iter().filter(|octet| **octet != b'*')) {
            *to = *from;
            len += 1;
        }
        Ok(Pattern { name: Name::new(&octets[..len]), prefix: starred || wild == Wild::Always })
    };
    let patterns = list.split(|octet| *octet == b'/').map(pattern).collect::<Result<_, _>>()?;
    Ok(Term::Names { field, patterns })
}

/// `a/north/west/south/east`, with a slash after it or not.
fn area(arguments: &[u8]) -> Result<Term, TermError> {
    let (north, rest) = degrees(arguments, 90.0, "north")?;
    let (west, rest) = degrees(rest, 180.0, "west")?;
    let (south, rest) = degrees(rest, 90.0, "south")?;
    let (east, rest) = degrees(rest, 180.0, "east")?;
    if !rest.is_empty() && !rest.starts_with(b"/") {
        return Err(TermError::Trailing);
    }
    if north < south || west > east {
        return Err(TermError::Box);
    }
    Ok(Term::Area(Area { north, west, south, east }))
}

/// Parses `r/latitude/longitude/km`.
fn place(arguments: &[u8]) -> Result<Term, TermError> {
    let (latitude, rest) = degrees(arguments, 90.0, "latitude")?;
    let (longitude, rest) = degrees(rest, 180.0, "longitude")?;
    let position = Position { latitude, longitude };
    let centre = Centre::Fixed { position, point: Point::new(position) };
    Ok(Term::Range(Range { centre, ..range(rest)?.0 }))
}

/// Parses `f/call/km`.
fn friend(arguments: &[u8]) -> Result<Term, TermError> {
    let (name, rest) = callsign(arguments)?;
    Ok(Term::Range(Range { centre: Centre::Station(Name::new(name)), ..range(rest)?.0 }))
}

/// `t/types`, `t/types/`, `t/types/call/km`.
fn types(arguments: &[u8]) -> Result<Term, TermError> {
    let (letters, rest) = letters(arguments, "types")?;
    let mut types = Types::default();
    for letter in letters {
        types |= match letter.to_ascii_lowercase() {
            b'*' => all_types(),
            b'c' => Types::CWOP,
            b'i' => Types::ITEM,
            b'm' => Types::MESSAGE,
            b'n' => Types::NWS,
            b'o' => Types::OBJECT,
            b'p' => Types::POSITION,
            b'q' => Types::QUERY,
            b's' => Types::STATUS,
            b't' => Types::TELEMETRY,
            b'u' => Types::USER_DEFINED,
            b'w' => Types::WEATHER,
            _ => return Err(TermError::Unknown(char::from(*letter))),
        };
    }
    if rest.len() < 2 {
        return Ok(Term::Type(types));
    }
    let (name, rest) = callsign(rest)?;
    if name.len() < CALLSIGN_LEN_MIN {
        return Err(TermError::Callsign);
    }
    let (range, rest) = range(rest)?;
    if !rest.is_empty() {
        return Err(TermError::Trailing);
    }
    let centre = Centre::Station(Name::new(name));
    Ok(Term::Range(Range { centre, types: Some(types), ..range }))
}

/// Types that `*` stands for: all but CWOP's.
fn all_types() -> Types {
    Types::POSITION
        | Types::OBJECT
        | Types::ITEM
        | Types::MESSAGE
        | Types::NWS
        | Types::WEATHER
        | Types::TELEMETRY
        | Types::QUERY
        | Types::STATUS
        | Types::USER_DEFINED
        | Types::CAPABILITIES
        | Types::THIRD_PARTY
}

/// Parses `q/letters` or `q/letters/I`.
fn q_construct(arguments: &[u8]) -> Result<Term, TermError> {
    let (wanted, rest) = letters(arguments, "q constructs")?;
    let mut letters = 0;
    for letter in wanted {
        letters |= match q_bit(*letter) {
            0 => return Err(TermError::Unknown(char::from(*letter))),
            bit => bit,
        };
    }
    let igates = match rest {
        b"" | b"/" => false,
        b"/i" | b"/I" => true,
        _ => return Err(TermError::Trailing),
    };
    Ok(Term::QConstruct { letters, igates })
}

/// `s/primary/alternate/overlays`: the overlays may have slashes among them.
fn symbols(arguments: &[u8]) -> Result<Term, TermError> {
    let arguments = arguments.strip_prefix(b"/").ok_or(TermError::Missing("symbols"))?;
    let mut parts = arguments.splitn(3, |octet| *octet == b'/').map(Box::from);
    let mut part = || parts.next().unwrap_or_default();
    let symbols = Symbols { primary: part(), alternate: part(), overlays: part() };
    if symbols.alternate.is_empty() && !symbols.overlays.is_empty() {
        return Err(TermError::Overlay);
    }
    Ok(Term::Symbol(Arc::new(symbols)))
}

/// `/letters` up to the next slash.
fn letters<'a>(text: &'a [u8], what: &'static str) -> Result<(&'a [u8], &'a [u8]), TermError> {
    let text = text.strip_prefix(b"/").ok_or(TermError::Missing(what))?;
    let end = text.iter().position(|octet| *octet == b'/').unwrap_or(text.len());
    Ok(text.split_at(end))
}

/// `/call` of one to nine octets.
fn callsign(text: &[u8]) -> Result<(&[u8], &[u8]), TermError> {
    let (name, rest) = letters(text, "a callsign")?;
    if !(1..=CALLSIGN_LEN_MAX).contains(&name.len()) {
        return Err(TermError::Callsign);
    }
    Ok((name, rest))
}

/// `/km`: a range whose centre and types the caller sets.
fn range(text: &[u8]) -> Result<(Range, &[u8]), TermError> {
    let (km, rest) = number(text, "distance")?;
    if km < 0.1 {
        return Err(TermError::Distance);
    }
    Ok((Range { centre: Centre::Client, radius: Radius::from_km(km), types: None }, rest))
}

/// `/degrees` of at most `limit` in either direction, and aprsc's hundredth more.
fn degrees<'a>(
    text: &'a [u8],
    limit: f32,
    what: &'static str,
) -> Result<(f32, &'a [u8]), TermError> {
    let (value, rest) = number(text, what)?;
    if value.abs() >= limit + 0.01 {
        return Err(TermError::OffEarth(what));
    }
    Ok((value, rest))
}

/// `/number`: the longest decimal number there, and what follows it.
fn number<'a>(text: &'a [u8], what: &'static str) -> Result<(f32, &'a [u8]), TermError> {
    let text = text.strip_prefix(b"/").ok_or(TermError::Missing(what))?;
    let digits =
        |from: usize| text[from..].iter().take_while(|octet| octet.is_ascii_digit()).count();
    let mut end = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let whole = digits(end);
    end += whole;
    let mut significant = whole;
    if text.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        significant += fraction;
        end += 1 + fraction;
    }
    if significant == 0 {
        return Err(TermError::Number(what));
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits((end + 1 + sign).min(text.len()));
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    let value = std::str::from_utf8(&text[..end]).ok().and_then(|text| text.parse().ok());
    Ok((value.ok_or(TermError::Number(what))?, &text[end..]))
}
