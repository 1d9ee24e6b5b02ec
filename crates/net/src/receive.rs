//! Reading into memory that is not initialised: the one file of the crate with
//! unsafe code.

use std::io;

use raddle_io::ReadBuf;
use socket2::SockRef;

/// A socket that bytes are received from.
pub(crate) trait Receive {
    /// Fills more of `buf` in one system call and says how much; zero is the
    /// end of the stream.
    fn receive(&self, buf: &mut ReadBuf<'_>) -> io::Result<usize>;
}

impl Receive for mio::net::TcpStream {
    fn receive(&self, buf: &mut ReadBuf<'_>) -> io::Result<usize> {
        let received = {
            // SAFETY: the slice is only received into, and receiving writes
            // initialised bytes.
            let unfilled = unsafe { buf.unfilled_mut() };
            self.try_io(|| SockRef::from(self).recv(unfilled))?
        };
        // SAFETY: socket2 promises that so many bytes, the first of the slice,
        // are initialised after it has returned them as received.
        unsafe { buf.assume_init(received) };
        buf.advance(received);
        Ok(received)
    }
}
