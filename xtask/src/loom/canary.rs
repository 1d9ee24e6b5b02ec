//! The canaries of a suite: planted races that its models must see, and that
//! one execution alone must not.

use std::sync::LazyLock;

use anyhow::{Context as _, Result, ensure};
use regex::Regex;

/// How the message of a data race begins. It is loom's own: nothing but a model
/// can fail by it.
const RACE: &str = "Causality violation";

/// A test whose name begins with `canary_`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Canary {
    pub(super) name: String,
    /// What its panic must say.
    message: String,
}

/// The head of a canary, with the attribute that names its message if there is one.
static HEAD: LazyLock<Regex> = LazyLock::new(|| {
    let message = r#"#\[should_panic\(expected = "(.+)"\)\]\n(?:.+\n)*?"#;
    let head = format!(r"(?m)(?:^\s*{message})?^\s*fn (canary\w*)\(\) \{{$");
    Regex::new(&head).expect("a valid pattern")
});

/// The canaries in the source of a suite, each of which names its message.
pub(super) fn of_suite(source: &str) -> Result<Vec<Canary>> {
    let mut canaries = Vec::new();
    for head in HEAD.captures_iter(source) {
        let name = &head[2];
        ensure!(
            name.starts_with("canary_"),
            "{name} does not say what it plants; call it canary_<what is caught>"
        );
        let message = head.get(1).with_context(|| {
            format!(
                "{name} accepts any panic; name its message with \
                 #[should_panic(expected = \"...\")]"
            )
        })?;
        canaries.push(Canary {
            name: name.to_owned(),
            message: message.as_str().to_owned(),
        });
    }
    ensure!(
        !canaries.is_empty(),
        "no canary: plant a race in the protocol of the crate, in a test named canary_<what is \
         caught> with #[should_panic(expected = \"...\")]"
    );
    Ok(canaries)
}

impl Canary {
    /// Checks what the test printed when its models were explored.
    pub(super) fn check_models(&self, output: &str) -> Result<()> {
        let Self { name, message } = self;
        let is_caught = self.is_caught(output);
        ensure!(is_caught, "{name} was not caught by \"{message}\"");
        Ok(())
    }

    /// Checks what it printed when each model had one execution.
    pub(super) fn check_single(&self, output: &str) -> Result<()> {
        let Self { name, message } = self;
        let is_caught = self.is_caught(output);
        ensure!(
            // A race is seen where none of it was explored.
            !is_caught || message.starts_with(RACE),
            "{name} fails in one straight execution too, so it does not show that the models \
             explore; plant a race"
        );
        ensure!(
            is_caught || output.contains("\nnote: test did not panic as expected"),
            "{name} did not run, or failed otherwise than by \"{message}\""
        );
        Ok(())
    }

    /// Whether it panicked with the message that it names.
    fn is_caught(&self, output: &str) -> bool {
        let verdict = format!("test {} - should panic ... ok", self.name);
        output.lines().any(|line| line == verdict)
    }
}

#[cfg(test)]
mod tests;
