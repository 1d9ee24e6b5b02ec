/// The names of the facade that the examples of this layer use.
mod raddle {
    pub mod runtime {
        pub use raddle_events::*;
    }
}
