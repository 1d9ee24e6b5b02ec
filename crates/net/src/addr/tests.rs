use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::{ToSocketAddrs, resolve};

/// Resolves an address that needs no thread: the result is ready at the first poll.
fn at_once(host: impl ToSocketAddrs) -> Result<Vec<SocketAddr>, ErrorKind> {
    let lookup = pin!(resolve(host));
    match lookup.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(addrs)) => Ok(addrs.collect()),
        Poll::Ready(Err(error)) => Err(error.kind()),
        Poll::Pending => panic!("the look-up used a thread"),
    }
}

#[test]
fn an_ip_address_is_resolved_without_a_thread() {
    let addr: SocketAddr = "127.0.0.1:80".parse().unwrap();
    let six: SocketAddr = "[::1]:80".parse().unwrap();
    let one = Ok(vec![addr]);
    assert_eq!(at_once(addr), one);
    assert_eq!(at_once((Ipv4Addr::LOCALHOST, 80)), one);
    assert_eq!(at_once("127.0.0.1:80"), one);
    assert_eq!(at_once("127.0.0.1:80".to_owned()), one);
    assert_eq!(at_once(("127.0.0.1", 80)), one);
    assert_eq!(at_once(("127.0.0.1".to_owned(), 80)), one);
    assert_eq!(at_once("[::1]:80"), Ok(vec![six]));
    assert_eq!(at_once(("::1", 80)), Ok(vec![six]));
    assert_eq!(at_once(&[addr, six][..]), Ok(vec![addr, six]));
    assert_eq!(at_once(&[][..]), Ok(vec![]));
}

#[test]
fn an_invalid_address_is_refused_at_once() {
    for text in ["", "host", "host:", "host:http", "host:65536"] {
        assert_eq!(at_once(text), Err(ErrorKind::InvalidInput), "{text}");
    }
}
