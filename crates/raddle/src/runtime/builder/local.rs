//! A runtime that stays on its thread.

use std::io;

use crate::runtime::{Builder, LocalOptions, LocalRuntime, RuntimeFlavor};

impl Builder {
    /// Builds a runtime that stays on the calling thread; otherwise as
    /// [`build`](Self::build). What [`unhandled_panic`](Self::unhandled_panic)
    /// sets is about its local tasks too.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    ///
    /// # Panics
    ///
    /// If the builder is for a multi-thread runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::{Builder, LocalOptions};
    /// use raddle::task::spawn_local;
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .enable_all()
    ///     .build_local(LocalOptions::default())?;
    /// let text = std::rc::Rc::new("not Send");
    /// let length = runtime.block_on(async { spawn_local(async move { text.len() }).await.unwrap() });
    /// assert_eq!(length, 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn build_local(&mut self, _options: LocalOptions) -> io::Result<LocalRuntime> {
        assert!(
            self.flavor == RuntimeFlavor::CurrentThread,
            "a local runtime has one thread; begin with Builder::new_current_thread"
        );
        let runtime = self.build()?;
        Ok(LocalRuntime::from_runtime(
            runtime,
            self.scheduler.unhandled_panic,
        ))
    }
}
