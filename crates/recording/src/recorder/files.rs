//! Files with numbers in their names, of which the latest are kept.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The extension of the files' names.
const EXTENSION: &str = "raddle";

/// A function that is called when files cannot be written.
#[derive(Clone)]
pub struct ErrorHandler(Arc<dyn Fn(&io::Error) + Send + Sync>);

impl ErrorHandler {
    /// Makes a handler of a function.
    pub fn new(handle: impl Fn(&io::Error) + Send + Sync + 'static) -> Self {
        Self(Arc::new(handle))
    }
}

impl fmt::Debug for ErrorHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrorHandler").finish_non_exhaustive()
    }
}

/// Two handlers are equal if they are clones of one.
impl PartialEq for ErrorHandler {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ErrorHandler {}

/// Reports failures: to a handler and to the log, the first of several in a row.
#[derive(Debug)]
pub(crate) struct Reporter {
    /// The files, for the log.
    files: String,
    handler: Option<ErrorHandler>,
    is_failing: bool,
}

impl Reporter {
    pub(crate) fn new(files: &NumberedFiles, handler: Option<ErrorHandler>) -> Self {
        Self {
            files: files.path(0).display().to_string(),
            handler,
            is_failing: false,
        }
    }

    /// Reports the result of an attempt if it differs from the one before.
    pub(crate) fn report(&mut self, result: &io::Result<()>) {
        let was_failing = std::mem::replace(&mut self.is_failing, result.is_err());
        match result {
            Err(error) if !was_failing => {
                log(&format!(
                    "the flight recorder cannot write to {}: {error}; it keeps the files that it \
                     has, and tries again",
                    self.files
                ));
                if let Some(ErrorHandler(handle)) = &self.handler {
                    handle(error);
                }
            }
            Ok(()) if was_failing => log("the flight recorder can write its files again"),
            _ => {}
        }
    }
}

/// Writes a warning to the log, or to standard error if the program has none.
fn log(message: &str) {
    tracing::warn!(target: "raddle::flight_recorder", "{message}");
    let has_none = tracing::dispatcher::get_default(|dispatch| {
        dispatch.is::<tracing::subscriber::NoSubscriber>()
    });
    if has_none {
        // Standard error may be on the full disk, or closed.
        let _ = io::stderr().write_all(format!("raddle: {message}\n").as_bytes());
    }
}

/// The files of a directory with the names `<prefix>-<number>.raddle`. A number is the milliseconds
/// since the Unix epoch when its file was made, or more: it is greater than those of all files
/// before it, even if the clock is set back.
#[derive(Debug)]
pub(crate) struct NumberedFiles {
    directory: PathBuf,
    prefix: String,
    /// The time, in milliseconds since the Unix epoch.
    now: fn() -> u128,
}

impl NumberedFiles {
    pub(crate) fn new(directory: PathBuf, prefix: String) -> Self {
        let now = || {
            let time = SystemTime::now().duration_since(UNIX_EPOCH);
            time.map_or(0, |time| time.as_millis())
        };
        Self {
            directory,
            prefix,
            now,
        }
    }

    #[cfg(test)]
    pub(crate) fn set_clock(&mut self, now: fn() -> u128) {
        self.now = now;
    }

    /// Creates the next file, and its directory if that is missing.
    pub(crate) fn create(&self) -> io::Result<(PathBuf, File)> {
        fs::create_dir_all(&self.directory)?;
        loop {
            let last = self.numbers()?.pop();
            let next = last.map_or(0, |last| last.saturating_add(1));
            let path = self.path((self.now)().max(next));
            match File::create_new(&path) {
                // Another process has just made it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                result => return result.map(|file| (path, file)),
            }
        }
    }

    /// Removes all files except the latest `kept`.
    pub(crate) fn remove_oldest(&self, kept: usize) -> io::Result<()> {
        let numbers = self.numbers()?;
        let surplus = numbers.len().saturating_sub(kept);
        for number in &numbers[..surplus] {
            match fs::remove_file(self.path(*number)) {
                // Another program has removed the file.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                result => result?,
            }
        }
        Ok(())
    }

    fn path(&self, number: u128) -> PathBuf {
        let name = format!("{}-{number:013}.{EXTENSION}", self.prefix);
        self.directory.join(name)
    }

    /// The numbers of the files, the lowest first.
    fn numbers(&self) -> io::Result<Vec<u128>> {
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            numbers.extend(self.number_of(&entry?.path()));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Returns the number in the name of a file, or `None` for a file of something else.
    fn number_of(&self, path: &Path) -> Option<u128> {
        let name = path.file_name()?.to_str()?;
        let digits = name
            .strip_prefix(self.prefix.as_str())?
            .strip_prefix('-')?
            .strip_suffix(EXTENSION)?
            .strip_suffix('.')?;
        let number: u128 = digits.parse().ok()?;
        (format!("{number:013}") == digits).then_some(number)
    }
}
