//! CCSDS cross support transfer services (CSTS): the framework's operations, their octets and their
//! associations, over the same transport as SLE.
//!
//! Sources: CCSDS 921.1-B-2 (framework: ASN.1 in annex F), 913.1 (ISP1).

pub mod association;
pub mod codec;
pub mod forward_frame;
pub mod pdu;
pub mod procedure;
