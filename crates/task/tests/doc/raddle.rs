/// The names of the facade that the examples of this layer use.
mod raddle {
    pub mod task {
        use super::runtime::Handle;
        pub use raddle_task::*;

        pub async fn yield_now() {
            let mut is_first = true;
            std::future::poll_fn(|cx| {
                if std::mem::take(&mut is_first) {
                    cx.waker().wake_by_ref();
                    return std::task::Poll::Pending;
                }
                std::task::Poll::Ready(())
            })
            .await;
        }

        pub type Builder<'a> = raddle_task::Builder<'a, Handle>;
        pub type JoinSet<T> = raddle_task::JoinSet<T, Handle>;

        pub struct LocalSet(pub raddle_task::LocalSet);

        impl LocalSet {
            pub fn new() -> Self {
                Self(raddle_task::LocalSet::new(|| true))
            }

            pub async fn run_until<F: Future>(&self, future: F) -> F::Output {
                self.0.run_until(future).await
            }
        }
    }
    pub mod runtime {
        use super::task::{CurrentLocalSet, JoinHandle, LocalSet, SpawnMeta, blocking};

        pub struct Handle;

        impl Handle {
            pub fn current() -> Self {
                Self
            }
        }

        impl raddle_task::Spawn for Handle {
            type LocalSet = LocalSet;

            fn spawn<F>(future: F, _: SpawnMeta) -> JoinHandle<F::Output>
            where
                F: Future<Output: Send + 'static> + Send + 'static,
            {
                super::spawn(future)
            }

            fn spawn_on<F>(&self, future: F, _: SpawnMeta) -> JoinHandle<F::Output>
            where
                F: Future<Output: Send + 'static> + Send + 'static,
            {
                super::spawn(future)
            }

            fn spawn_local<F>(future: F, _: SpawnMeta) -> JoinHandle<F::Output>
            where
                F: Future<Output: 'static> + 'static,
            {
                CurrentLocalSet::get().unwrap().spawn_local(future)
            }

            fn spawn_local_on<F>(set: &LocalSet, future: F, _: SpawnMeta) -> JoinHandle<F::Output>
            where
                F: Future<Output: 'static> + 'static,
            {
                set.0.spawn_local(future)
            }

            fn spawn_blocking<F, T>(f: F, meta: SpawnMeta) -> JoinHandle<T>
            where
                F: FnOnce() -> T + Send + 'static,
                T: Send + 'static,
            {
                blocking::spawn_as(meta, f, |task| {
                    std::thread::spawn(|| drop(task.into_runnable().run()));
                    Ok(())
                })
            }

            fn spawn_blocking_on<F, T>(&self, f: F, meta: SpawnMeta) -> JoinHandle<T>
            where
                F: FnOnce() -> T + Send + 'static,
                T: Send + 'static,
            {
                Self::spawn_blocking(f, meta)
            }
        }
    }
    pub use raddle_task::task_local;

    std::thread_local! {
        static DUE: (
            std::sync::mpsc::Sender<raddle_task::Runnable>,
            std::sync::mpsc::Receiver<raddle_task::Runnable>,
        ) = std::sync::mpsc::channel();
    }

    pub fn spawn<F>(future: F) -> raddle_task::JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let due = DUE.with(|due| due.0.clone());
        let schedule = move |task| due.send(task).unwrap();
        let (task, handle) = raddle_task::spawn(future, schedule.clone());
        schedule(task);
        handle
    }

    pub fn run<F: Future>(example: F) -> F::Output {
        raddle_testing::executor::run_with(example, || {
            DUE.with(|due| {
                while let Ok(task) = due.1.try_recv() {
                    if let raddle_task::Outcome::Again(task) = task.run() {
                        due.0.send(task).unwrap();
                        break;
                    }
                }
            });
        })
    }
}
