//! Octets of an operation as fields with names: the walk along a [`Shape`].

use super::ber::{self, BerValue, CONTEXT, UNIVERSAL};
use super::field::DumpField;
use super::schema::fsp::PARAMETERS;
use super::schema::{Alternative, Member, Shape};
use crate::client::notation;
use crate::pdu::{Diagnostic, ParameterName, PeerAbortDiagnostic};
use crate::time::{Time, utc_text};
use std::borrow::Cow;
use std::ops::Range;

/// Fields of one message at most; of the rest there is a count.
const FIELDS_MAX: usize = 20_000;
/// Octets of data that a value shows.
const SHOWN_OCTETS: usize = 32;

/// The walk through one message.
pub(super) struct Annotator<'a> {
    octets: &'a [u8],
    left: usize,
}

impl<'a> Annotator<'a> {
    /// For values in `octets`, which were scanned: they are well formed, and no deeper than allowed.
    pub(super) fn new(octets: &'a [u8]) -> Self {
        Self { octets, left: FIELDS_MAX }
    }

    /// The fields within an operation: what is under its tag has this shape.
    pub(super) fn operation(&mut self, value: &BerValue, shape: &'static Shape) -> Vec<DumpField> {
        let field = self.content(Cow::Borrowed(""), shape, value);
        // An operation without members is a value of its own (PEER-ABORT).
        if field.fields.is_empty() {
            vec![DumpField { name: "diagnostic".into(), ..field }]
        } else {
            field.fields
        }
    }

    /// The fields within a value of which no shape is known: their tags and octets.
    pub(super) fn unknown(&mut self, value: &BerValue) -> Vec<DumpField> {
        self.within(value, Self::bare)
    }

    fn bare(&mut self, value: &BerValue) -> DumpField {
        let mut field = DumpField::leaf(value.tag(), "", value.whole.clone());
        if value.identifier.constructed {
            field.fields = self.within(value, Self::bare);
            return field;
        }
        let content = &self.octets[value.content.clone()];
        field.value = match value.identifier.number {
            2 if value.identifier.class == UNIVERSAL => {
                ber::integer(content).map_or_else(|| hex(content), |number| number.to_string())
            }
            6 if value.identifier.class == UNIVERSAL => {
                ber::object_identifier(content).unwrap_or_else(|| hex(content))
            }
            26 if value.identifier.class == UNIVERSAL => text(content),
            _ => data(content),
        };
        field
    }

    fn within(
        &mut self,
        value: &BerValue,
        mut field: impl FnMut(&mut Self, &BerValue) -> DumpField,
    ) -> Vec<DumpField> {
        match ber::values(self.octets, value.content.clone()) {
            Ok(values) => self.all(&values, |annotator, _, value| field(annotator, value)),
            Err(error) => vec![broken(error.to_string(), value.content.clone())],
        }
    }

    /// A field for each value, as long as there may be more fields.
    fn all(
        &mut self,
        values: &[BerValue],
        mut field: impl FnMut(&mut Self, usize, &BerValue) -> DumpField,
    ) -> Vec<DumpField> {
        let mut fields = Vec::new();
        for (index, value) in values.iter().enumerate() {
            if self.left == 0 {
                let rest = value.whole.start..values[values.len() - 1].whole.end;
                let count = values.len() - index;
                fields.push(DumpField::leaf("…", format!("{count} more"), rest));
                break;
            }
            self.left -= 1;
            fields.push(field(self, index, value));
        }
        fields
    }

