//! Return codes of calls: 0, or the reason why an argument was bad. The numbers are
//! `arm4_chronoscope.h`'s.

/// `arm_error_t`.
pub type Code = i32;

/// All went well.
pub const OK: Code = 0;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $message:literal;)*) => {
        $($(#[$doc])* pub const $name: Code = $number;)*

        /// Every code with its message.
        pub(crate) const ALL: &[(Code, &str)] = &[(OK, "no error"), $(($name, $message)),*];
    };
}

codes! {
    /// A name is missing.
    APP_NAME = -1001, "the application has no name";
    /// A name is missing.
    TRAN_NAME = -1004, "the transaction has no name";
    /// The handle's pointer is NULL.
    HANDLE_OUT = -1011, "no pointer for the handle";
    /// The correlator's pointer is NULL.
    CORRELATOR_OUT = -1012, "no pointer for the correlator";
    /// Unknown flags.
    FLAGS = -1013, "flags that the call does not know were ignored";
    /// Unknown status.
    STATUS = -1014, "not a status: taken as ARM_STATUS_UNKNOWN";
    /// No such application.
    APP_ID = -1016, "no application has this id";
    /// No such running application.
    APP_HANDLE = -1017, "no running application has this handle";
    /// No such transaction class.
    TRAN_ID = -1018, "no transaction class has this id";
    /// No such open transaction.
    TRAN_HANDLE = -1019, "no open transaction has this handle";
    /// No such open block.
    BLOCK_HANDLE = -1020, "the transaction has no open block of this handle";
    /// A table is full.
    FULL = -1032, "a table of the library is full";
    /// Unknown character set.
    CHARSET = -1035, "the character set is not supported";
    /// A pointer is NULL.
    NULL = -1042, "a pointer that is needed is NULL";
    /// Unknown flag of a correlator.
    FLAG_NUMBER = -1043, "no flag of a correlator has this number";
    /// Unknown or contradictory sub-buffer.
    SUBBUFFER = -1058, "a sub-buffer that is unknown, misplaced or malformed was ignored";
    /// A name is missing.
    METRIC_NAME = -1101, "the metric has no name";
    /// Unknown metric format.
    METRIC_FORMAT = -1102, "not a metric format";
    /// Unknown metric usage.
    METRIC_USAGE = -1103, "not a metric usage";
    /// Bad input id.
    INPUT_ID = -1104, "the id that was asked for cannot be had: another was made";
    /// Not a correlator.
    CORRELATOR = -1105, "not a correlator: taken as none";
    /// An impossible time.
    TIME = -1106, "a time that cannot be: an arrival was ignored, a report refused";
    /// A text that is too long.
    TEXT = -1107, "a text that is too long was cut";
    /// Not bound.
    NOT_BOUND = -1108, "the thread is not bound to the transaction";
    /// Another thread works on the transaction.
    BUSY = -1109, "another thread is at the same transaction";
    /// No current transaction.
    NO_CURRENT = -1110, "the thread works for no transaction";
    /// Not a W3C traceparent.
    TRACEPARENT = -1111, "not a W3C traceparent";
    /// Unknown control.
    CONTROL = -1112, "not something that can be controlled";
    /// Our mistake.
    INTERNAL = -1113, "a mistake of the library's own";
    /// Not one of these codes.
    CODE = -1114, "not a code of this library";
}

/// The message of a code; `None` for those that are not ours.
pub(crate) fn message(code: Code) -> Option<&'static str> {
    ALL.iter().find(|(known, _)| *known == code).map(|(_, message)| *message)
}

/// Code of the first bad argument of a call: later ones are not reported.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct First(Code);

impl First {
    /// Notes a code, unless it is [`OK`] or something was bad already.
    pub(crate) fn note(&mut self, code: Code) {
        if self.0 == OK {
            self.0 = code;
        }
    }

    /// Notes flags beyond those that are known.
    pub(crate) fn flags(&mut self, flags: i32, known: i32) {
        if flags & !known != 0 {
            self.note(FLAGS);
        }
    }

    /// Code to return.
    pub(crate) fn code(self) -> Code {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header is what programs see: its numbers are these, no more and no fewer.
    #[test]
    fn the_header_has_the_same_numbers() {
        let header = include_str!("../include/arm4_chronoscope.h");
        let defined = header.lines().filter_map(|line| {
            let (name, number) = line.strip_prefix("#define CHRONOSCOPE_ARM_")?.split_once(' ')?;
            let number = number.strip_prefix('(')?.strip_suffix(')')?;
            Some((name, number.parse().ok()?))
        });
        let mut defined: Vec<(&str, Code)> = defined.collect();
        defined.sort_by_key(|(_, number)| -number);
        let numbers: Vec<Code> = defined.iter().map(|(_, number)| *number).collect();
        let mut ours: Vec<Code> = ALL[1..].iter().map(|(number, _)| *number).collect();
        ours.sort_by_key(|number| -number);
        assert_eq!(numbers, ours);
        assert!(defined.contains(&("BUSY", BUSY)) && defined.contains(&("TEXT", TEXT)));
        // The binding keeps a range for itself.
        assert!(ours.iter().all(|number| *number > -20_000));
    }
}
