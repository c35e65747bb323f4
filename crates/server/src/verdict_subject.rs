//! Reads the population that a verdict judges from the parameters of a question.

use chronoscope_query::{Receivers, Required, VerdictSubject};

/// The population that a verdict judges, by its parameters.
pub(crate) fn judged(
    judge: Option<&str>,
    distinct: Option<&str>,
    timeout_ns: Option<u64>,
) -> Result<VerdictSubject, &'static str> {
    let receivers = match distinct {
        None => None,
        Some("process") => Some(Receivers::Processes),
        Some("host") => Some(Receivers::Hosts),
        Some(_) => return Err("distinct: process or host"),
    };
    let required = match judge {
        None | Some("arrived") if receivers.is_some() || timeout_ns.is_some() => {
            return Err("distinct and timeout_ns need judge: each-root, N.. or N");
        }
        None => return Ok(VerdictSubject::Described),
        Some("arrived") => return Ok(VerdictSubject::Arrived),
        Some("each-root") => Required::AtLeast(1),
        Some(number) => number
            .parse()
            .map_err(|_| "judge: each-root, arrived, N.. or N (leaves of each root)")?,
    };
    Ok(VerdictSubject::Roots { required, receivers, timeout_ns })
}
