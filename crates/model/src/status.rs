//! Status of a transaction at its end.

use std::fmt;
use std::str::FromStr;

/// Status of a stopped transaction (ARM 4.0 C binding, `arm_tran_status_t`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Status {
    /// The transaction succeeded.
    #[default]
    Good = 0,
    /// The transaction was abandoned before its end.
    Aborted = 1,
    /// The transaction ended and did not succeed.
    Failed = 2,
    /// The transaction ended without a reported status.
    Unknown = 3,
}

/// A number or word that names no status.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown status {0:?}: GOOD (0), ABORTED (1), FAILED (2) or UNKNOWN (3) expected")]
pub struct UnknownStatus(pub String);

impl Status {
    /// All statuses, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Good, Self::Aborted, Self::Failed, Self::Unknown];

    /// The name as ARM spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Good => "GOOD",
            Self::Aborted => "ABORTED",
            Self::Failed => "FAILED",
            Self::Unknown => "UNKNOWN",
        }
    }

    /// The status with this number; anything beyond the four reads as [`Status::Unknown`], because
    /// a record with a damaged status is still a record.
    pub const fn from_number(number: u8) -> Self {
        match number {
            0 => Self::Good,
            1 => Self::Aborted,
            2 => Self::Failed,
            _ => Self::Unknown,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Status {
    type Err = UnknownStatus;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|s| s.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| UnknownStatus(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_arms_numbers() {
        for (number, status) in (0..).zip(Status::ALL) {
            assert_eq!(status as u8, number);
            assert_eq!(Status::from_number(number), status);
            assert_eq!(status.name().parse(), Ok(status));
        }
        assert_eq!(Status::from_number(77), Status::Unknown);
        assert_eq!(
            "fine".parse::<Status>().unwrap_err().to_string(),
            "unknown status \"fine\": GOOD (0), ABORTED (1), FAILED (2) or UNKNOWN (3) expected"
        );
    }
}
