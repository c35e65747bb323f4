//! What an operator may say to a running provider: one order a line.

use crate::config::ProductionSetting;
use crate::pdu::{LockStatus, UplinkStatus};

/// Longest line that is read, in octets.
pub const LINE_MAX: usize = 1024;

/// What `help` answers.
pub const HELP: &str = "\
status                        who is bound to what, and how production is
interrupt [INSTANCE]          production is interrupted
resume [INSTANCE]             production is operational again
halt [INSTANCE]               production is halted
configure [INSTANCE]          production is set up, without an uplink (FCLTU)
uplink nominal|no-bit-lock|no-rf|not-available [INSTANCE]
lose-sync [INSTANCE]          frame synchronisation is lost (RAF, RCF)
lock [INSTANCE]               frame synchronisation is there again
out-of-service INSTANCE       nobody may bind any more
in-service INSTANCE           he may
abort [INSTANCE]              ends associations, for operational reasons
help
quit                          aborts what is bound, and ends
An INSTANCE is its identifier or the end of it, as cltu1; without one all are meant.";

/// An order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorOrder {
    /// Say how everything is.
    Status,
    /// Sets the production status of one instance, or of all.
    Production(ProductionSetting, Option<String>),
    /// The uplink is so.
    Uplink(UplinkStatus, Option<String>),
    /// Frame synchronisation is so.
    FrameSync(LockStatus, Option<String>),
    /// Whether an instance is out of service.
    OutOfService(bool, String),
    /// Associations end.
    Abort(Option<String>),
    /// Say what there is.
    Help,
    /// The provider ends.
    Quit,
}

/// Reads a line.
///
/// # Errors
/// What is wrong with it, in words.
pub fn parse(line: &str) -> Result<OperatorOrder, String> {
    let mut words = line.split_ascii_whitespace();
    let first = words.next().unwrap_or("");
    let rest: Vec<&str> = words.collect();
    let at_most_one = |rest: &[&str]| match rest {
        [] => Ok(None),
        [instance] => Ok(Some((*instance).to_owned())),
        _ => Err(format!("{first}: one INSTANCE at most")),
    };
    let one = |rest: &[&str]| match rest {
        [instance] => Ok((*instance).to_owned()),
        _ => Err(format!("{first} INSTANCE")),
    };
    Ok(match first {
        "status" => OperatorOrder::Status,
        "interrupt" => {
            OperatorOrder::Production(ProductionSetting::Interrupted, at_most_one(&rest)?)
        }
        "resume" => OperatorOrder::Production(ProductionSetting::Operational, at_most_one(&rest)?),
        "halt" => OperatorOrder::Production(ProductionSetting::Halted, at_most_one(&rest)?),
        "configure" => {
            OperatorOrder::Production(ProductionSetting::Configured, at_most_one(&rest)?)
        }
        "uplink" => {
            let status = match rest.first() {
                Some(&"nominal") => UplinkStatus::Nominal,
                Some(&"no-bit-lock") => UplinkStatus::NoBitLock,
                Some(&"no-rf") => UplinkStatus::NoRfAvailable,
                Some(&"not-available") => UplinkStatus::NotAvailable,
                _ => {
                    return Err("uplink nominal|no-bit-lock|no-rf|not-available".to_owned());
                }
            };
            OperatorOrder::Uplink(status, at_most_one(&rest[1..])?)
        }
        "lose-sync" => OperatorOrder::FrameSync(LockStatus::OutOfLock, at_most_one(&rest)?),
        "lock" => OperatorOrder::FrameSync(LockStatus::InLock, at_most_one(&rest)?),
        "out-of-service" => OperatorOrder::OutOfService(true, one(&rest)?),
        "in-service" => OperatorOrder::OutOfService(false, one(&rest)?),
        "abort" => OperatorOrder::Abort(at_most_one(&rest)?),
        "help" => OperatorOrder::Help,
        "quit" => OperatorOrder::Quit,
        "" => return Err("an order, or help".to_owned()),
        other => return Err(format!("{other:?} is no order; help names them")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_lines() {
        assert_eq!(
            parse("interrupt"),
            Ok(OperatorOrder::Production(ProductionSetting::Interrupted, None))
        );
        let of_one = OperatorOrder::Production(ProductionSetting::Halted, Some("cltu1".to_owned()));
        assert_eq!(parse("  halt cltu1 "), Ok(of_one));
        let uplink = OperatorOrder::Uplink(UplinkStatus::NoRfAvailable, Some("cltu1".to_owned()));
        assert_eq!(parse("uplink no-rf cltu1"), Ok(uplink));
        assert_eq!(
            parse("in-service onlc1"),
            Ok(OperatorOrder::OutOfService(false, "onlc1".to_owned()))
        );
        for wrong in ["", "stop", "halt a b", "uplink", "uplink good", "in-service"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_order_is_in_the_help() {
        for word in [
            "status",
            "interrupt",
            "resume",
            "halt",
            "configure",
            "uplink",
            "lose-sync",
            "lock",
            "out-of-service",
            "in-service",
            "abort",
            "help",
            "quit",
        ] {
            assert!(HELP.lines().any(|line| line.split(' ').next() == Some(word)), "{word}");
            assert!(!parse(word).is_err_and(|said| said.contains("is no order")), "{word}");
        }
    }
}
