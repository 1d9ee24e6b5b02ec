/// The names of the facade that the examples of this layer use.
mod raddle {
    pub mod io {
        pub use raddle_reactor::{Interest, Ready};
    }
}
