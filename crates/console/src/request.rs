//! Reads requests, and refuses those that are not allowed.

use crate::table::{Filter, Order, Query};
use crate::token::Token;

/// The greatest size of a request's head, in bytes, and the greatest number of its headers.
const MAX_HEAD: usize = 16 * 1024;
const MAX_HEADERS: usize = 64;

/// A request that has passed all checks.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) route: Route,
}

/// The resource that a request asks for.
#[derive(Clone, Debug)]
pub(crate) enum Route {
    Page,
    Events,
    Tasks(Query),
    /// The page of one task.
    Task(u64),
    Groups,
    Resources,
    Waits,
    /// The stack of the thread that polls a task.
    Stack(u64),
    Recording,
    Metrics,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The request is not HTTP.
    Malformed,
    /// The head has too many headers, or is too long.
    TooLarge,
    /// The head was not complete in time.
    TooSlow,
    /// The host or the origin is not a loopback address: the request comes from another site, or
    /// uses a name that was made to resolve to this machine.
    Foreign,
    NoToken,
    Method,
    NotFound,
}

impl Refusal {
    /// Returns the status and the text of the response.
    pub(crate) fn status(self) -> (&'static str, &'static str) {
        match self {
            Self::Malformed => ("400 Bad Request", "not a request"),
            Self::TooLarge => ("431 Request Header Fields Too Large", "too many headers"),
            Self::TooSlow => ("408 Request Timeout", "too slow"),
            Self::Foreign => ("403 Forbidden", "use a loopback address or localhost"),
            Self::NoToken => (
                "401 Unauthorized",
                "open the URL that the program has printed",
            ),
            Self::Method => ("405 Method Not Allowed", "only GET"),
            Self::NotFound => ("404 Not Found", "no such page"),
        }
    }
}

/// Adds bytes to the head of a request. Returns the request once its head is complete.
pub(crate) fn add_to_head(
    head: &mut Vec<u8>,
    bytes: &[u8],
    token: &Token,
) -> Option<Result<Request, Refusal>> {
    let is_first = head.is_empty();
    // Only the end of the former bytes can belong to a blank line of the new ones.
    let start = head.len().saturating_sub(3);
    head.extend_from_slice(bytes);
    // A head that arrives byte by byte is not parsed with each byte.
    let blank_lines: [&[u8]; 2] = [b"\n\r\n", b"\n\n"];
    let new = &head[start..];
    let is_complete = blank_lines
        .iter()
        .any(|blank| new.windows(blank.len()).any(|window| window == *blank));
    if is_first || is_complete {
        let parsed = parse(head, token);
        if parsed.is_some() {
            return parsed;
        }
    }
    (head.len() >= MAX_HEAD).then_some(Err(Refusal::TooLarge))
}

/// Parses the head of a request. Returns `None` if it is not complete.
fn parse(head: &[u8], token: &Token) -> Option<Result<Request, Refusal>> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(head) {
        Ok(httparse::Status::Partial) => None,
        Ok(httparse::Status::Complete(_)) => Some(check(&request, token)),
        Err(httparse::Error::TooManyHeaders) => Some(Err(Refusal::TooLarge)),
        Err(_) => Some(Err(Refusal::Malformed)),
    }
}

