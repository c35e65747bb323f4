//! Parser of queries.

use super::area::{Area, Shape};

/// Longest line, without its end.
pub const LINE_OCTETS_MAX: usize = 512;
/// Number of listed results when `limit` is absent.
pub const LIMIT_DEFAULT: usize = 100;
/// The highest `limit`.
pub const LIMIT_MAX: usize = 1000;

/// A query, and the number of results that are listed.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Kind of the query, with its arguments.
    pub kind: QueryKind,
    /// In `[1, LIMIT_MAX]`.
    pub limit: usize,
}

/// Kind of a query, with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryKind {
    /// Plan and track of one flight.
    Flight(FlightName),
    /// Flights of aerodromes.
    List(FlightList),
    /// Tracks that are in an area now.
    Tracks(Area),
    /// Flights that entered an area within a time.
    Entering(Area, DaySpan),
    /// Flights in an area, hour by hour.
    Load(Area, DaySpan),
}

/// Name of a flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlightName {
    /// At most eight of A-Z and 0-9.
    Callsign(String),
    /// 24-bit address.
    Address(u32),
}

/// List of an aerodrome's flights; at least one of `from` and `to` is present.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlightList {
    /// Departure aerodrome.
    pub from: Option<String>,
    /// Destination aerodrome.
    pub to: Option<String>,
    /// Time of departure, or of arrival when `from` is absent.
    pub between: Option<DaySpan>,
}

/// A time of the current UTC day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DaySpan {
    /// First minute, in `[0, 1440]`.
    pub from_minute: u16,
    /// The minute after the last, from `from_minute` to 1440.
    pub to_minute: u16,
}

/// Reasons why a line is not a query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// Another word was expected.
    #[error("octet {octet}: expected {expected}, not {text:?}")]
    Unexpected {
        /// Begin of the word, from 0.
        octet: usize,
        /// The word, or its beginning.
        text: String,
        /// Accepted words.
        expected: &'static str,
    },
    /// The line ends too early.
    #[error("octet {octet}: the line ends, expected {expected}")]
    Ends {
        /// Length of the line.
        octet: usize,
        /// Accepted words.
        expected: &'static str,
    },
    /// The line is too long.
    #[error("octet {LINE_OCTETS_MAX}: a line has at most {LINE_OCTETS_MAX} octets")]
    TooLong,
    /// The line is not ASCII.
    #[error("octet {octet}: not printable ASCII")]
    NotText {
        /// The first octet that is not.
        octet: usize,
    },
}

impl QueryError {
    /// Position in the line, from 0.
    #[must_use]
    pub fn octet(&self) -> usize {
        match self {
            Self::Unexpected { octet, .. } | Self::Ends { octet, .. } | Self::NotText { octet } => {
                *octet
            }
            Self::TooLong => LINE_OCTETS_MAX,
        }
    }
}

impl Query {
    /// Reads a line, without its end.
    ///
    /// # Errors
    /// [`QueryError`] with what was expected instead, and where.
    pub fn parse(line: &str) -> Result<Self, QueryError> {
        if line.len() > LINE_OCTETS_MAX {
            return Err(QueryError::TooLong);
        }
        if let Some(octet) = line.bytes().position(|octet| !(b' '..=b'~').contains(&octet)) {
            return Err(QueryError::NotText { octet });
        }
        let mut words = Words { line, at: 0 };
        let kind = match words.next(KINDS)? {
            (_, "flight") => QueryKind::Flight(words.name()?),
            (_, "list") => QueryKind::List(words.list()?),
            (_, "tracks") => QueryKind::Tracks(words.area()?),
            (_, "entering") => QueryKind::Entering(words.area()?, words.required_span()?),
            (_, "load") => QueryKind::Load(words.area()?, words.required_span()?),
            other => return Err(unexpected(other, KINDS)),
        };
        let mut limit = LIMIT_DEFAULT;
        if words.skip("limit") {
            const EXPECTED: &str = "a number from 1 to 1000";
            let word = words.next(EXPECTED)?;
            let read = word.1.parse().ok().filter(|n| (1..=LIMIT_MAX).contains(n));
            limit = read.ok_or_else(|| unexpected(word, EXPECTED))?;
        }
        match words.peek() {
            None => Ok(Self { kind, limit }),
            Some(more) => Err(unexpected(more, "the line's end")),
        }
    }
}

const KINDS: &str = "flight, list, tracks, entering or load";

/// A word and where it begins.
type Word<'a> = (usize, &'a str);

fn unexpected((octet, word): Word<'_>, expected: &'static str) -> QueryError {
    let text = word.chars().take(40).collect();
    QueryError::Unexpected { octet, text, expected }
}

