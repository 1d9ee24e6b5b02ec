//! The buffer that a reader fills.
//!
//! With its submodule, the only file of the crate with unsafe code: a byte of the buffer may be
//! read only once it is known to be initialised.

use std::fmt;
use std::mem::MaybeUninit;
use std::{ptr, slice};

#[cfg(feature = "util")]
mod filling;
#[cfg(feature = "util")]
pub(crate) use filling::{Appender, VecMut, poll_read_into};

/// A borrowed buffer of bytes that is filled from its start. The part that is not filled may be
/// uninitialised.
///
/// ```text
/// [               capacity              ]
/// [ filled |          unfilled          ]
/// [    initialized    |  uninitialized  ]
/// ```
///
/// A reader puts bytes after the filled ones, so that a buffer need not be zeroed before it is read
/// into. The buffer remembers which bytes are initialised, and never zeroes them a second time.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::ReadBuf;
/// use std::mem::MaybeUninit;
///
/// # fn main() {
/// let mut storage = [MaybeUninit::uninit(); 8];
/// let mut buf = ReadBuf::uninit(&mut storage);
/// buf.put_slice(b"raddle");
/// assert_eq!(buf.filled(), b"raddle");
/// assert_eq!(buf.remaining(), 2);
/// # }
/// ```
pub struct ReadBuf<'a> {
    // Invariant: filled <= initialized <= buf.len(), and the first `initialized` bytes of `buf` are
    // initialised.
    buf: &'a mut [MaybeUninit<u8>],
    filled: usize,
    initialized: usize,
}

impl<'a> ReadBuf<'a> {
    /// Makes an empty buffer over bytes that are all initialised.
    #[inline]
    pub fn new(buf: &'a mut [u8]) -> ReadBuf<'a> {
        let initialized = buf.len();
        let start: *mut MaybeUninit<u8> = buf.as_mut_ptr().cast();
        // SAFETY: the address, length and lifetime are the same, and `MaybeUninit<u8>` has the
        // layout of `u8`. No code can make initialised bytes uninitialised: this type writes only
        // initialised ones, and the contracts of the unsafe accessors forbid it.
        let buf = unsafe { slice::from_raw_parts_mut(start, initialized) };
        ReadBuf {
            buf,
            filled: 0,
            initialized,
        }
    }

    /// Makes an empty buffer over bytes of which none is known to be initialised.
    #[inline]
    pub fn uninit(buf: &'a mut [MaybeUninit<u8>]) -> ReadBuf<'a> {
        ReadBuf {
            buf,
            filled: 0,
            initialized: 0,
        }
    }

    /// Returns the capacity of the whole buffer, in bytes.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.buf.len()
    }

    /// Returns the number of unfilled bytes.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.buf.len() - self.filled
    }

    /// Returns the filled bytes.
    #[inline]
    pub fn filled(&self) -> &[u8] {
        &self.initialized()[..self.filled]
    }

    /// Returns the filled bytes, mutably.
    #[inline]
    pub fn filled_mut(&mut self) -> &mut [u8] {
        let filled = self.filled;
        &mut self.initialized_mut()[..filled]
    }

    /// Returns the initialised bytes, which begin with the filled ones.
    #[inline]
    pub fn initialized(&self) -> &[u8] {
        let bytes = &self.buf[..self.initialized];
        // SAFETY: the invariant says that these bytes are initialised, and an initialised
        // `MaybeUninit<u8>` has the layout of its `u8`.
        unsafe { &*(ptr::from_ref(bytes) as *const [u8]) }
    }

    /// Returns the initialised bytes, mutably.
    #[inline]
    pub fn initialized_mut(&mut self) -> &mut [u8] {
        let bytes = &mut self.buf[..self.initialized];
        // SAFETY: the invariant says that these bytes are initialised, an initialised
        // `MaybeUninit<u8>` has the layout of its `u8`, and every `u8` is initialised.
        unsafe { &mut *(ptr::from_mut(bytes) as *mut [u8]) }
    }

