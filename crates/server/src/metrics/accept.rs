//! Content negotiation of `/metrics` (RFC 9110, section 12.5.1).

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;

/// A format of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Prometheus's text format 0.0.4.
    Text,
    /// OpenMetrics 1.0.0, with exemplars.
    OpenMetrics,
    /// Prometheus's messages after their lengths, with exemplars and native histograms.
    Protobuf,
}

impl Format {
    /// In the order of preference, where a reader has none: the last has the most to say.
    const ALL: [Self; 3] = [Self::Text, Self::OpenMetrics, Self::Protobuf];

    /// The value of `content-type`.
    pub(crate) const fn content_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; version=0.0.4",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Protobuf => {
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; \
                 encoding=delimited"
            }
        }
    }

    /// The format that a request asks for; the text format for one that asks for none of them, so
    /// that there is an answer for everybody.
    pub(crate) fn asked(headers: &HeaderMap) -> Self {
        let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let ranges: Vec<Range<'_>> =
            values.flat_map(|value| value.split(',')).filter_map(Range::parse).collect();
        let quality = |format: &Self| {
            let matching = ranges.iter().filter_map(|range| Some((range.matches(*format)?, range)));
            // The most specific range decides.
            let range = matching.max_by_key(|(specific, _)| *specific)?.1;
            Some(range.quality).filter(|quality| *quality > 0)
        };
        let offers = Self::ALL.into_iter().filter_map(|format| Some((quality(&format)?, format)));
        // Of equal ones the last.
        offers.max_by_key(|(quality, _)| *quality).map_or(Self::Text, |(_, format)| format)
    }
}

/// A media range with its parameters, and its quality in thousandths.
struct Range<'a> {
    kind: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    quality: u16,
}

impl<'a> Range<'a> {
    /// A range; `None` for what is none, and for one whose quality cannot be read.
    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let kind = parts.next().filter(|kind| kind.contains('/'))?;
        let mut range = Self { kind, parameters: Vec::new(), quality: 1000 };
        for part in parts.filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=')?;
            let (name, value) = (name.trim(), value.trim().trim_matches('"'));
            if name.eq_ignore_ascii_case("q") {
                range.quality = thousandths(value)?;
            } else {
                range.parameters.push((name, value));
            }
        }
        Some(range)
    }

    /// How specifically the range names a format; `None` where it does not. A range with `*` names
    /// only text: a reader that takes anything does not ask for messages.
    fn matches(&self, format: Format) -> Option<u8> {
        let is = |kind: &str| self.kind.eq_ignore_ascii_case(kind);
        let has = |name: &str, expected: &str| {
            let mut values =
                self.parameters.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
            values.next().map(|(_, value)| value.eq_ignore_ascii_case(expected))
        };
        match format {
            Format::Text if is("*/*") => Some(0),
            Format::Text if is("text/*") => Some(1),
            Format::Text if is("text/plain") => {
                has("version", "0.0.4").unwrap_or(true).then_some(2)
            }
            Format::OpenMetrics if is("application/openmetrics-text") => {
                has("version", "1.0.0").unwrap_or(true).then_some(2)
            }
            Format::Protobuf if is("application/vnd.google.protobuf") => {
                let is_ours = has("proto", "io.prometheus.client.MetricFamily") == Some(true)
                    && has("encoding", "delimited") == Some(true);
                is_ours.then_some(2)
            }
            _ => None,
        }
    }
}

/// A quality: 0 to 1 with at most three digits after the point.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, digits) = text.split_once('.').unwrap_or((text, ""));
    let is_number = digits.len() <= 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let rest: u16 = format!("{digits:0<3}").parse().ok().filter(|_| is_number)?;
    match (whole, rest) {
        ("0", rest) => Some(rest),
        ("1", 0) => Some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;
    use proptest::prelude::*;

    fn asked(accept: &str) -> Format {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_str(accept).unwrap());
        Format::asked(&headers)
    }

    const PROTOBUF: &str = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;\
                            encoding=delimited";

    #[test]
    fn prometheus_gets_what_it_prefers() {
        // 2.42 with native histograms, and without them.
        let rest = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;\
                    version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        assert_eq!(asked(&format!("{PROTOBUF},{rest}")), Format::Protobuf);
        assert_eq!(asked(rest), Format::OpenMetrics);
        // 3, in its two orders.
        let text = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,\
                    text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;\
                    version=0.0.4;q=0.2,/;q=0.1";
        assert_eq!(asked(&format!("{PROTOBUF};q=0.6,{text}")), Format::Protobuf);
        assert_eq!(asked(&format!("{text},{PROTOBUF};q=0.4")), Format::OpenMetrics);
    }

    #[test]
    fn everybody_else_gets_text() {
        assert_eq!(Format::asked(&HeaderMap::new()), Format::Text);
        for accept in [
            "*/*",
            "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "application/json",
            "application/*",
            "text/plain;version=0.0.4",
            "application/vnd.google.protobuf",
            "application/openmetrics-text;version=2.0.0",
            "application/openmetrics-text;q=0",
            "application/openmetrics-text;q=much",
            "application/openmetrics-text;q=0.2,text/plain;q=0.201",
            "application/openmetrics-text;q=0.2,*/*",
            "nonsense;;=,,",
        ] {
            assert_eq!(asked(accept), Format::Text, "{accept}");
        }
    }

    #[test]
    fn names_and_values_are_compared_as_http_has_it() {
        assert_eq!(asked("Application/OpenMetrics-Text; Version=\"1.0.0\""), Format::OpenMetrics);
        assert_eq!(asked("application/openmetrics-text, text/plain"), Format::OpenMetrics);
        assert_eq!(asked("*/*, application/openmetrics-text;q=0.5"), Format::Text);
    }

    proptest! {
        #[test]
        fn any_header_has_an_answer(accept in "[ -~]{0,60}") {
            asked(&accept);
        }
    }
}
