//! The numbers of the file format, `FORMAT.md`.

/// The first bytes of a file.
pub(crate) const MAGIC: [u8; 8] = *b"RADDLEFR";
/// Changes when an older reader would misread a file.
pub(crate) const MAJOR_VERSION: u16 = 2;
/// Changes when a chunk or an event is added, which older readers ignore.
pub(crate) const MINOR_VERSION: u16 = 0;
/// The length of a checksum, in bytes.
pub(crate) const CHECKSUM: usize = 4;
/// The length of a file header without its checksum, in bytes.
pub(crate) const HEADER: usize = 12;
/// The length of a chunk header without its checksum, in bytes: the tag of the chunk and the length
/// of its content.
pub(crate) const CHUNK_HEADER: usize = 5;
/// The maximum number of records in a chunk, whose length must fit into 32 bits.
pub(crate) const MAX_CHUNK_RECORDS: usize = 1 << 20;

/// The tags of the chunks.
pub(crate) mod tag {
    pub(crate) const ORIGIN: u8 = 1;
    pub(crate) const STRING: u8 = 2;
    pub(crate) const THREAD: u8 = 3;
    pub(crate) const RECORDS: u8 = 4;
    pub(crate) const PROCESS: u8 = 5;
    pub(crate) const TASK: u8 = 6;
    pub(crate) const RARE: u8 = 7;
}

/// Returns the checksum of the content of a chunk.
pub(crate) fn content_checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    crc32fast::hash(bytes).to_le_bytes()
}

/// Returns the checksum of a header. It differs from that of a content, so that no content looks
/// like a header.
pub(crate) fn header_checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    (!crc32fast::hash(bytes)).to_le_bytes()
}

/// Removes bytes from the front that are followed by their checksum. Returns `None` if there are
/// too few, or if the checksum is that of other bytes.
pub(crate) fn take_checked<'a>(
    bytes: &mut &'a [u8],
    length: usize,
    checksum: impl Fn(&[u8]) -> [u8; CHECKSUM],
) -> Option<&'a [u8]> {
    let (content, rest) = bytes.split_at_checked(length)?;
    let (sum, rest) = rest.split_at_checked(CHECKSUM)?;
    if checksum(content) != sum {
        return None;
    }
    *bytes = rest;
    Some(content)
}

/// Appends an integer in LEB128.
pub(crate) fn put_integer(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends the difference of two values, in few bytes if it is small and of either sign.
pub(crate) fn put_difference(out: &mut Vec<u8>, value: u64, from: u64) {
    let difference = value.wrapping_sub(from) as i64;
    put_integer(out, (difference << 1 ^ difference >> 63) as u64);
}

/// Removes an integer from the front. Returns `None` if there is none, or if it has more than 64
/// bits.
pub(crate) fn take_integer(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Removes a value that [`put_difference`] has written from the front.
pub(crate) fn take_difference(bytes: &mut &[u8], from: u64) -> Option<u64> {
    let difference = take_integer(bytes)?;
    let signed = (difference >> 1) as i64 ^ -((difference & 1) as i64);
    Some(from.wrapping_add(signed as u64))
}
