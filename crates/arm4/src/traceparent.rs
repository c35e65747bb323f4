//! W3C trace context, level 1: the header `traceparent`.

use chronoscope_model::{ChainId, Correlator, TransactionId};

/// Characters of the header's first version.
pub(crate) const LENGTH: usize = 55;

/// The correlator of `version-trace-parent-flags`; later versions may say more behind. Chain and
/// parent of zeros are none (§3.2.2).
pub(crate) fn parse(text: &[u8]) -> Option<Correlator> {
    let text = std::str::from_utf8(text).ok()?;
    let mut parts = text.splitn(5, '-');
    let mut part = |length: usize| {
        let hex = |part: &&str| {
            part.len() == length && part.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
        };
        parts.next().filter(hex)
    };
    let (version, chain, parent, _flags) = (part(2)?, part(32)?, part(16)?, part(2)?);
    if version == "ff" || (version == "00" && text.len() != LENGTH) {
        return None;
    }
    let chain = ChainId(u128::from_str_radix(chain, 16).ok()?);
    let parent = TransactionId(u64::from_str_radix(parent, 16).ok()?);
    (!chain.is_none() && !parent.is_none()).then(|| Correlator::foreign(chain, parent))
}

/// The header for a correlator; `None` for one without a transaction.
pub(crate) fn format(correlator: &Correlator) -> Option<String> {
    let (chain, parent) = (correlator.chain(), correlator.parent());
    (!chain.is_none() && !parent.is_none()).then(|| format!("00-{chain}-{parent}-01"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn the_specifications_example_reads_back() {
        let correlator = parse(EXAMPLE.as_bytes()).unwrap();
        assert_eq!(correlator.chain().to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(correlator.parent().0, 0xb7ad_6b71_6920_3331);
        assert!(correlator.is_foreign());
        assert_eq!(format(&correlator).unwrap(), EXAMPLE);
        assert_eq!(format(&correlator).unwrap().len(), LENGTH);
        let later = EXAMPLE.replacen("00", "01", 1) + "-more";
        assert!(parse(later.as_bytes()).is_some());
    }

    #[test]
    fn what_is_none_is_refused() {
        for bad in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319-cb7ad6b7169203331-01",
        ] {
            assert!(parse(bad.as_bytes()).is_none(), "{bad}");
        }
    }
}
