//! Writes messages of protocol buffers.

use crate::format::put_integer;

/// The content of a message.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

/// The wire types.
const VARINT: u64 = 0;
const FIXED_64: u64 = 1;
const LENGTH_DELIMITED: u64 = 2;

impl Message {
    fn key(&mut self, field: u64, wire_type: u64) {
        put_integer(&mut self.0, field << 3 | wire_type);
    }

    pub(super) fn integer(mut self, field: u64, value: u64) -> Self {
        self.key(field, VARINT);
        put_integer(&mut self.0, value);
        self
    }

    pub(super) fn fixed(mut self, field: u64, value: u64) -> Self {
        self.key(field, FIXED_64);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(super) fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    pub(super) fn message(self, field: u64, message: Message) -> Self {
        self.bytes(field, &message.0)
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.key(field, LENGTH_DELIMITED);
        put_integer(&mut self.0, bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}