    /// Returns the whole buffer.
    ///
    /// # Safety
    ///
    /// The caller must not make an initialised byte uninitialised.
    #[inline]
    pub unsafe fn inner_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        self.buf
    }

    /// Returns the unfilled bytes, without initialising them.
    ///
    /// # Safety
    ///
    /// The caller must not make an initialised byte uninitialised.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::ReadBuf;
    /// use std::mem::MaybeUninit;
    ///
    /// # fn main() {
    /// let mut bytes = [MaybeUninit::uninit(); 8];
    /// let mut buffer = ReadBuf::uninit(&mut bytes);
    /// // SAFETY: nothing that is initialised is made uninitialised, and the first byte is written
    /// // before it is declared initialised.
    /// unsafe {
    ///     buffer.unfilled_mut()[0].write(b'x');
    ///     buffer.assume_init(1);
    /// }
    /// buffer.advance(1);
    /// assert_eq!(buffer.filled(), b"x");
    /// # }
    /// ```
    #[inline]
    pub unsafe fn unfilled_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        &mut self.buf[self.filled..]
    }

    /// Returns the unfilled bytes, and zeroes those that are not initialised.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::ReadBuf;
    /// use std::io::Read;
    /// use std::mem::MaybeUninit;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut bytes = [MaybeUninit::uninit(); 8];
    /// let mut buffer = ReadBuf::uninit(&mut bytes);
    /// // For a source that needs initialised bytes.
    /// let read = (&b"text"[..]).read(buffer.initialize_unfilled())?;
    /// buffer.advance(read);
    /// assert_eq!(buffer.filled(), b"text");
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn initialize_unfilled(&mut self) -> &mut [u8] {
        self.initialize_unfilled_to(self.remaining())
    }

    /// Returns the first `n` unfilled bytes, and zeroes those that are not initialised.
    ///
    /// # Panics
    ///
    /// Panics if fewer than `n` bytes are unfilled.
    #[inline]
    #[track_caller]
    pub fn initialize_unfilled_to(&mut self, n: usize) -> &mut [u8] {
        assert!(n <= self.remaining(), "n is larger than remaining()");
        let end = self.filled + n;
        if self.initialized < end {
            self.buf[self.initialized..end].fill(MaybeUninit::new(0));
            self.initialized = end;
        }
        let filled = self.filled;
        &mut self.initialized_mut()[filled..end]
    }

    /// Returns a buffer over the first `n` unfilled bytes, or over all of them if there are fewer.
    ///
    /// Bytes that are filled in the new buffer do not count as filled in this one; for that, call
    /// [`assume_init`](Self::assume_init) and [`advance`](Self::advance).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::ReadBuf;
    ///
    /// # fn main() {
    /// let mut bytes = [0; 8];
    /// let mut buffer = ReadBuf::new(&mut bytes);
    /// let mut part = buffer.take(2);
    /// part.put_slice(b"te");
    /// assert_eq!(part.remaining(), 0);
    /// // These bytes are initialised already.
    /// buffer.advance(2);
    /// assert_eq!(buffer.filled(), b"te");
    /// # }
    /// ```
    #[inline]
    pub fn take(&mut self, n: usize) -> ReadBuf<'_> {
        let end = self.filled + n.min(self.remaining());
        ReadBuf {
            initialized: self.initialized.min(end) - self.filled,
            filled: 0,
            buf: &mut self.buf[self.filled..end],
        }
    }

    /// Empties the buffer; initialised bytes stay initialised.
    #[inline]
    pub fn clear(&mut self) {
        self.filled = 0;
    }

    /// Advances the filled part by `n` bytes.
    ///
    /// # Panics
    ///
    /// Panics if they are not all initialised.
    #[inline]
    #[track_caller]
    pub fn advance(&mut self, n: usize) {
        let filled = self
            .filled
            .checked_add(n)
            .expect("n is too large; only initialised bytes can be filled");
        self.set_filled(filled);
    }

    /// Sets the filled part to the first `n` bytes.
    ///
    /// # Panics
    ///
    /// Panics if they are not all initialised.
    #[inline]
    #[track_caller]
    pub fn set_filled(&mut self, n: usize) {
        assert!(
            n <= self.initialized,
            "only initialised bytes can be filled; write them first"
        );
        self.filled = n;
    }

    /// Asserts that the first `n` unfilled bytes are initialised.
    ///
    /// # Safety
    ///
    /// The first `n` unfilled bytes exist and are initialised.
    #[inline]
    pub unsafe fn assume_init(&mut self, n: usize) {
        debug_assert!(n <= self.remaining());
        self.initialized = self.initialized.max(self.filled + n);
    }

    /// Appends `bytes` to the filled ones.
    ///
    /// # Panics
    ///
    /// Panics if there are more bytes than [`remaining`](Self::remaining).
    #[inline]
    #[track_caller]
    pub fn put_slice(&mut self, bytes: &[u8]) {
        if bytes.len() > self.remaining() {
            too_long(bytes.len(), self.remaining());
        }
        let end = self.filled + bytes.len();
        // SAFETY: `MaybeUninit<u8>` has the layout of `u8`, and each `u8` is a valid value of it.
        let source = unsafe { &*(ptr::from_ref(bytes) as *const [MaybeUninit<u8>]) };
        self.buf[self.filled..end].copy_from_slice(source);
        self.initialized = self.initialized.max(end);
        self.filled = end;
    }
}

#[cold]
#[track_caller]
fn too_long(len: usize, remaining: usize) -> ! {
    panic!("bytes.len() is larger than remaining(): {len} > {remaining}");
}

impl fmt::Debug for ReadBuf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadBuf")
            .field("filled", &self.filled)
            .field("initialized", &self.initialized)
            .field("capacity", &self.capacity())
            .finish()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
