use super::*;

#[test]
fn the_next_free_port_is_used_and_with_none_the_error_says_so() {
    // The ports of other tests may lie between, so that fewer are taken here.
    let first = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = first.local_addr().unwrap();
    let mut taken = vec![first];
    let error = loop {
        match bind(address, |_| true) {
            Ok(bound) => {
                let port = bound.local_addr().unwrap().port();
                assert!(port > address.port() && port <= address.port() + MAX_FURTHER);
                taken.push(bound);
            }
            Err(error) => break error,
        }
        assert!(taken.len() <= usize::from(MAX_FURTHER) + 1);
    };
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    assert!(
        error.to_string().contains("the next 16 ports are in use"),
        "{error}"
    );
    drop(taken);
    assert_eq!(
        bind(address, |_| true).unwrap().local_addr().unwrap(),
        address
    );
}
