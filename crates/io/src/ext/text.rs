//! Turning what was read into text, for `read_to_string` and `read_line`.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::string::FromUtf8Error;

use crate::read_buf::Appender;

/// A string to which bytes are appended before it is known whether they are UTF-8.
#[derive(Debug)]
pub(super) struct Text<'a> {
    target: &'a mut String,
    /// The content of `target`, then what was read.
    bytes: Appender<Vec<u8>>,
    /// Bytes read by now.
    read: usize,
}

impl<'a> Text<'a> {
    /// Takes the content of `target`, which is empty until [`finish`](Self::finish).
    pub(super) fn new(target: &'a mut String) -> Self {
        let bytes = Appender::new(std::mem::take(target).into_bytes());
        let read = 0;
        Self {
            target,
            bytes,
            read,
        }
    }

    /// The buffers to append to, and the count of the appended bytes.
    pub(super) fn parts(&mut self) -> (&mut Appender<Vec<u8>>, &mut usize) {
        (&mut self.bytes, &mut self.read)
    }

    /// Returns the content to its owner, with what was read if that is UTF-8.
    pub(super) fn finish(&mut self, result: io::Result<usize>) -> io::Result<usize> {
        let read = self.read;
        match String::from_utf8(std::mem::take(self.bytes.vec_mut())) {
            Ok(text) => {
                *self.target = text;
                result
            }
            Err(error) => {
                let reason = error.utf8_error();
                *self.target = without_last(error, read);
                result.and_then(|_| Err(not_utf8(reason)))
            }
        }
    }

    /// Returns the content to its owner, with what was read if the read completed and is UTF-8.
    pub(super) fn finish_whole(&mut self, result: io::Result<usize>) -> io::Result<usize> {
        if result.is_err() {
            let bytes = self.bytes.vec_mut();
            bytes.truncate(bytes.len() - self.read);
            self.read = 0;
        }
        self.finish(result)
    }
}

/// The content before the last `read` bytes, which is known to be UTF-8.
fn without_last(error: FromUtf8Error, read: usize) -> String {
    let mut bytes = error.into_bytes();
    bytes.truncate(bytes.len() - read);
    String::from_utf8(bytes).expect("a string's former content is UTF-8")
}

/// The error of bytes that are not UTF-8, for this reason.
pub(super) fn not_utf8<E>(reason: E) -> io::Error
where
    E: Error + Send + Sync + 'static,
{
    io::Error::new(ErrorKind::InvalidData, reason)
}