fn check(request: &httparse::Request<'_, '_>, token: &Token) -> Result<Request, Refusal> {
    let header = |name: &str| {
        let mut values = request
            .headers
            .iter()
            .filter(|header| header.name.eq_ignore_ascii_case(name))
            .map(|header| std::str::from_utf8(header.value).map_err(|_| Refusal::Malformed));
        let value = values.next().transpose()?;
        // With two values it is unclear which one counts.
        match values.next() {
            None => Ok(value),
            Some(_) => Err(Refusal::Malformed),
        }
    };
    let host = header("Host")?.ok_or(Refusal::Malformed)?;
    if !is_loopback(host) {
        return Err(Refusal::Foreign);
    }
    if let Some(origin) = header("Origin")? {
        // Only the page itself has this origin, no other server of this machine.
        if origin.strip_prefix("http://") != Some(host) {
            return Err(Refusal::Foreign);
        }
    }
    let target = request.path.ok_or(Refusal::Malformed)?;
    let (path, parameters) = target.split_once('?').unwrap_or((target, ""));
    let has_token = pairs(parameters).any(|(name, value)| name == "token" && token.is(&value));
    let is_get = request.method == Some("GET");
    // The metrics need no token: they are numbers without names of tasks.
    if is_get && path == "/metrics" {
        return Ok(Request {
            route: Route::Metrics,
        });
    }
    if !has_token {
        return Err(Refusal::NoToken);
    }
    if !is_get {
        return Err(Refusal::Method);
    }
    let task = || {
        let id = pairs(parameters).find(|(name, _)| *name == "id");
        id.and_then(|(_, id)| id.parse().ok())
            .ok_or(Refusal::NotFound)
    };
    let route = match path {
        "/" => Route::Page,
        "/events" => Route::Events,
        "/tasks" => Route::Tasks(query(parameters)),
        "/task" => Route::Task(task()?),
        "/groups" => Route::Groups,
        "/resources" => Route::Resources,
        "/waits" => Route::Waits,
        "/stack" => Route::Stack(task()?),
        "/recording" => Route::Recording,
        _ => return Err(Refusal::NotFound),
    };
    Ok(Request { route })
}

/// Returns whether a `Host` names this machine by an address or by the name that browsers do not
/// look up.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((name, port)) if port.is_empty() || is_port(port) => name,
            _ => return false,
        },
        None => match host.find(':') {
            Some(colon) if is_port(&host[colon..]) => &host[..colon],
            Some(_) => return false,
            None => host,
        },
    };
    name.eq_ignore_ascii_case("localhost")
        || name
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// Returns whether the text is a colon and a port number.
fn is_port(text: &str) -> bool {
    let number = text.strip_prefix(':').unwrap_or_default();
    number.bytes().all(|byte| byte.is_ascii_digit()) && number.parse::<u16>().is_ok()
}

fn query(parameters: &str) -> Query {
    let mut query = Query::default();
    for (name, value) in pairs(parameters) {
        match name {
            "filter" => {
                query.filter = match value.as_str() {
                    "busy" => Filter::Busy,
                    "waiting" => Filter::Waiting,
                    "slow" => Filter::Slow,
                    "idle" => Filter::Idle,
                    _ => Filter::All,
                };
            }
            "text" => query.text = value.to_lowercase(),
            "group" => query.group = u64::from_str_radix(&value, 16).ok(),
            "sort" => {
                query.is_descending = value.starts_with('-');
                query.order = match value.trim_start_matches('-') {
                    "name" => Order::Name,
                    "location" => Order::Location,
                    "state" => Order::State,
                    "age" => Order::Age,
                    "polls" => Order::Polls,
                    "busy" => Order::Busy,
                    "longest" => Order::Longest,
                    "since" => Order::Since,
                    _ => Order::Id,
                };
            }
            "offset" => query.offset = value.parse().unwrap_or(0),
            "limit" => query.limit = value.parse().unwrap_or(0),
            _ => {}
        }
    }
    query
}

/// Returns the decoded parameters of a URL.
fn pairs(parameters: &str) -> impl Iterator<Item = (&str, String)> {
    let pairs = parameters
        .split('&')
        .filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name, decode(value)))
}

/// Decodes `+` and `%xx`. Other text is unchanged.
fn decode(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        let code = match (first, tail) {
            (b'%', [high, low, ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                digit(high).zip(digit(low))
            }
            _ => None,
        };
        match code {
            Some((high, low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &tail[2..];
            }
            None if *first == b'+' => bytes.push(b' '),
            None => bytes.push(*first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests;
