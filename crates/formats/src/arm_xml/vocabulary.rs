//! XML vocabulary of reader and writer: the namespace, and the attributes that are flags.

use chronoscope_model::Flags;

/// The namespace of the elements.
pub const NAMESPACE: &str = "urn:chronoscope:arm-xml:1";

/// Flags by the attributes that stand for them.
pub(super) const FLAGS: [(&str, Flags); 5] = [
    ("asynchronous", Flags::ASYNCHRONOUS),
    ("independent", Flags::INDEPENDENT),
    ("foreign", Flags::FOREIGN),
    ("ancestorsDropped", Flags::ANCESTORS_DROPPED),
    ("contextCut", Flags::CONTEXT_CUT),
];
