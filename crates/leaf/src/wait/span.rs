//! The span of something that tasks wait for, of the crate `tracing`.

#[cfg(feature = "tracing")]
use std::panic::{AssertUnwindSafe, Location};

/// The span `runtime.resource` of a lock, a channel or a timer, as Tokio's: `tokio-console` lists
/// them. It lives as long as this value. Without the feature `tracing` there is none, and the value
/// has no size.
///
/// # Examples
///
/// ```
/// use raddle_leaf::wait::ResourceSpan;
///
/// struct Mutex {
///     span: ResourceSpan,
/// }
///
/// impl Mutex {
///     #[track_caller]
///     fn new() -> Self {
///         Self { span: ResourceSpan::new("Mutex", "Sync") }
///     }
///
///     const fn const_new() -> Self {
///         Self { span: ResourceSpan::none() }
///     }
/// }
/// # drop((Mutex::new().span, Mutex::const_new().span));
/// ```
#[derive(Debug)]
pub struct ResourceSpan {
    #[cfg(feature = "tracing")]
    _span: AssertUnwindSafe<tracing::Span>,
}

impl ResourceSpan {
    /// Makes the span of a resource of this type and kind. Its location is the one at which the
    /// function that calls this one was called, if that function is `#[track_caller]`.
    #[cfg_attr(feature = "tracing", track_caller)]
    #[inline(always)]
    pub fn new(concrete_type: &'static str, kind: &'static str) -> Self {
        #[cfg(feature = "tracing")]
        return Self {
            _span: AssertUnwindSafe(span(concrete_type, kind, Location::caller())),
        };
        #[cfg(not(feature = "tracing"))]
        {
            let _ = (concrete_type, kind);
            Self {}
        }
    }

    /// Makes a value without a span, for a resource in a constant.
    #[inline(always)]
    pub const fn none() -> Self {
        Self {
            #[cfg(feature = "tracing")]
            _span: AssertUnwindSafe(tracing::Span::none()),
        }
    }
}

#[cfg(feature = "tracing")]
fn span(
    concrete_type: &'static str,
    kind: &'static str,
    location: &'static Location<'static>,
) -> tracing::Span {
    tracing::trace_span!(
        parent: None,
        "runtime.resource",
        concrete_type,
        kind,
        loc.file = location.file(),
        loc.line = location.line(),
        loc.col = location.column(),
    )
}
