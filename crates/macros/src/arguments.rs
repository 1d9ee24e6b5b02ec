//! The arguments of the attributes.

use std::num::IntErrorKind;

use proc_macro2::{Literal, Spacing, Span, TokenStream, TokenTree};

use crate::error::{Error, Result};
use crate::facade::Facade;
use crate::tokens::{is_name, is_punct, split, visible};

/// The names of the arguments.
const NAMES: [&str; 6] = [
    "flavor",
    "worker_threads",
    "start_paused",
    "name",
    "unhandled_panic",
    "crate",
];

/// The greatest number of workers of a runtime, `MAX_WORKERS` of `raddle-sched`.
const MAX_WORKERS: u64 = 65535;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavor {
    MultiThread,
    CurrentThread,
    Local,
}

/// An attribute as its facade exports it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attribute {
    /// The flavor if no argument gives it.
    pub(crate) default: Flavor,
    /// Whether the facade has multi-thread runtimes.
    pub(crate) multi_thread: bool,
    pub(crate) facade: Facade,
}

/// The checked arguments of the attribute.
pub(crate) struct Arguments {
    pub(crate) flavor: Flavor,
    pub(crate) worker_threads: Option<Literal>,
    pub(crate) start_paused: bool,
    pub(crate) name: Option<Literal>,
    /// A variant of `UnhandledPanic`.
    pub(crate) unhandled_panic: Option<&'static str>,
    pub(crate) raddle: TokenStream,
}

impl Arguments {
    /// Returns the arguments of an attribute without arguments.
    pub(crate) fn new(attribute: Attribute) -> Self {
        Self {
            flavor: match attribute.multi_thread {
                true => attribute.default,
                false => Flavor::CurrentThread,
            },
            worker_threads: None,
            start_paused: false,
            name: None,
            unhandled_panic: None,
            raddle: attribute.facade.path(),
        }
    }

    /// Reads `name = value, ...`.
    pub(crate) fn parse(tokens: TokenStream, attribute: Attribute) -> Result<Self> {
        let mut arguments = Self::new(attribute);
        arguments.flavor = attribute.default;
        let mut flavor_span = Span::call_site();
        let mut seen = Vec::new();
        let mut workers_span = Span::call_site();
        let mut paused_span = Span::call_site();
        for pair in split(tokens, ',') {
            if let [token] = &pair[..] {
                if let Some(name) = flavor_name(token) {
                    let message = format!("write `flavor = \"{name}\"`");
                    return Err(Error::new(token.span(), message));
                }
            }
            let (name, span, value) = name_and_value(pair, &NAMES)?;
            if seen.contains(&name) {
                let message = format!("`{name}` is given twice; leave one out");
                return Err(Error::new(span, message));
            }
            match &*name {
                "flavor" => {
                    flavor_span = span;
                    arguments.flavor = flavor(&value)?;
                }
                "worker_threads" => {
                    workers_span = span;
                    let count = positive(&name, &value, "usize", MAX_WORKERS)?;
                    arguments.worker_threads = Some(Literal::u64_unsuffixed(count));
                }
                "name" => arguments.name = Some(runtime_name(&value)?),
                "unhandled_panic" => {
                    arguments.unhandled_panic = Some(unhandled_panic(&value)?);
                }
                "crate" => arguments.raddle = path(&value)?,
                "start_paused" => {
                    paused_span = span;
                    arguments.start_paused = boolean(&value)?;
                }
                _ => unreachable!("`name_and_value` returns one of the names"),
            }
            seen.push(name);
        }
        if arguments.flavor == Flavor::MultiThread && !attribute.multi_thread {
            let message = "the feature `rt-multi-thread` is off; turn it on \
                           or add `flavor = \"current_thread\"`";
            return Err(Error::new(flavor_span, message));
        }
        if arguments.worker_threads.is_some() && arguments.flavor != Flavor::MultiThread {
            let message = "a current-thread runtime has no workers; \
                           add `flavor = \"multi_thread\"` or leave `worker_threads` out";
            return Err(Error::new(workers_span, message));
        }
        if arguments.start_paused && arguments.flavor == Flavor::MultiThread {
            let message = "only the clock of a current-thread runtime can be paused; \
                           add `flavor = \"current_thread\"` or leave `start_paused` out";
            return Err(Error::new(paused_span, message));
        }
        Ok(arguments)
    }
}

