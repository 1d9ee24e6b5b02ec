use super::{MAX_HEAD, MAX_HEADERS, Refusal, Route, add_to_head, decode, is_loopback, parse};
use crate::table::{Filter, Order};
use crate::token::Token;

fn route(token: &Token, line: &str, headers: &str) -> Result<Route, Refusal> {
    let head = format!("{line} HTTP/1.1\r\n{headers}\r\n");
    let result = parse(head.as_bytes(), token).expect("a complete head");
    result.map(|request| request.route)
}

const HOST: &str = "Host: 127.0.0.1:6670\r\n";

#[test]
fn each_path_except_metrics_needs_the_token() {
    let token = Token::random().unwrap();
    let valid_query = format!("?token={}", token.as_str());
    for path in [
        "/",
        "/events",
        "/tasks",
        "/task",
        "/groups",
        "/resources",
        "/waits",
        "/stack",
        "/recording",
        "/nothing",
    ] {
        for query in ["", "?token=", "?token=0123456789abcdef0123456789abcdef"] {
            let result = route(&token, &format!("GET {path}{query}"), HOST);
            assert_eq!(result.err(), Some(Refusal::NoToken), "{path}{query}");
        }
    }
    assert!(matches!(
        route(&token, &format!("GET /{valid_query}"), HOST),
        Ok(Route::Page)
    ));
    assert!(matches!(
        route(&token, "GET /metrics", HOST),
        Ok(Route::Metrics)
    ));
    let nothing = route(&token, &format!("GET /nothing{valid_query}"), HOST);
    assert_eq!(nothing.err(), Some(Refusal::NotFound));
}

#[test]
fn methods_other_than_get_are_refused_after_the_token_is_checked() {
    let token = Token::random().unwrap();
    let valid_query = format!("?token={}", token.as_str());
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let without = route(&token, &format!("{method} /metrics"), HOST);
        assert_eq!(without.err(), Some(Refusal::NoToken));
        let with = route(&token, &format!("{method} /tasks{valid_query}"), HOST);
        assert_eq!(with.err(), Some(Refusal::Method));
    }
}

#[test]
fn a_host_that_is_not_this_machine_is_refused() {
    for host in [
        "127.0.0.1",
        "127.0.0.1:80",
        "localhost:6670",
        "LOCALHOST",
        "[::1]:6670",
        "[::1]",
    ] {
        assert!(is_loopback(host), "{host}");
    }
    for host in [
        "",
        "example.com",
        "localhost.example.com",
        "127.0.0.1.example.com:6670",
        "10.0.0.1",
        "0.0.0.0",
        "127.0.0.1:",
        "127.0.0.1:x",
        "127.0.0.1:+1",
        "127.0.0.1:80:80",
        "[::1",
        "[::1]x",
        "user@127.0.0.1",
    ] {
        assert!(!is_loopback(host), "{host}");
        let token = Token::random().unwrap();
        let line = format!("GET /?token={}", token.as_str());
        let result = route(&token, &line, &format!("Host: {host}\r\n"));
        assert!(result.is_err(), "{host}");
    }
}

#[test]
fn an_origin_other_than_the_page_is_refused() {
    let token = Token::random().unwrap();
    let line = format!("GET /events?token={}", token.as_str());
    let with_origin = |origin: &str| route(&token, &line, &format!("{HOST}Origin: {origin}\r\n"));
    assert!(with_origin("http://127.0.0.1:6670").is_ok());
    for origin in [
        "null",
        "http://example.com",
        "http://127.0.0.1:80",
        "https://127.0.0.1:6670",
    ] {
        assert_eq!(
            with_origin(origin).err(),
            Some(Refusal::Foreign),
            "{origin}"
        );
    }
}

#[test]
fn a_head_without_a_host_or_with_two_is_refused() {
    let token = Token::random().unwrap();
    let line = "GET /metrics";
    assert_eq!(route(&token, line, "").err(), Some(Refusal::Malformed));
    let two = format!("{HOST}{HOST}");
    assert_eq!(route(&token, line, &two).err(), Some(Refusal::Malformed));
}

#[test]
fn too_many_headers_and_malformed_requests_are_refused() {
    let token = Token::random().unwrap();
    let many = "a: b\r\n".repeat(MAX_HEADERS + 1);
    assert_eq!(
        route(&token, "GET /metrics", &many).err(),
        Some(Refusal::TooLarge)
    );
    let result = parse(b"\x16\x03\x01 no request\r\n\r\n", &token);
    assert_eq!(result.and_then(Result::err), Some(Refusal::Malformed));
    assert!(parse(b"GET / HTTP/1.1\r\nHost: ", &token).is_none());
}

#[test]
fn the_parameters_of_a_query_are_read() {
    let token = Token::random().unwrap();
    let query = "filter=slow&text=My%20Task+%zz&sort=-busy&offset=5&limit=7&unknown=1";
    let line = format!("GET /tasks?token={}&{query}", token.as_str());
    let Ok(Route::Tasks(query)) = route(&token, &line, HOST) else {
        panic!("the request is not routed to the tasks");
    };
    assert_eq!((query.filter, query.order), (Filter::Slow, Order::Busy));
    assert!(query.is_descending);
    assert_eq!(query.text, "my task %zz");
    assert_eq!((query.offset, query.limit), (5, 7));
    assert_eq!(decode("%"), "%");
    assert_eq!(decode("%4"), "%4");
}

#[test]
fn a_head_may_arrive_in_any_parts() {
    let token = Token::random().unwrap();
    let head = format!("GET /metrics HTTP/1.1\r\n{HOST}\r\n");
    for size in 1..=head.len() {
        let mut parts = Vec::new();
        let results = head.as_bytes().chunks(size).map(|part| {
            add_to_head(&mut parts, part, &token).map(|result| result.map(|request| request.route))
        });
        let results: Vec<_> = results.collect();
        let (last, before) = results.split_last().unwrap();
        assert!(matches!(last, Some(Ok(Route::Metrics))), "parts of {size}");
        assert!(before.iter().all(Option::is_none), "parts of {size}");
    }
    let mut endless = Vec::new();
    let parts = std::iter::repeat_with(|| add_to_head(&mut endless, b"x: y\r", &token));
    let first = parts.take(MAX_HEAD).find_map(|result| result);
    assert!(matches!(
        first,
        Some(Err(Refusal::TooLarge | Refusal::Malformed))
    ));
}

#[test]
fn a_request_for_one_task_needs_its_number() {
    let token = Token::random().unwrap();
    let of = |target: &str| {
        let line = format!("GET {target}&token={}", token.as_str());
        route(&token, &line, HOST)
    };
    assert!(matches!(of("/task?id=17"), Ok(Route::Task(17))));
    assert!(matches!(of("/stack?id=17"), Ok(Route::Stack(17))));
    for target in [
        "/task?",
        "/task?id=",
        "/stack?id=-1",
        "/stack?id=99999999999999999999",
    ] {
        assert_eq!(of(target).err(), Some(Refusal::NotFound), "{target}");
    }
}
