//! The secret of the URL.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A secret of 128 bits in hexadecimal digits.
#[derive(Clone, Debug)]
pub(crate) struct Token(String);

impl Token {
    /// std's hash maps get random keys from the system, so the hash of a constant is hard to guess.
    pub(crate) fn random() -> Self {
        let half = || RandomState::new().build_hasher().finish();
        Self(format!("{:016x}{:016x}", half(), half()))
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

#[cfg(test)]
mod tests;
