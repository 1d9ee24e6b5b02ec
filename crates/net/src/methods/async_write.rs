//! Writing through `AsyncWrite`.

/// Implements `AsyncWrite` without a buffer: flushing only counts as an operation of the task, as
/// does `poll_shutdown`, which calls `$shut_down` with the object.
macro_rules! async_write {
    ($name:ident, $(#[$poll_shutdown:meta])* poll_shutdown: $shut_down:expr) => {
        impl raddle_io::AsyncWrite for $name {
            fn poll_write(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.io.poll_write(cx, buf)
            }

            fn poll_write_vectored(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                bufs: &[std::io::IoSlice<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.io.poll_write_vectored(cx, bufs)
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            fn poll_flush(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                raddle_leaf::coop::poll_consume_budget(cx).map(Ok)
            }

            $(#[$poll_shutdown])*
            fn poll_shutdown(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::task::ready!(raddle_leaf::coop::poll_consume_budget(cx));
                std::task::Poll::Ready($shut_down(&*self))
            }
        }
    };
}

pub(crate) use async_write;
