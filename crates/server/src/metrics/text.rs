//! Both text formats: Prometheus's own, 0.0.4, and OpenMetrics 1.0.0, which has exemplars.

use super::exposition::{Family, Kind, Series, Value};
use super::histogram::{DurationHistogram, Exemplar, seconds};
use std::fmt::Write;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextFormat {
    /// Prometheus's text format 0.0.4.
    Prometheus,
    /// OpenMetrics 1.0.0.
    OpenMetrics,
}

/// Writes families.
pub(super) fn write(families: &[Family], format: TextFormat) -> String {
    let mut writer = Writer { text: String::new(), format };
    for family in families {
        writer.family(family);
    }
    if format == TextFormat::OpenMetrics {
        writer.text += "# EOF\n";
    }
    writer.text
}

struct Writer {
    text: String,
    format: TextFormat,
}

impl Writer {
    fn family(&mut self, Family { name, kind, help, series }: &Family) {
        let (kind, suffix) = match kind {
            Kind::Counter => ("counter", "_total"),
            Kind::Gauge => ("gauge", ""),
            Kind::Histogram => ("histogram", ""),
        };
        // In OpenMetrics the suffix belongs to the sample and not to the metric.
        let metric = match self.format {
            TextFormat::Prometheus => name,
            TextFormat::OpenMetrics => name.strip_suffix(suffix).unwrap_or(name),
        };
        // A String takes everything.
        let _ = writeln!(self.text, "# HELP {metric} {help}\n# TYPE {metric} {kind}");
        for series in series {
            self.series(name, series);
        }
    }

    fn series(&mut self, name: &str, Series { labels, value }: &Series) {
        match value {
            Value::Integer(value) => self.sample((name, ""), labels, None, &value.to_string()),
            Value::Float(value) => self.sample((name, ""), labels, None, &value.to_string()),
            Value::Histogram(histogram) => self.histogram(name, labels, histogram),
        }
    }

    fn histogram(
        &mut self,
        name: &str,
        labels: &[(&'static str, String)],
        histogram: &DurationHistogram,
    ) {
        for (bound, count, exemplar) in histogram.classic() {
            let bound = match self.format {
                TextFormat::Prometheus if bound.is_finite() => bound.to_string(),
                _ => canonical(bound),
            };
            self.sample((name, "_bucket"), labels, Some(&bound), &count.to_string());
            if let (TextFormat::OpenMetrics, Some(exemplar)) = (self.format, exemplar) {
                self.text.pop(); // the line goes on
                self.exemplar(exemplar);
            }
        }
        let sum = seconds(histogram.sum_ns).to_string();
        self.sample((name, "_sum"), labels, None, &sum);
        self.sample((name, "_count"), labels, None, &histogram.count().to_string());
    }

    fn sample(
        &mut self,
        (name, suffix): (&str, &str),
        labels: &[(&'static str, String)],
        bound: Option<&str>,
        value: &str,
    ) {
        self.text += name;
        self.text += suffix;
        let labels = labels.iter().map(|(label, text)| (*label, text.as_str()));
        self.labels(labels.chain(bound.map(|bound| ("le", bound))));
        let _ = writeln!(self.text, " {value}");
    }

    /// Labels in braces; nothing where there is none.
    fn labels<'a>(&mut self, labels: impl Iterator<Item = (&'a str, &'a str)>) {
        let mut begin = '{';
        for (label, text) in labels {
            self.text.push(begin);
            begin = ',';
            self.text += label;
            self.text += "=\"";
            for c in text.chars() {
                match c {
                    '\\' => self.text += "\\\\",
                    '"' => self.text += "\\\"",
                    '\n' => self.text += "\\n",
                    c => self.text.push(c),
                }
            }
            self.text.push('"');
        }
        if begin == ',' {
            self.text.push('}');
        }
    }

    fn exemplar(&mut self, exemplar: &Exemplar) {
        self.text += " # ";
        let labels: Vec<_> = exemplar.labels().collect();
        self.labels(labels.iter().map(|(label, text)| (*label, text.as_str())));
        let value = seconds(u128::from(exemplar.ns));
        let at_ms = exemplar.at_ns.div_euclid(1_000_000);
        let (at_s, at_ms) = (at_ms.div_euclid(1_000), at_ms.rem_euclid(1_000));
        let _ = writeln!(self.text, " {value} {at_s}.{at_ms:03}");
    }
}

/// A positive bound as OpenMetrics and Go write it, so that the label of a bucket is one and the same
/// whatever the format: with a fraction always, and with an exponent below 10⁻⁴.
pub(super) fn canonical(bound: f64) -> String {
    if bound.is_infinite() {
        return "+Inf".to_owned();
    }
    if bound < 1e-4 {
        let text = format!("{bound:e}");
        return match text.split_once("e-") {
            Some((digits, exponent)) => format!("{digits}e-{exponent:0>2}"),
            None => text,
        };
    }
    format!("{bound:?}") // as `{}`, and with a fraction
}

#[cfg(test)]
mod tests {
    use super::super::histogram::BOUNDS_NS;
    use super::*;

    #[test]
    fn bounds_have_one_way_to_be_written() {
        let text = BOUNDS_NS.map(|ns| canonical(seconds(u128::from(ns))));
        assert_eq!(text[..4], ["1e-06", "2.5e-06", "5e-06", "1e-05"]);
        assert_eq!(text[6..8], ["0.0001", "0.00025"]);
        assert_eq!(text[17..20], ["0.5", "1.0", "2.5"]);
        assert_eq!(text[21..], ["10.0", "25.0", "50.0"]);
        assert_eq!(canonical(f64::INFINITY), "+Inf");
    }
}