struct Words<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    fn peek(&self) -> Option<Word<'a>> {
        let rest = &self.line[self.at..];
        let begin = self.at + rest.find(|c| c != ' ')?;
        let word = self.line[begin..].split(' ').next().unwrap_or_default();
        Some((begin, word))
    }

    fn next(&mut self, expected: &'static str) -> Result<Word<'a>, QueryError> {
        let word = self.peek().ok_or(QueryError::Ends { octet: self.line.len(), expected })?;
        self.at = word.0 + word.1.len();
        Ok(word)
    }

    /// Steps over a word when it is the next one.
    fn skip(&mut self, wanted: &str) -> bool {
        match self.peek() {
            Some((octet, word)) if word == wanted => {
                self.at = octet + word.len();
                true
            }
            _ => false,
        }
    }

    fn name(&mut self) -> Result<FlightName, QueryError> {
        const EXPECTED: &str = "a callsign (A-Z, 0-9, at most 8), or @ and six hexadecimal digits";
        let word = self.next(EXPECTED)?;
        let read = match word.1.strip_prefix('@') {
            Some(digits) if digits.len() == 6 && digits.bytes().all(|d| d.is_ascii_hexdigit()) => {
                u32::from_str_radix(digits, 16).ok().map(FlightName::Address)
            }
            Some(_) => None,
            None => is_name(word.1, 8).then(|| FlightName::Callsign(word.1.to_owned())),
        };
        read.ok_or_else(|| unexpected(word, EXPECTED))
    }

    fn list(&mut self) -> Result<FlightList, QueryError> {
        let mut list = FlightList::default();
        for _ in 0..2 {
            if list.from.is_none() && self.skip("from") {
                list.from = Some(self.aerodrome()?);
            } else if list.to.is_none() && self.skip("to") {
                list.to = Some(self.aerodrome()?);
            }
        }
        if list.from.is_none() && list.to.is_none() {
            const EXPECTED: &str = "from or to";
            return Err(unexpected(self.next(EXPECTED)?, EXPECTED));
        }
        list.between = self.span()?;
        Ok(list)
    }

    fn aerodrome(&mut self) -> Result<String, QueryError> {
        const EXPECTED: &str = "an aerodrome of four letters";
        let word = self.next(EXPECTED)?;
        if word.1.len() != 4 || !is_name(word.1, 4) {
            return Err(unexpected(word, EXPECTED));
        }
        Ok(word.1.to_owned())
    }

    fn area(&mut self) -> Result<Area, QueryError> {
        const EXPECTED: &str = "in SOUTH,WEST,NORTH,EAST or near LAT,LON NM";
        let shape = match self.next(EXPECTED)? {
            (_, "in") => self.bounds()?,
            (_, "near") => self.circle()?,
            other => return Err(unexpected(other, EXPECTED)),
        };
        let levels = if self.skip("levels") { Some(self.levels()?) } else { None };
        Ok(Area { shape, levels })
    }

    fn bounds(&mut self) -> Result<Shape, QueryError> {
        const EXPECTED: &str = "SOUTH,WEST,NORTH,EAST in degrees";
        let word = self.next(EXPECTED)?;
        match numbers::<4>(word.1, ',') {
            Some([south, west, north, east])
                if (-90.0..=north).contains(&south)
                    && north <= 90.0
                    && (-180.0..=east).contains(&west)
                    && east <= 180.0 =>
            {
                Ok(Shape::Box { south, west, north, east })
            }
            _ => Err(unexpected(word, EXPECTED)),
        }
    }

    fn circle(&mut self) -> Result<Shape, QueryError> {
        const PLACE: &str = "LAT,LON in degrees";
        const RADIUS: &str = "a distance in nautical miles, at most 1000";
        let word = self.next(PLACE)?;
        let [lat_deg, lon_deg] = numbers::<2>(word.1, ',')
            .filter(|[lat, lon]| lat.abs() <= 90.0 && lon.abs() <= 180.0)
            .ok_or_else(|| unexpected(word, PLACE))?;
        let word = self.next(RADIUS)?;
        let [radius_nm] = numbers::<1>(word.1, ',')
            .filter(|[nm]| *nm > 0.0 && *nm <= 1000.0)
            .ok_or_else(|| unexpected(word, RADIUS))?;
        Ok(Shape::Circle { lat_deg, lon_deg, radius_nm })
    }

    fn levels(&mut self) -> Result<(f64, f64), QueryError> {
        const EXPECTED: &str = "two flight levels from 0 to 999, as 290-410";
        let word = self.next(EXPECTED)?;
        match numbers::<2>(word.1, '-') {
            Some([low, high]) if low <= high && high <= 999.0 => Ok((low, high)),
            _ => Err(unexpected(word, EXPECTED)),
        }
    }

    fn required_span(&mut self) -> Result<DaySpan, QueryError> {
        const EXPECTED: &str = "between";
        match self.span()? {
            Some(span) => Ok(span),
            None => Err(unexpected(self.next(EXPECTED)?, EXPECTED)),
        }
    }

    fn span(&mut self) -> Result<Option<DaySpan>, QueryError> {
        if !self.skip("between") {
            return Ok(None);
        }
        let from_minute = self.minute(0)?;
        match self.next("and")? {
            (_, "and") => {}
            other => return Err(unexpected(other, "and")),
        }
        let to_minute = self.minute(from_minute)?;
        Ok(Some(DaySpan { from_minute, to_minute }))
    }

    /// A minute of the day, not before `least`.
    fn minute(&mut self, least: u16) -> Result<u16, QueryError> {
        const EXPECTED: &str = "a time HH:MM up to 24:00, the second not before the first";
        let word = self.next(EXPECTED)?;
        let two = |digits: &str| -> Option<u16> {
            let all = digits.len() == 2 && digits.bytes().all(|d| d.is_ascii_digit());
            all.then(|| digits.parse().ok()).flatten()
        };
        let read = word.1.split_once(':').and_then(|(hours, minutes)| {
            let minutes = two(minutes).filter(|minutes| *minutes < 60)?;
            Some(two(hours)? * 60 + minutes)
        });
        read.filter(|minute| (least..=1440).contains(minute))
            .ok_or_else(|| unexpected(word, EXPECTED))
    }
}