/// Reads `name = value` with one of the names, and returns the name, its position and the value.
pub(crate) fn name_and_value(
    pair: Vec<TokenTree>,
    names: &[&str],
) -> Result<(String, Span, TokenTree)> {
    let mut pair = pair.into_iter();
    let Some(first) = pair.next() else {
        return Err(Error::new(Span::call_site(), "expected `name = value`"));
    };
    let (name, span) = (first.to_string(), first.span());
    let next = pair.next();
    let is_path = matches!(&next, Some(TokenTree::Punct(punct))
        if punct.as_char() == ':' && punct.spacing() == Spacing::Joint);
    if is_path || !names.contains(&&*name) {
        return Err(unknown(span, names));
    }
    let equals = next.filter(|token| is_punct(token, '='));
    match (equals, pair.next(), pair.next()) {
        (Some(_), Some(value), None) => Ok((name, span, visible(value))),
        (Some(_), Some(_), Some(more)) => {
            let message = format!("the value of `{name}` must be one literal");
            Err(Error::new(more.span(), message))
        }
        _ => Err(Error::new(span, format!("expected `{name} = value`"))),
    }
}

fn unknown(span: Span, names: &[&str]) -> Error {
    let message = match names {
        [names @ .., last] if !names.is_empty() => {
            let names = names.join("`, `");
            format!("unknown argument; there are `{names}` and `{last}`")
        }
        _ => format!("unknown argument; there is `{}`", names.concat()),
    };
    Error::new(span, message)
}

/// Returns the name of a flavor if the token is one, in quotes or not.
fn flavor_name(token: &TokenTree) -> Option<String> {
    let name = string(token).unwrap_or_else(|| token.to_string());
    ["multi_thread", "current_thread", "local"]
        .contains(&&*name)
        .then_some(name)
}

fn flavor(value: &TokenTree) -> Result<Flavor> {
    match string(value).as_deref() {
        Some("multi_thread") => Ok(Flavor::MultiThread),
        Some("current_thread") => Ok(Flavor::CurrentThread),
        Some("local") => Ok(Flavor::Local),
        _ => {
            let message = "no such flavor; write \"multi_thread\", \"current_thread\" or \"local\"";
            Err(Error::new(value.span(), message))
        }
    }
}

/// Reads the value of `name`: a number literal from 1 to `max`, which may have this suffix.
pub(crate) fn positive(name: &str, value: &TokenTree, suffix: &str, max: u64) -> Result<u64> {
    let digits = match value {
        TokenTree::Literal(literal) => literal.to_string().replace('_', ""),
        _ => String::new(),
    };
    let number = digits.trim_end_matches(suffix).parse();
    let is_too_great = match &number {
        Ok(number) if (1..=max).contains(number) => return Ok(*number),
        Ok(number) => *number > max,
        Err(error) => *error.kind() == IntErrorKind::PosOverflow,
    };
    let message = match is_too_great {
        true => format!("`{name}` is at most {max}"),
        false => format!("`{name}` must be a decimal number literal from 1 up"),
    };
    Err(Error::new(value.span(), message))
}

fn runtime_name(value: &TokenTree) -> Result<Literal> {
    match value {
        TokenTree::Literal(literal) if string(value).is_some() => Ok(literal.clone()),
        _ => Err(Error::new(value.span(), "`name` must be a string literal")),
    }
}

fn unhandled_panic(value: &TokenTree) -> Result<&'static str> {
    match string(value).as_deref() {
        Some("ignore") => Ok("Ignore"),
        Some("shutdown_runtime") => Ok("ShutdownRuntime"),
        _ => {
            let message = "no such policy; write \"ignore\" or \"shutdown_runtime\"";
            Err(Error::new(value.span(), message))
        }
    }
}

fn boolean(value: &TokenTree) -> Result<bool> {
    match value.to_string().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => {
            let message = "`start_paused` must be `true` or `false`";
            Err(Error::new(value.span(), message))
        }
    }
}

fn path(value: &TokenTree) -> Result<TokenStream> {
    string(value)
        .filter(|text| {
            let names = text.strip_prefix("::").unwrap_or(text);
            names.split("::").all(is_name)
        })
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| Error::new(value.span(), "`crate` must be a path in a string literal"))
}

/// Returns the text of a string literal, raw or not, with its escapes unchanged.
fn string(value: &TokenTree) -> Option<String> {
    let TokenTree::Literal(literal) = value else {
        return None;
    };
    let text = literal.to_string();
    let text = text.strip_prefix('r').unwrap_or(&text).trim_matches('#');
    let text = text.strip_prefix('"')?.strip_suffix('"')?;
    Some(text.to_owned())
}
