/// The names of the facade that the examples of this layer use.
mod raddle {
    mod executor {
        include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../raddle/tests/doc/executor.rs"));
    }
    pub mod task {
        pub use super::executor::task::yield_now;
        pub use raddle_task::*;
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
        executor::run_with(example, || {
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
