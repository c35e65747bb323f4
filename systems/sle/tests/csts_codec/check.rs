//! What must hold of any octets that a peer sends.

use bytes::Bytes;
use chronoscope_sle::csts::codec::{decode, decode_bind, decode_declared, encode, encode_declared};
use chronoscope_sle::csts::pdu::{AssociationRole, Pdu};

/// The first octet says who sends, the others are an operation or not. What is understood can be
/// said again, not longer than it was, and then means the same; the fast path and the declarations
/// agree. Tells whether it was understood.
pub(crate) fn check(input: &[u8]) -> bool {
    let [how, octets @ ..] = input else { return false };
    let sender = [AssociationRole::User, AssociationRole::Provider][usize::from(how & 1)];
    let octets = Bytes::copy_from_slice(octets);
    let bind = decode_bind(&octets);
    let read = decode(sender, &octets);
    assert_eq!(read, decode_declared(sender, &octets), "{octets:02x?}");
    let Ok(message) = read else { return false };
    if let Pdu::Bind(said) = &message.pdu {
        assert_eq!(bind, Ok((message.credentials.clone(), said.clone())));
    }
    let (mut again, mut declared) = (Vec::new(), Vec::new());
    if let Err(error) = encode(&message, &mut again) {
        panic!("{message:?} was read, but {error}");
    }
    assert_eq!(encode_declared(&message, &mut declared), Ok(()));
    assert_eq!(again, declared, "{message:?}");
    assert!(again.len() <= octets.len(), "{message:?}: {again:02x?} of {octets:02x?}");
    assert_eq!(decode(sender, &again.into()), Ok(message));
    true
}