    /// A value in a place where the module has this shape.
    fn member(
        &mut self,
        name: Cow<'static, str>,
        shape: &'static Shape,
        value: &BerValue,
    ) -> DumpField {
        match shape {
            Shape::Choice(alternatives) => self.choice(name, alternatives, value),
            Shape::ChoiceOr(alternatives, _) if value.identifier.class == CONTEXT => {
                self.choice(name, alternatives, value)
            }
            Shape::ChoiceOr(_, bare) => self.member(name, bare, value),
            _ => {
                let (expected, is_it) = match shape {
                    Shape::Sequence(_) => ("SEQUENCE", value.is(UNIVERSAL, 16)),
                    Shape::Each(_) => {
                        ("SEQUENCE or SET", value.is(UNIVERSAL, 16) || value.is(UNIVERSAL, 17))
                    }
                    Shape::Octets | Shape::Cds | Shape::Embedded(_) => {
                        ("OCTET STRING", value.is(UNIVERSAL, 4))
                    }
                    Shape::Text => ("VisibleString", value.is(UNIVERSAL, 26)),
                    Shape::Oid => ("OBJECT IDENTIFIER", value.is(UNIVERSAL, 6)),
                    Shape::Null => ("NULL", value.is(UNIVERSAL, 5)),
                    _ => ("INTEGER", value.is(UNIVERSAL, 2)),
                };
                if is_it {
                    return self.content(name, shape, value);
                }
                let mut field = self.bare(value);
                field.fault = Some(format!("{} instead of {expected}", value.tag()));
                field.name = name;
                field
            }
        }
    }

    fn choice(
        &mut self,
        name: Cow<'static, str>,
        alternatives: &'static [Alternative],
        value: &BerValue,
    ) -> DumpField {
        let found = alternatives.iter().find(|(tag, ..)| value.is(CONTEXT, *tag));
        let Some((_, alternative, shape)) = found else {
            let mut field = self.bare(value);
            field.name = name;
            field.fault = Some(format!("{} is none of its alternatives", value.tag()));
            return field;
        };
        let mut field = match shape {
            // The tag is explicit: the other choice is within.
            Shape::Choice(_) | Shape::ChoiceOr(..) => {
                match ber::values(self.octets, value.content.clone()).as_deref() {
                    Ok([inner]) => self.member(name, shape, inner),
                    _ => {
                        let mut field = self.bare(value);
                        field.name = name;
                        field.fault = Some(format!("{alternative} has not one value in it"));
                        field
                    }
                }
            }
            _ => self.content(name, shape, value),
        };
        field.range = value.whole.clone();
        field.value = match field.value.as_str() {
            "" => (*alternative).to_owned(),
            inner => format!("{alternative} {inner}"),
        };
        field
    }

    /// A value whose tag is right, or was replaced by that of an alternative.
    fn content(
        &mut self,
        name: Cow<'static, str>,
        shape: &'static Shape,
        value: &BerValue,
    ) -> DumpField {
        let mut field = DumpField::leaf(name, "", value.whole.clone());
        let is_structure = matches!(shape, Shape::Sequence(_) | Shape::Each(_));
        if value.identifier.constructed != is_structure {
            if is_structure {
                field.fault = Some("a primitive value instead of a structure".to_owned());
                field.value = data(&self.octets[value.content.clone()]);
            } else {
                self.segments(&mut field, shape, value);
            }
            return field;
        }
        let content = &self.octets[value.content.clone()];
        match shape {
            Shape::Sequence(members) => self.sequence(&mut field, members, value),
            Shape::Each(shape) => match ber::values(self.octets, value.content.clone()) {
                Ok(values) => {
                    field.fields = self.all(&values, |annotator, index, value| {
                        annotator.member(Cow::Owned((index + 1).to_string()), shape, value)
                    });
                    field.value = format!("{} in it", values.len());
                }
                Err(error) => field.fault = Some(error.to_string()),
            },
            Shape::Embedded(shape) => self.embedded(&mut field, shape, value),
            _ => match primitive(shape, content) {
                Ok(words) => field.value = words,
                Err(fault) => {
                    field.value = data(content);
                    field.fault = Some(fault);
                }
            },
        }
        field
    }

    fn sequence(&mut self, field: &mut DumpField, members: &'static [Member], value: &BerValue) {
        let values = match ber::values(self.octets, value.content.clone()) {
            Ok(values) => values,
            Err(error) => {
                field.fault = Some(error.to_string());
                return;
            }
        };
        field.fields = self.all(&values, |annotator, index, value| match members.get(index) {
            Some((name, shape)) => annotator.member(Cow::Borrowed(*name), shape, value),
            None => {
                let mut more = annotator.bare(value);
                more.fault = Some("the module has no such member".to_owned());
                more
            }
        });
        if let Some((name, _)) = members.get(values.len()) {
            field.fault = Some(format!("{name} is missing"));
        }
    }

