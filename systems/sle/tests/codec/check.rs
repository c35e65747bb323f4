//! What must hold of any octets that a peer sends.

use bytes::Bytes;
use chronoscope_sle::codec::{Codec, EncodeError, decode_bind};
use chronoscope_sle::pdu::{AssociationRole, Pdu, ServiceType};

/// The first octet says service, version and sender, the others are an operation or not. What is
/// understood can be said again, not longer than it was, and then means the same. Tells whether it
/// was understood.
pub(crate) fn check(input: &[u8]) -> bool {
    let [how, octets @ ..] = input else { return false };
    let how = usize::from(*how);
    let service =
        [ServiceType::Fcltu, ServiceType::Raf, ServiceType::Rcf, ServiceType::Rocf][how % 4];
    let version = u16::try_from(1 + how / 4 % 5).unwrap_or(5);
    let sender = [AssociationRole::User, AssociationRole::Provider][how / 20 % 2];
    let codec = Codec { service, version };
    let octets = Bytes::copy_from_slice(octets);

    let bind = decode_bind(&octets);
    let Ok(message) = codec.decode(sender, &octets) else { return false };
    if let Pdu::Bind(said) = &message.pdu {
        assert_eq!(bind, Ok((message.credentials.clone(), said.clone())));
    }
    let mut again = Vec::new();
    match codec.encode(&message, &mut again) {
        Ok(()) => {
            assert!(again.len() <= octets.len(), "{message:?}: {again:02x?} of {octets:02x?}");
            assert_eq!(codec.decode(sender, &again.into()), Ok(message));
        }
        // Parameters that some implementation has in a version whose book does not.
        Err(EncodeError::NotInVersion { .. }) => assert!(again.is_empty()),
        Err(error) => panic!("{message:?} was read, but {error}"),
    }
    true
}
