//! What the ends of both channels have.

/// Writes the methods and traits of a sender, a struct with the field `tx`, and of its weak sender,
/// one with the field `weak`. The caller writes the example of `closed`, and what `strong_count`
/// returns.
macro_rules! senders {
    (
        $Sender:ident, $WeakSender:ident;
        $(#[$closed:meta])* closed,
        $(#[$strong_count:meta])* strong_count,
    ) => {
        impl<T> $Sender<T> {
            /// Waits until the receiver has closed the channel or was dropped.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: the future changes nothing.
            ///
            $(#[$closed])*
            #[track_caller]
            pub fn closed(&self) -> impl Future<Output = ()> {
                raddle_leaf::wait::located(
                    concat!("mpsc::", stringify!($Sender), "::closed"),
                    self.tx.chan().closing(),
                    async move {
                        self.tx.closed().await;
                    },
                )
            }

            /// Returns whether the receiver has closed the channel or was dropped.
            pub fn is_closed(&self) -> bool {
                self.tx.chan().is_closed()
            }

            /// Returns whether both send to the same receiver.
            pub fn same_channel(&self, other: &Self) -> bool {
                self.tx.same_channel(&other.tx)
            }

            /// Returns a sender that does not keep the channel open.
            #[must_use = "a weak sender does nothing by itself"]
            pub fn downgrade(&self) -> $WeakSender<T> {
                $WeakSender {
                    weak: self.tx.downgrade(),
                }
            }

            $(#[$strong_count])*
            pub fn strong_count(&self) -> usize {
                self.tx.chan().strong_count()
            }

            /// Returns the number of weak senders.
            pub fn weak_count(&self) -> usize {
                self.tx.chan().weak_count()
            }
        }

        impl<T> Clone for $Sender<T> {
            fn clone(&self) -> Self {
                Self {
                    tx: self.tx.clone(),
                }
            }
        }

        impl<T> std::fmt::Debug for $Sender<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($Sender))
                    .field("chan", self.tx.chan())
                    .finish()
            }
        }

        impl<T> $WeakSender<T> {
            /// Returns a sender, or `None` if the last one was dropped.
            pub fn upgrade(&self) -> Option<$Sender<T>> {
                self.weak.upgrade().map(|tx| $Sender { tx })
            }

            /// Returns the number of senders.
            pub fn strong_count(&self) -> usize {
                self.weak.chan().strong_count()
            }

            /// Returns the number of weak senders.
            pub fn weak_count(&self) -> usize {
                self.weak.chan().weak_count()
            }
        }

        impl<T> Clone for $WeakSender<T> {
            fn clone(&self) -> Self {
                Self {
                    weak: self.weak.clone(),
                }
            }
        }

        impl<T> std::fmt::Debug for $WeakSender<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($WeakSender))
                    .field("chan", self.weak.chan())
                    .finish()
            }
        }
    };
}

/// Writes the methods and traits of a receiver, a struct with the field `rx`. The caller imports
/// `TryRecvError`, to which the docs link, and writes the examples, and what `close` does.
macro_rules! receiver {
    (
        $Receiver:ident;
        $(#[$recv:meta])* recv,
        $(#[$recv_many:meta])* recv_many,
        $(#[$try_recv:meta])* try_recv,
        $(#[$blocking_recv:meta])* blocking_recv,
        $(#[$close:meta])* close,
    ) => {
        impl<T> $Receiver<T> {
            /// Receives the next message; `None` once the channel is closed and empty.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: if the future is dropped before it is ready, it has received nothing.
            ///
            $(#[$recv])*
            #[track_caller]
            pub fn recv(&mut self) -> impl Future<Output = Option<T>> {
                self.rx.recv(concat!("mpsc::", stringify!($Receiver), "::recv"))
            }

            /// Waits for at least one message, receives the messages that have arrived, up to
            /// `limit`, and appends them to `buffer`. Returns their number; 0 once the channel is
            /// closed and empty, or if `limit` is 0.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: if the future is dropped before it is ready, it has received nothing.
            ///
            $(#[$recv_many])*
            #[track_caller]
            pub fn recv_many(
                &mut self,
                buffer: &mut Vec<T>,
                limit: usize,
            ) -> impl Future<Output = usize> {
                let operation = concat!("mpsc::", stringify!($Receiver), "::recv_many");
                self.rx.recv_many(operation, buffer, limit)
            }

            /// Receives the next message if one has been sent.
            ///
            /// If a sender is just writing the message, the thread spins, and then yields its
            /// processor, until the message is written.
            ///
            /// # Errors
            ///
            /// Returns [`TryRecvError::Empty`] if there is no message;
            /// [`TryRecvError::Disconnected`] if there is none and none will come.
            ///
            $(#[$try_recv])*
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                self.rx.try_recv()
            }

            /// Like [`recv`](Self::recv), but blocks the thread until it is ready.
            ///
            /// # Panics
            ///
            /// Panics inside the poll of a task, which must not block.
            ///
            $(#[$blocking_recv])*
            #[track_caller]
            pub fn blocking_recv(&mut self) -> Option<T> {
                $crate::blocking::block_on(self.recv())
            }

            /// Like [`recv_many`](Self::recv_many), but blocks the thread until it is ready.
            ///
            /// # Panics
            ///
            /// Panics inside the poll of a task, which must not block.
            #[track_caller]
            pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
                $crate::blocking::block_on(self.recv_many(buffer, limit))
            }

            $(#[$close])*
            pub fn close(&mut self) {
                self.rx.close();
            }

            /// Returns whether the channel was closed, or all senders were dropped. Messages may
            /// still be left to receive.
            pub fn is_closed(&self) -> bool {
                self.rx.chan().is_closed()
            }

            /// Returns whether there is no message now.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Returns the number of messages in the channel.
            pub fn len(&self) -> usize {
                self.rx.len()
            }

            /// The poll function of [`recv`](Self::recv). Only the waker of the last call is woken.
            #[inline]
            pub fn poll_recv(
                &mut self,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Option<T>> {
                self.rx.poll_recv(cx)
            }

            /// The poll function of [`recv_many`](Self::recv_many). Only the waker of the last call
            /// is woken.
            pub fn poll_recv_many(
                &mut self,
                cx: &mut std::task::Context<'_>,
                buffer: &mut Vec<T>,
                limit: usize,
            ) -> std::task::Poll<usize> {
                self.rx.poll_recv_many(cx, buffer, limit)
            }

            /// Returns the number of senders.
            pub fn sender_strong_count(&self) -> usize {
                self.rx.chan().strong_count()
            }

            /// Returns the number of weak senders.
            pub fn sender_weak_count(&self) -> usize {
                self.rx.chan().weak_count()
            }
        }

        /// The stream of the messages. It ends once the channel is closed and empty.
        #[cfg(feature = "stream")]
        impl<T> futures_core::Stream for $Receiver<T> {
            type Item = T;

            fn poll_next(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Option<T>> {
                let rx = &mut self.get_mut().rx;
                let poll = rx.poll_recv(cx);
                if poll.is_pending() {
                    let operation = concat!("mpsc::", stringify!($Receiver), "::poll_next");
                    raddle_leaf::wait::note(cx, operation, None, rx.chan().messages());
                }
                poll
            }
        }

        impl<T> std::fmt::Debug for $Receiver<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($Receiver))
                    .field("chan", self.rx.chan())
                    .finish()
            }
        }
    };
}

pub(super) use {receiver, senders};