    /// A string in segments, or a constructed value where there is none.
    fn segments(&mut self, field: &mut DumpField, shape: &'static Shape, value: &BerValue) {
        field.fields = self.unknown(value);
        let is_string =
            matches!(shape, Shape::Octets | Shape::Cds | Shape::Text | Shape::Embedded(_));
        if is_string {
            field.value = "in segments".to_owned();
        } else {
            field.fault = Some("a constructed value instead of a primitive one".to_owned());
        }
    }

    /// Octets with a value of BER in them, if there is one; any octets are allowed.
    fn embedded(&mut self, field: &mut DumpField, shape: &'static Shape, value: &BerValue) {
        let content = &self.octets[value.content.clone()];
        field.value = data(content);
        if crate::codec::scan::scan(content).is_err() {
            return;
        }
        let Range { start, end } = value.content;
        if let Ok(inner) = ber::value(self.octets, start, end) {
            let inner = self.member(Cow::Borrowed("value"), shape, &inner);
            if inner.first_fault().is_none() {
                field.fields = inner.fields;
                field.value = format!("{} octets", content.len());
            }
        }
    }
}

fn broken(fault: String, range: Range<usize>) -> DumpField {
    DumpField { fault: Some(fault), ..DumpField::leaf("octets", "", range) }
}

/// A primitive value in words.
fn primitive(shape: &Shape, content: &[u8]) -> Result<String, String> {
    let number = || ber::integer(content).ok_or_else(|| "no integer of 1 to 8 octets".to_owned());
    Ok(match shape {
        Shape::Null if content.is_empty() => String::new(),
        Shape::Null => return Err("a NULL with octets in it".to_owned()),
        Shape::Integer("") => number()?.to_string(),
        Shape::Integer(unit) => format!("{} {unit}", number()?),
        Shape::Words(words) => {
            let number = number()?;
            let found = words.iter().find(|(value, _)| *value == number);
            match found {
                Some((_, word)) => format!("{word} ({number})"),
                None => return Err(format!("{number} is none of its values")),
            }
        }
        Shape::ParameterName => {
            let number = number()?;
            format!("{} ({number})", parameter_name(number))
        }
        Shape::Diagnostic(service, operation) => {
            let number = number()?;
            let octet = u8::try_from(number).map_err(|_| format!("{number} is no diagnostic"))?;
            let word = notation::diagnostic(*service, operation, Diagnostic::Specific(octet));
            format!("{word} ({number})")
        }
        Shape::AbortDiagnostic => {
            let number = number()?;
            let octet = u8::try_from(number).map_err(|_| format!("{number} is no octet"))?;
            format!("{:?} ({number})", PeerAbortDiagnostic::from_octet(octet))
        }
        Shape::Cds => time(content)?,
        Shape::Text => text(content),
        Shape::Oid => ber::object_identifier(content).ok_or("no object identifier")?,
        _ => data(content),
    })
}

/// Name of a parameter of any service.
fn parameter_name(number: i64) -> &'static str {
    let of_fsp = PARAMETERS.iter().find(|(value, _)| i64::from(*value) == number);
    match (of_fsp, u16::try_from(number)) {
        (Some((_, name)), _) => name,
        (None, Ok(number)) => ParameterName(number).name(),
        (None, Err(_)) => "no parameter",
    }
}

fn time(content: &[u8]) -> Result<String, String> {
    let (time, digits) = match (<[u8; 8]>::try_from(content), <[u8; 10]>::try_from(content)) {
        (Ok(octets), _) => (Time::Micro(octets), 6),
        (_, Ok(octets)) => (Time::Pico(octets), 9),
        _ => return Err(format!("a time of {} octets instead of 8 or 10", content.len())),
    };
    Ok(match time.utc_ns() {
        Some(ns) => utc_text(ns, digits),
        None => format!("{} (no time since 1970)", hex(content)),
    })
}

fn text(content: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(content))
}

/// Data: how much, and its beginning.
fn data(content: &[u8]) -> String {
    let shown = &content[..content.len().min(SHOWN_OCTETS)];
    let more = if content.len() > SHOWN_OCTETS { " …" } else { "" };
    match content.len() {
        0 => "no octets".to_owned(),
        1 => format!("1 octet: {}", hex(shown)),
        length => format!("{length} octets: {}{more}", hex(shown)),
    }
}

/// Hexadecimal digits.
pub(super) fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}
