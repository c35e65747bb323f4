//! Certificates of an authority of our own.

use rcgen::{
    BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose, date_time_ymd,
};
use std::path::{Path, PathBuf};

/// A server's certificate and key, and the authority that signed it; PEM files.
pub(crate) struct Certificates {
    pub(crate) authority: PathBuf,
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// Kind of a certificate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CertificateKind {
    Good,
    Expired,
    OtherName,
}

/// Makes the files in `dir`.
pub(crate) fn make(dir: &Path, kind: CertificateKind) -> Certificates {
    std::fs::create_dir_all(dir).unwrap();
    let put = |name: &str, text: &str| {
        let path = dir.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let authority_key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let authority = params.self_signed(&authority_key).unwrap();
    let issuer = Issuer::new(params, authority_key);
    let name = if kind == CertificateKind::OtherName { "elsewhere.example" } else { "localhost" };
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    if kind == CertificateKind::Expired {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
    }
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    Certificates {
        authority: put("authority.pem", &authority.pem()),
        certificate: put("certificate.pem", &certificate.pem()),
        key: put("key.pem", &key.serialize_pem()),
    }
}
