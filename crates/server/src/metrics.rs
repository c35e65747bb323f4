//! The collector's status in Prometheus's text format.

use chronoscope_collect::Status;
use std::fmt::Write;

/// The page; every number stands in [`Status`] too.
pub(crate) fn page(status: &Status) -> String {
    let gauge = |on: bool| if on { 1.0 } else { 0.0 };
    let rows = [
        ("collected_rows_total", "counter", "Rows taken out of rings.", status.rows as f64),
        (
            "durable_rows_total",
            "counter",
            "Rows that survive anything.",
            status.durable_rows as f64,
        ),
        ("sealed_rows_total", "counter", "Rows in segments.", status.sealed_rows as f64),
        (
            "lost_rows_total",
            "counter",
            "Rows overwritten before they were read.",
            status.lost_rows as f64,
        ),
        ("late_rows_total", "counter", "Rows that came after sealing.", status.late_rows as f64),
        (
            "damaged_rows_total",
            "counter",
            "Rows that could not be read back.",
            status.damaged_rows as f64,
        ),
        (
            "expired_rows_total",
            "counter",
            "Rows deleted for age or space.",
            status.expired_rows as f64,
        ),
        ("unsealed_rows", "gauge", "Rows that wait for sealing.", status.unsealed_rows as f64),
        ("log_bytes", "gauge", "Bytes of the write-ahead log.", status.log_bytes as f64),
        ("refused", "gauge", "1 while rows are refused.", gauge(status.refused)),
        ("running", "gauge", "1 while the collector is at work.", gauge(status.running)),
    ];
    let mut page = String::new();
    for (name, kind, help, value) in rows {
        let _ = write!(
            page,
            "# HELP chronoscope_{name} {help}\n# TYPE chronoscope_{name} {kind}\n\
             chronoscope_{name} {value}\n"
        );
    }
    let lost = "chronoscope_process_lost_rows_total";
    let _ = writeln!(page, "# HELP {lost} Rows a process overwrote before they were read.");
    let _ = writeln!(page, "# TYPE {lost} counter");
    for process in &status.processes {
        let (application, host) = (escaped(&process.application), escaped(&process.host));
        let _ = writeln!(
            page,
            "{lost}{{application=\"{application}\",host=\"{host}\",pid=\"{}\"}} {}",
            process.pid, process.lost_rows
        );
    }
    page
}

/// A label's value, as the text format wants it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_collect::ProcessStatus;

    #[test]
    fn names_cannot_break_the_page() {
        let process =
            ProcessStatus { application: "a\"b\n".into(), lost_rows: 7, ..Default::default() };
        let page = page(&Status { rows: 5, processes: vec![process], ..Default::default() });
        assert!(page.contains("\nchronoscope_collected_rows_total 5\n"));
        assert!(page.ends_with("{application=\"a\\\"b\\n\",host=\"\",pid=\"0\"} 7\n"), "{page}");
    }
}
