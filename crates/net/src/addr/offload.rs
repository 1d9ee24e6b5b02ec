//! Where look-ups block.

use std::io;
use std::sync::OnceLock;

use raddle_std::thread;

/// A look-up that is to be run. Dropped, it fails.
pub type LookupJob = Box<dyn FnOnce() + Send>;

static OFFLOAD: OnceLock<fn(LookupJob) -> Result<(), LookupJob>> = OnceLock::new();

/// Has name look-ups of this process run by `offload`, which is given each on
/// the thread that first polls it. It runs the job on a thread that may block,
/// drops it (the look-up fails), or gives it back: then the look-up has a thread
/// of its own, as without this.
///
/// A runtime calls this when it is built. The first call counts, later ones do
/// nothing.
pub fn offload_lookups(offload: fn(LookupJob) -> Result<(), LookupJob>) {
    let _ = OFFLOAD.set(offload);
}

pub(super) fn run(job: LookupJob) -> io::Result<()> {
    let job = match OFFLOAD.get() {
        Some(offload) => match offload(job) {
            Ok(()) => return Ok(()),
            Err(job) => job,
        },
        None => job,
    };
    let thread = thread::Builder::new()
        .name("raddle-lookup".to_owned())
        .spawn(job);
    thread.map(drop).map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("no thread to look a name up: {error}; use an address, or fewer threads"),
        )
    })
}
