//! Random numbers that are the same in each run.

use crate::runtime::{Builder, RngSeed};

impl Builder {
    /// Seeds the random numbers of the runtime, so that `select!` begins with the
    /// same branches in each run of the program, where the rest of it goes the same
    /// way: in a current-thread runtime, call by call of `block_on`. Which
    /// worker steals from which stays the system's doing. Default: no seed.
    ///
    /// ```
    /// use raddle::runtime::{Builder, RngSeed};
    ///
    /// let draw = || -> std::io::Result<Vec<u32>> {
    ///     let seed = RngSeed::from_bytes(b"a seed");
    ///     let runtime = Builder::new_current_thread().rng_seed(seed).build()?;
    ///     Ok(runtime.block_on(async {
    ///         let mut drawn = Vec::new();
    ///         for _ in 0..32 {
    ///             drawn.push(raddle::select! {
    ///                 _ = async {} => 0,
    ///                 _ = async {} => 1,
    ///             });
    ///         }
    ///         drawn
    ///     }))
    /// };
    /// assert_eq!(draw()?, draw()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn rng_seed(&mut self, seed: RngSeed) -> &mut Self {
        self.rng_seed = Some(seed);
        self
    }
}
