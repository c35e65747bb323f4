//! Reasons why a packet was dropped.

/// Declares [`DropReason`] with what aprsc's `status.json` calls each.
macro_rules! drop_reasons {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// Reason why a packet was dropped. The first 37 are those of aprsc, in its order;
        /// dashboards find each by the name that `status.json` lists, so ours come after them.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
            thiserror::Error,
        )]
        pub enum DropReason {
            $($(#[doc = $doc])+ #[error("{}", self.name())] $variant,)+
        }

        impl DropReason {
            /// All, in the order of their indices.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Number of reasons.
            pub const COUNT: usize = Self::ALL.len();

            /// Name of the reason in `rx_errs` of `status.json`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Meaning of the reason, in one line for people.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($doc,)+).trim_start(),)+
                }
            }
        }
    };
}

drop_reasons! {
    /// None of the others.
    Unknown = "unknown",
    /// There is no colon, so no payload.
    NoColon = "no_colon",
    /// There is no `>` after the first one to nine octets.
    NoDestination = "no_dst",
    /// There is nothing between `>` and the colon.
    NoPath = "no_path",
    /// The source callsign is too long, or has octets that no callsign has.
    InvalidSource = "inv_srccall",
    /// There is nothing after the colon.
    NoPayload = "no_body",
    /// The destination callsign is too long, or has octets that no callsign has.
    InvalidDestination = "inv_dstcall",
    /// The client did not show that it may send: its passcode is missing or wrong.
    Unverified = "disallow_unverified",
    /// `TCPXX` in the path says that the sender was not verified elsewhere.
    UnverifiedPath = "disallow_unverified_path",
    /// `NOGATE` or `RFONLY` in the path: its sender wants it to stay on the air.
    NoGate = "path_nogate",
    /// A third-party packet that came from the Internet before it was on the air.
    ThirdPartyInternet = "party_3rd_ip",
    /// A third-party packet whose own header is not `SOURCE>DESTINATION,NETWORK,GATE`.
    InvalidThirdParty = "party_3rd_inv",
    /// A query to everybody, which would be answered by everybody.
    GeneralQuery = "general_query",
    /// The server had no room for it.
    OutOfMemory = "aprsc_oom_pbuf",
    /// The server does not know what kind of connection it came from.
    UnknownConnection = "aprsc_class_fail",
    /// The server made no q construct.
    NoQConstruct = "aprsc_q_bug",
    /// The rules of the q construct say so.
    QDrop = "q_drop",
    /// Shorter than the shortest packet, `A1A>B1B:`.
    TooShort = "short_packet",
    /// Longer than 512 octets with its line end, as it came or with its new q construct.
    TooLong = "long_packet",
    /// A callsign in the path is empty, too long, or has octets that no callsign has.
    InvalidPathCall = "inv_path_call",
    /// `qAX`: another server took it from a client that was not verified.
    QNotVerified = "q_qax",
    /// `qAZ`: meant for one server only.
    QServerOnly = "q_qaz",
    /// It went through this server before: its callsign is after the q construct.
    QOwnCall = "q_path_mycall",
    /// A loop: the same callsign is twice after the q construct.
    QCallTwice = "q_path_call_twice",
    /// The client's login is after the q construct but not last.
    QLoginNotLast = "q_path_login_not_last",
    /// A callsign after the q construct is logged in here by another connection.
    QCallIsLocal = "q_path_call_is_local",
    /// A callsign after the q construct has octets that no callsign has.
    QInvalidCall = "q_path_call_inv",
    /// `qAU` with the source's own callsign after it.
    QUdpIsSource = "q_qau_path_call_srccall",
    /// The new q construct has no room.
    QNoRoom = "q_newq_buffer_small",
    /// Several callsigns after the q construct of a client that is not verified.
    QManyUnverified = "q_nonval_multi_q_calls",
    /// The path ends in `,I` without a callsign before it.
    QNoVia = "q_i_no_viacall",
    /// The q construct's protocol letter is not allowed here.
    QProtocol = "q_disallow_protocol",
    /// Nothing is in the line.
    Empty = "inerr_empty",
    /// The source callsign may not send: `N0CALL` and the like, or by the configuration.
    DisallowedSource = "disallow_srccall",
    /// A spot of a DX cluster.
    DxSpot = "disallow_dx",
    /// A message to a recipient that is no station: `javaMSG`, `USERLIST` and the like.
    DisallowedRecipient = "disallow_msg_dst",
    /// A callsign after the q construct, or the q construct itself, is disallowed by the
    /// configuration.
    DisallowedIgate = "disallow_igate",
    /// Its source is logged in here by another connection, which alone may send for it.
    SourceIsLocal = "srccall_is_local",
}

impl DropReason {
    /// Index in [`DropReason::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The one with this name in `status.json`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::DropReason;

    #[test]
    fn index_name_and_all_agree() {
        for (index, reason) in DropReason::ALL.iter().enumerate() {
            assert_eq!(reason.index(), index);
            assert_eq!(DropReason::from_name(reason.name()), Some(*reason), "names are unique");
            assert!(reason.meaning().ends_with('.'), "{reason:?}");
        }
        assert_eq!(DropReason::from_name("no such reason"), None);
    }

    /// Where aprsc's web page and Munin plugin look.
    #[test]
    fn aprsc_has_its_places() {
        for (index, name) in [
            (0, "unknown"),
            (9, "path_nogate"),
            (18, "long_packet"),
            (30, "q_i_no_viacall"),
            (31, "q_disallow_protocol"),
            (35, "disallow_msg_dst"),
            (36, "disallow_igate"),
        ] {
            assert_eq!(DropReason::ALL[index].name(), name);
        }
    }
}
