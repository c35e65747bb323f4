//! Commands of an operator to a running provider, one a line.

use crate::config::ProductionSetting;
use crate::pdu::{LockStatus, UplinkStatus};

/// Maximum length of a line, in octets.
pub const LINE_MAX: usize = 1024;

/// The answer to `help`.
pub const HELP: &str = "\
status                        print the bound users and the production status
interrupt [INSTANCE]          set the production status to interrupted
resume [INSTANCE]             set the production status to operational
halt [INSTANCE]               set the production status to halted
configure [INSTANCE]          set the production status to configured (FCLTU)
uplink nominal|no-bit-lock|no-rf|not-available [INSTANCE]
                              set the uplink status (FCLTU)
lose-sync [INSTANCE]          set the frame synchronisation to out of lock (RAF, RCF)
lock [INSTANCE]               set the frame synchronisation to in lock
out-of-service INSTANCE       refuse further BIND invocations
in-service INSTANCE           accept BIND invocations again
abort [INSTANCE]              abort associations (operational requirement)
help                          print this help
quit                          abort all associations and end the program
INSTANCE is a service instance identifier or the end of it, such as cltu1; default: all.";

/// A command of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorOrder {
    /// Print the status of all service instances.
    Status,
    /// Sets the production status of one instance, or of all.
    Production(ProductionSetting, Option<String>),
    /// Sets the uplink status.
    Uplink(UplinkStatus, Option<String>),
    /// Sets the lock status of frame synchronisation.
    FrameSync(LockStatus, Option<String>),
    /// Takes an instance out of service (`true`) or puts it back.
    OutOfService(bool, String),
    /// Aborts associations.
    Abort(Option<String>),
    /// Prints the commands.
    Help,
    /// Ends the provider.
    Quit,
}

impl OperatorOrder {
    /// The instance that it names.
    #[must_use]
    pub fn instance(&self) -> Option<&str> {
        match self {
            Self::Production(_, instance)
            | Self::Uplink(_, instance)
            | Self::FrameSync(_, instance)
            | Self::Abort(instance) => instance.as_deref(),
            Self::OutOfService(_, instance) => Some(instance),
            Self::Status | Self::Help | Self::Quit => None,
        }
    }
}

/// Parses a line.
///
/// # Errors
/// Description of the fault.
pub fn parse(line: &str) -> Result<OperatorOrder, String> {
    let mut words = line.split_ascii_whitespace();
    let first = words.next().unwrap_or("");
    let rest: Vec<&str> = words.collect();
    let at_most_one = |rest: &[&str]| match rest {
        [] => Ok(None),
        [instance] => Ok(Some((*instance).to_owned())),
        _ => Err(format!("{first} takes at most one INSTANCE")),
    };
    let one = |rest: &[&str]| match rest {
        [instance] => Ok((*instance).to_owned()),
        _ => Err(format!("{first} needs one INSTANCE")),
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
                    return Err(
                        "uplink needs nominal, no-bit-lock, no-rf or not-available".to_owned()
                    );
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
        "" => return Err("the line is empty: enter help for the commands".to_owned()),
        other => return Err(format!("{other:?} is not a command: enter help for the commands")),
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
