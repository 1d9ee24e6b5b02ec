//! The secret of the URL, and the file for the URL.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// The least length of a token that a program supplies.
const MIN_LENGTH: usize = 16;

/// A secret of letters, digits, `-` and `_`.
#[derive(Clone, Debug)]
pub(crate) struct Token(String);

impl Token {
    /// Makes a token of 128 bits from the system's random source.
    pub(crate) fn random() -> io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let mut text = String::new();
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Self(text))
    }

    /// Takes the token of a program.
    pub(crate) fn supplied(token: String) -> io::Result<Self> {
        let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if token.len() < MIN_LENGTH || !token.bytes().all(is_valid) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the token of the console has to have at least 16 letters, digits, `-` and `_`",
            ));
        }
        Ok(Self(token))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether `other` is the token, in a time that does not depend on how much of it is
    /// right.
    pub(crate) fn is(&self, other: &str) -> bool {
        let differences = self.0.bytes().zip(other.bytes());
        let differences = differences.fold(0, |all, (one, two)| all | (one ^ two));
        self.0.len() == other.len() && differences == 0
    }
}

/// Writes a URL to a file that only its owner may read. A file or a link of this name is replaced,
/// not written through: another user may have made it.
pub(crate) fn write_url(path: &Path, url: &str) -> io::Result<()> {
    let explain = |error: io::Error| {
        let text = format!(
            "cannot write the console's URL to {}: {error}",
            path.display()
        );
        io::Error::new(error.kind(), text)
    };
    let mut new = path.as_os_str().to_owned();
    new.push(format!(".{}.new", std::process::id()));
    let write = || {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&new)?;
        file.write_all(format!("{url}\n").as_bytes())?;
        fs::rename(&new, path)
    };
    // A program with the same process id may have left it.
    let _ = fs::remove_file(&new);
    write().map_err(|error| {
        let _ = fs::remove_file(&new);
        explain(error)
    })
}

#[cfg(test)]
mod tests;