fn is_name(word: &str, octets_max: usize) -> bool {
    (1..=octets_max).contains(&word.len())
        && word.bytes().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
}

/// Exactly `N` finite numbers.
fn numbers<const N: usize>(word: &str, separator: char) -> Option<[f64; N]> {
    let mut parts = word.split(separator);
    let mut numbers = [0.0; N];
    for number in &mut numbers {
        *number = parts.next()?.parse().ok().filter(|number: &f64| number.is_finite())?;
    }
    parts.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kind(line: &str) -> QueryKind {
        Query::parse(line).unwrap_or_else(|e| panic!("{line}: {e}")).kind
    }

    #[test]
    fn every_form() {
        assert_eq!(
            kind("flight DLH4AB"),
            QueryKind::Flight(FlightName::Callsign("DLH4AB".to_owned()))
        );
        assert_eq!(kind("flight @3C6444"), QueryKind::Flight(FlightName::Address(0x3C_6444)));
        let QueryKind::List(list) = kind("list to EDDM from EDDF between 10:00 and 24:00") else {
            panic!()
        };
        assert_eq!((list.from.as_deref(), list.to.as_deref()), (Some("EDDF"), Some("EDDM")));
        assert_eq!(list.between, Some(DaySpan { from_minute: 600, to_minute: 1440 }));
        let shape = Shape::Box { south: 48.0, west: -9.5, north: 50.0, east: 12.0 };
        let area = Area { shape, levels: Some((290.0, 410.0)) };
        assert_eq!(kind("tracks in 48,-9.5,50,12 levels 290-410"), QueryKind::Tracks(area));
        let span = DaySpan { from_minute: 600, to_minute: 720 };
        assert_eq!(
            kind("entering in 48,-9.5,50,12 levels 290-410 between 10:00 and 12:00"),
            QueryKind::Entering(area, span)
        );
        let shape = Shape::Circle { lat_deg: 50.0, lon_deg: 8.5, radius_nm: 60.0 };
        let area = Area { shape, levels: None };
        assert_eq!(
            kind("  load  near 50,8.5 60 between 10:00 and 12:00 "),
            QueryKind::Load(area, span)
        );
        assert_eq!(Query::parse("flight A limit 7").unwrap().limit, 7);
        assert_eq!(Query::parse("flight A").unwrap().limit, LIMIT_DEFAULT);
    }

    #[test]
    fn refusals_say_where_and_what_was_expected() {
        for (line, message) in [
            ("", "octet 0: the line ends, expected flight, list, tracks, entering or load"),
            (
                "Flight A",
                "octet 0: expected flight, list, tracks, entering or load, not \"Flight\"",
            ),
            (
                "flight @12345",
                "octet 7: expected a callsign (A-Z, 0-9, at most 8), or @ and six \
              hexadecimal digits, not \"@12345\"",
            ),
            ("list between", "octet 5: expected from or to, not \"between\""),
            (
                "list from EDDF between 10:00 and 09:59",
                "octet 33: expected a time HH:MM up to \
              24:00, the second not before the first, not \"09:59\"",
            ),
            (
                "tracks in 50,9,48,12",
                "octet 10: expected SOUTH,WEST,NORTH,EAST in degrees, not \
              \"50,9,48,12\"",
            ),
            ("tracks near 50,NaN 10", "octet 12: expected LAT,LON in degrees, not \"50,NaN\""),
            ("entering in 48,9,50,12", "octet 22: the line ends, expected between"),
            ("flight A limit 0", "octet 15: expected a number from 1 to 1000, not \"0\""),
            ("flight A B", "octet 9: expected the line's end, not \"B\""),
            ("flight \u{e4}", "octet 7: not printable ASCII"),
        ] {
            let error = Query::parse(line).unwrap_err();
            assert_eq!(error.to_string(), message);
            assert!(message.starts_with(&format!("octet {}:", error.octet())));
        }
        assert_eq!(Query::parse(&"x".repeat(513)), Err(QueryError::TooLong));
    }

    proptest! {
        #[test]
        fn no_line_panics_and_errors_lie_in_it(line in "[ -~]{0,80}|(flight|list|tracks|entering|load|in|near|levels|between|and|limit|from|to|[0-9:.,@-]{1,9}| ){0,14}") {
            if let Err(error) = Query::parse(&line) {
                prop_assert!(error.octet() <= line.len());
            }
        }
    }
}
