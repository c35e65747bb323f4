//! Cells that the tables of hosts and of groups share.

/// A name that does nothing to a terminal.
pub(super) fn shown(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// A share in percent; a dash where it is not known.
pub(super) fn share_text(share: Option<f64>) -> String {
    match share {
        None => "-".to_owned(),
        Some(share) if share >= 99.995 => format!("{share:.1}"),
        Some(share) => format!("{share:.2}"),
    }
}

/// A number in at most five places: whole where it fits, else three digits and a prefix.
pub(super) fn short(value: f64) -> String {
    if value < 99_999.5 {
        return format!("{value:.0}");
    }
    let mut value = value;
    for prefix in ["k", "M", "G", "T", "P"] {
        value /= 1e3;
        if value < 999.5 {
            let places = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
            return format!("{value:.places$}{prefix}");
        }
    }
    format!("{:.0}E", value / 1e3)
}
