//! Paths of maximum length, which fill the address of a Unix socket without a terminating zero.

use std::future::poll_fn;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use raddle_io::ReadBuf;
use raddle_net::{UnixDatagram, UnixListener, UnixStream};

use crate::common::run;

/// Maximum length of a path in an address.
const FULL: usize = 108;

fn full_path(directory: &Path, name: char) -> PathBuf {
    let mut path = directory.to_str().unwrap().to_owned();
    path.push('/');
    path.extend(std::iter::repeat_n(name, FULL - path.len()));
    assert_eq!(path.len(), FULL);
    path.into()
}

/// Binds a socket to a path that the functions of std and socket2 refuse.
fn bind(socket: &impl std::os::fd::AsRawFd, path: &Path) {
    // SAFETY: an address is integers, for which zero is a value.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (to, &from) in address.sun_path.iter_mut().zip(path.as_os_str().as_bytes()) {
        *to = from as libc::c_char;
    }
    let length = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: the address outlives the call and has the length that is said.
    let bound = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) };
    assert_eq!(bound, 0, "{}", std::io::Error::last_os_error());
}

#[test]
fn datagrams_from_a_path_of_maximum_length_are_received() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path().join("here");
        let near = UnixDatagram::bind(&here).unwrap();
        let path = full_path(directory.path(), 'f');
        let far = UnixDatagram::unbound().unwrap();
        bind(&far, &path);
        for _ in 0..5 {
            far.send_to(b"abc", &here).await.unwrap();
        }

        let mut buffer = [0; 8];
        let (length, from) = near.recv_from(&mut buffer).await.unwrap();
        assert_eq!((length, from.as_pathname()), (3, Some(&*path)));
        let (length, from) = near.try_recv_from(&mut buffer).unwrap();
        assert_eq!((length, from.as_pathname()), (3, Some(&*path)));
        let mut received = Vec::with_capacity(8);
        let (length, from) = near.recv_buf_from(&mut received).await.unwrap();
        assert_eq!((length, from.as_pathname()), (3, Some(&*path)));
        let (length, from) = near.try_recv_buf_from(&mut received).unwrap();
        assert_eq!((length, from.as_pathname()), (3, Some(&*path)));
        assert_eq!(received, b"abcabc");
        let mut memory = [MaybeUninit::uninit(); 8];
        let mut buffer = ReadBuf::uninit(&mut memory);
        let from = poll_fn(|cx| near.poll_recv_from(cx, &mut buffer)).await;
        assert_eq!(from.unwrap().as_pathname(), Some(&*path));
        assert_eq!(buffer.filled(), b"abc");

        assert_eq!(far.local_addr().unwrap().as_pathname(), Some(&*path));
    });
}

#[test]
fn streams_from_a_path_of_maximum_length_are_accepted() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path().join("here");
        let listener = UnixListener::bind(&here).unwrap();
        let path = full_path(directory.path(), 's');
        let client = socket2::Socket::new(socket2::Domain::UNIX, socket2::Type::STREAM, None);
        let client = client.unwrap();
        bind(&client, &path);
        client
            .connect(&socket2::SockAddr::unix(&here).unwrap())
            .unwrap();
        let (stream, from) = listener.accept().await.unwrap();
        assert_eq!(from.as_pathname(), Some(&*path));
        assert_eq!(stream.peer_addr().unwrap().as_pathname(), Some(&*path));
        client.set_nonblocking(true).unwrap();
        let client = UnixStream::from_std(client.into()).unwrap();
        assert_eq!(client.local_addr().unwrap().as_pathname(), Some(&*path));
    });
}
