/// The names of the facade that the examples of this layer use.
mod raddle {
    pub mod runtime {
        pub use raddle_sched::*;
    }
    pub mod task {
        pub use raddle_sched::yield_now;
    }

    pub fn run<F: Future>(example: F) -> F::Output {
        raddle_testing::executor::run_with(example, std::thread::yield_now)
    }
}
