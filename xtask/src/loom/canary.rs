//! The canaries of a suite: deliberate races that its models must find, and that a single execution
//! must not find.

use std::sync::LazyLock;

use anyhow::{Context as _, Result, ensure};
use regex::Regex;

/// The beginning of the message of a data race. The message comes from loom: only a model can fail
/// with it.
const RACE: &str = "Causality violation";

/// A test whose name begins with `canary_`, after that of its module.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Canary {
    pub(super) name: String,
    /// The text that its panic must contain.
    message: String,
}

/// The head of a canary, with the attribute that names its message if there is one.
static HEAD: LazyLock<Regex> = LazyLock::new(|| {
    let message = r#"#\[should_panic\(expected = "(.+)"\)\]\n(?:.+\n)*?"#;
    let head = format!(r"(?m)(?:^\s*{message})?^\s*fn (canary\w*)\(\) \{{$");
    Regex::new(&head).expect("a valid pattern")
});

/// Returns the canaries in the source of a module of models. Each must name its message.
pub(super) fn of_suite(module: &str, source: &str) -> Result<Vec<Canary>> {
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
            name: format!("{module}::{name}")
                .trim_start_matches("::")
                .to_owned(),
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
    /// Checks the output of the test in which its models were explored.
    pub(super) fn check_models(&self, output: &str) -> Result<()> {
        let Self { name, message } = self;
        let is_caught = self.is_caught(output);
        ensure!(is_caught, "{name} was not caught by \"{message}\"");
        Ok(())
    }

    /// Checks the output of the test in which each model had one execution.
    pub(super) fn check_single(&self, output: &str) -> Result<()> {
        let Self { name, message } = self;
        let is_caught = self.is_caught(output);
        ensure!(
            // A race may also be found in a single execution.
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
