//! The arguments of the attributes.

use proc_macro2::{Span, TokenStream};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, Lit, MetaNameValue, Path, Result, Token};

use crate::facade::Facade;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavor {
    MultiThread,
    CurrentThread,
    Local,
}

/// An attribute as its facade exports it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attribute {
    /// The flavor without an argument.
    pub(crate) default: Flavor,
    /// Whether the facade has multi-thread runtimes.
    pub(crate) multi_thread: bool,
    pub(crate) facade: Facade,
}

/// What the user asked for, checked.
pub(crate) struct Arguments {
    pub(crate) flavor: Flavor,
    pub(crate) worker_threads: Option<usize>,
    pub(crate) start_paused: bool,
    pub(crate) name: Option<String>,
    /// A variant of `UnhandledPanic`.
    pub(crate) unhandled_panic: Option<&'static str>,
    pub(crate) raddle: Path,
}

impl Arguments {
    /// Nothing given.
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
        let pairs = Punctuated::<MetaNameValue, Token![,]>::parse_terminated.parse2(tokens)?;
        let mut arguments = Self::new(attribute);
        arguments.flavor = attribute.default;
        let mut flavor_span = Span::call_site();
        let mut seen = Vec::new();
        let mut workers_span = Span::call_site();
        let mut paused_span = Span::call_site();
        for pair in pairs {
            // The path is kept as text, for `crate` is no ordinary name.
            let name = match pair.path.get_ident() {
                Some(name) => name.to_string(),
                None => return Err(unknown(&pair.path)),
            };
            if seen.contains(&name) {
                let message = format!("`{name}` is given twice; leave one out");
                return Err(Error::new(pair.span(), message));
            }
            match &*name {
                "flavor" => {
                    flavor_span = pair.span();
                    arguments.flavor = flavor(&pair.value)?;
                }
                "worker_threads" => {
                    workers_span = pair.span();
                    arguments.worker_threads = Some(worker_threads(&pair.value)?);
                }
                "name" => arguments.name = Some(runtime_name(&pair.value)?),
                "unhandled_panic" => {
                    arguments.unhandled_panic = Some(unhandled_panic(&pair.value)?);
                }
                "crate" => arguments.raddle = path(&pair.value)?,
                "start_paused" => {
                    paused_span = pair.span();
                    arguments.start_paused = boolean(&pair.value)?;
                }
                _ => return Err(unknown(&pair.path)),
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

fn unknown(path: &Path) -> Error {
    let message = "unknown argument; there are `flavor`, `worker_threads`, \
                   `start_paused`, `name`, `unhandled_panic` and `crate`";
    Error::new(path.span(), message)
}

fn flavor(value: &Expr) -> Result<Flavor> {
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

fn worker_threads(value: &Expr) -> Result<usize> {
    let count = match value {
        Expr::Lit(ExprLit {
            lit: Lit::Int(count),
            ..
        }) => count.base10_parse().unwrap_or(0),
        _ => 0,
    };
    if count == 0 {
        let message = "`worker_threads` must be a number literal from 1 up";
        return Err(Error::new(value.span(), message));
    }
    Ok(count)
}

fn runtime_name(value: &Expr) -> Result<String> {
    string(value).ok_or_else(|| Error::new(value.span(), "`name` must be a string literal"))
}

fn unhandled_panic(value: &Expr) -> Result<&'static str> {
    match string(value).as_deref() {
        Some("ignore") => Ok("Ignore"),
        Some("shutdown_runtime") => Ok("ShutdownRuntime"),
        _ => {
            let message = "no such policy; write \"ignore\" or \"shutdown_runtime\"";
            Err(Error::new(value.span(), message))
        }
    }
}

fn boolean(value: &Expr) -> Result<bool> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Bool(boolean),
            ..
        }) => Ok(boolean.value),
        _ => {
            let message = "`start_paused` must be `true` or `false`";
            Err(Error::new(value.span(), message))
        }
    }
}

fn path(value: &Expr) -> Result<Path> {
    let error = || Error::new(value.span(), "`crate` must be a path in a string literal");
    let text = string(value).ok_or_else(error)?;
    syn::parse_str(&text).map_err(|_| error())
}

fn string(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text.value()),
        _ => None,
    }
}
