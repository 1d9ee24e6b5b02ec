/// The names of the facade that the examples of this layer use.
mod raddle {
    pub mod fs {
        pub use raddle_fs::*;
    }
    pub mod io {
        pub use raddle_fs::stdio::*;
        pub use raddle_io::*;
    }

    pub fn run<F: Future>(example: F) -> F::Output {
        // Runs each call on a thread of its own.
        raddle_task::blocking::set_submit(|task| {
            std::thread::spawn(|| drop(task.into_runnable().run()));
            Ok(())
        });
        raddle_testing::executor::run_with(example, || std::thread::park_timeout(std::time::Duration::from_millis(2)))
    }
}
