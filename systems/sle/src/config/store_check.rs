//! Checks of the frame stores of return instances.

use super::about::About;
use super::document::Config;
use super::finding::Severity;
use super::instance::{DeliveryModeSetting, ReturnTable};
use crate::source::check_store;
use toml::Spanned;

impl Config {
    /// Checks the frame store that an instance writes, and the one that it delivers from.
    pub(super) fn check_stores(&self, about: &mut About<'_>, returns: &ReturnTable) {
        let stores = || {
            let all = self.instance.iter().map(Spanned::get_ref);
            all.filter_map(|other| other.returns.as_ref()?.store.as_ref())
        };
        let is_offline = returns.delivery == DeliveryModeSetting::Offline;
        if is_offline
            && let Some(path) = &returns.file
            // The provider makes the stores of its instances before it delivers from them.
            && (path.exists() || !stores().any(|store| store == path))
            && let Err(error) = check_store(path)
        {
            about.add(Severity::Wrong, format!("return.file: {error}"));
        }
        let Some(own) = &returns.store else { return };
        about.wrong_if(is_offline, || {
            "return.store: an offline instance delivers from a store and has none of its own; set file"
                .to_owned()
        });
        about.wrong_if(returns.concatenated > 1, || {
            "return.store: frames that are handed over as one cannot be delivered again one by one; \
             remove store or concatenated"
                .to_owned()
        });
        about.wrong_if(stores().filter(|store| *store == own).count() > 1, || {
            format!("return.store = {:?}: two instances write the same folder", own.display())
        });
        about.wrong_if(returns.store_octets < 1 << 20, || {
            format!("return.store_octets = {}: the minimum is 1048576", returns.store_octets)
        });
        about.wrong_if(returns.store_age_s == Some(0), || {
            "return.store_age_s = 0: no frame would be kept; remove it for any age".to_owned()
        });
    }
}
