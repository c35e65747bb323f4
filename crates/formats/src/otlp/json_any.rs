//! JSON back into what OTLP sent: the way back of `value` and `parts`.

use super::keys;
use chronoscope_model::Transaction;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue, KeyValueList};
use opentelemetry_proto::tonic::trace::v1::span::{Event, Link};
use serde_json::{Map, Value as Json};
use std::collections::HashSet;

/// Attributes of a transaction whose original type differs from the stored one.
#[derive(Debug, Default)]
pub(super) struct Types {
    json: HashSet<String>,
    double: HashSet<String>,
}

impl Types {
    pub(super) fn of(t: &Transaction) -> Self {
        let mut types = Self::default();
        let marks = t.properties.iter().filter(|(key, _)| keys::TYPES.contains(&key.as_str()));
        for (_, marks) in marks {
            // Marks that are none mark nothing.
            let marks: Json = serde_json::from_str(marks).unwrap_or_default();
            let names = |name: &str| {
                let names = marks[name].as_array().cloned().unwrap_or_default();
                names.into_iter().filter_map(|name| name.as_str().map(str::to_owned))
            };
            types.json.extend(names("json"));
            types.double.extend(names("double"));
        }
        types
    }

    /// A property in the type in which it was sent.
    pub(super) fn property(&self, key: &str, value: &str) -> AnyValue {
        let parsed = self.json.contains(key).then(|| serde_json::from_str(value).ok()).flatten();
        parsed.map_or_else(|| text(value), any)
    }

    /// Whether a metric was a double although it is a whole number.
    pub(super) fn is_double(&self, key: &str) -> bool {
        self.double.contains(key)
    }
}

fn text(text: &str) -> AnyValue {
    AnyValue { value: Some(Value::StringValue(text.to_owned())) }
}

pub(super) fn pair(key: &str, value: AnyValue) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(value), ..KeyValue::default() }
}

pub(super) fn text_pair(key: &str, value: &str) -> KeyValue {
    pair(key, text(value))
}

/// An event; `None` when the JSON was not written by this mapping.
pub(super) fn event(json: &str) -> Option<Event> {
    let mut json: Json = serde_json::from_str(json).ok()?;
    Some(Event {
        time_unix_nano: json["time_unix_nano"].as_u64()?,
        name: json["name"].as_str()?.to_owned(),
        attributes: attributes(&mut json),
        dropped_attributes_count: dropped(&json),
    })
}

/// A link; `None` when the JSON was not written by this mapping.
pub(super) fn link(json: &str) -> Option<Link> {
    let mut json: Json = serde_json::from_str(json).ok()?;
    Some(Link {
        trace_id: unhex(json["trace_id"].as_str()?)?,
        span_id: unhex(json["span_id"].as_str()?)?,
        trace_state: json["trace_state"].as_str().unwrap_or_default().to_owned(),
        flags: u32::try_from(json["flags"].as_u64().unwrap_or(0)).ok()?,
        attributes: attributes(&mut json),
        dropped_attributes_count: dropped(&json),
    })
}

fn attributes(json: &mut Json) -> Vec<KeyValue> {
    match json["attributes"].take() {
        Json::Object(members) => self::members(members),
        _ => Vec::new(),
    }
}

fn dropped(json: &Json) -> u32 {
    let count = json["dropped_attributes_count"].as_u64().unwrap_or(0);
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn any(json: Json) -> AnyValue {
    let value = match json {
        Json::Null => None,
        Json::Bool(value) => Some(Value::BoolValue(value)),
        Json::String(text) => Some(Value::StringValue(text)),
        Json::Number(number) => Some(match number.as_i64() {
            Some(number) => Value::IntValue(number),
            None => Value::DoubleValue(number.as_f64().unwrap_or(f64::NAN)),
        }),
        Json::Array(values) => {
            let values = values.into_iter().map(any).collect();
            Some(Value::ArrayValue(ArrayValue { values }))
        }
        Json::Object(members) => Some(object(members)),
    };
    AnyValue { value }
}

fn object(members: Map<String, Json>) -> Value {
    if members.len() == 1 {
        if let Some(bytes) = members.get("$bytes").and_then(|text| unhex(text.as_str()?)) {
            return Value::BytesValue(bytes);
        }
        let double = members.get("$double").and_then(|text| text.as_str()?.parse().ok());
        if let Some(double) = double {
            return Value::DoubleValue(double);
        }
    }
    Value::KvlistValue(KeyValueList { values: self::members(members) })
}

fn members(members: Map<String, Json>) -> Vec<KeyValue> {
    let unescaped = |key: String| match key.strip_prefix("$$") {
        Some(rest) => format!("${rest}"),
        None => key,
    };
    members.into_iter().map(|(key, value)| pair(&unescaped(key), any(value))).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let octet = |pair: &[u8; 2]| {
        let digit = |char: u8| char::from(char).to_digit(16).and_then(|d| u8::try_from(d).ok());
        Some(digit(pair[0])? << 4 | digit(pair[1])?)
    };
    pairs.iter().map(octet).collect()
}
