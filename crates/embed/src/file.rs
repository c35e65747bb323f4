//! A file of a built page.

/// One file of a page.
#[derive(Debug)]
pub struct File {
    /// Below the page's folder.
    pub path: &'static str,
    /// Tag of the content, for `ETag`, in quotation marks.
    pub tag: &'static str,
    /// Compressed content.
    pub gzip: &'static [u8],
}
