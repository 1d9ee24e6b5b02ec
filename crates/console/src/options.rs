//! The options of a live page.

use std::path::PathBuf;

/// Where a live page is served, and who may open it.
///
/// ```
/// use raddle_console::{Console, ConsoleOptions};
///
/// let mut options = ConsoleOptions::new("127.0.0.1:0");
/// options.token = Some("a-secret-of-the-program".to_owned());
/// let console = Console::with_options(options)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct ConsoleOptions {
    /// A loopback address and a port, such as `127.0.0.1:6670` or `[::1]:0`. With port 0 the system
    /// chooses a free port.
    pub address: String,
    /// The secret of the page's URL: at least 16 letters, digits, `-` and `_`. Default: 128 bits of
    /// the system's random source, new for each page.
    pub token: Option<String>,
    /// A file for the URL, which contains the token. It is replaced each time that a page is
    /// served, and on Unix only its owner may read it (mode 600). Default: no file.
    pub url_file: Option<PathBuf>,
}

impl ConsoleOptions {
    /// Returns the default options for a page on this address.
    pub fn new(address: impl Into<String>) -> Self {
        Self {
            address: address.into(),
            token: None,
            url_file: None,
        }
    }
}

/// The options for `127.0.0.1:6670`.
impl Default for ConsoleOptions {
    fn default() -> Self {
        Self::new("127.0.0.1:6670")
    }
}

/// Leaves out the token.
impl std::fmt::Debug for ConsoleOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConsoleOptions")
            .field("address", &self.address)
            .field("url_file", &self.url_file)
            .finish_non_exhaustive()
    }
}
