//! The canaries of a suite: planted races that its models must see, and that
//! one execution alone must not.

use std::sync::LazyLock;

use anyhow::{Context as _, Result, bail, ensure};
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

/// How a canary ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It panicked, and the message was the one that it names.
    Failed,
    /// It did not panic.
    Passed,
    /// It panicked otherwise.
    FailedOtherwise,
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
    pub(super) fn check_models(&self, lines: &[String]) -> Result<()> {
        let Self { name, message } = self;
        ensure!(
            self.verdict(lines) == Some(Verdict::Failed),
            "{name} was not caught by \"{message}\""
        );
        Ok(())
    }

    /// Checks what it printed when each model had one execution.
    pub(super) fn check_single(&self, lines: &[String]) -> Result<()> {
        let Self { name, message } = self;
        match self.verdict(lines) {
            Some(Verdict::Passed) => Ok(()),
            // A race that is seen where none of it was explored.
            Some(Verdict::Failed) if message.starts_with(RACE) => Ok(()),
            Some(Verdict::Failed) => bail!(
                "{name} fails in one straight execution too, so it does not show that the models \
                 explore; plant a race"
            ),
            Some(Verdict::FailedOtherwise) | None => {
                bail!("{name} did not run, or failed otherwise than by \"{message}\"")
            }
        }
    }

    fn verdict(&self, lines: &[String]) -> Option<Verdict> {
        let begin = format!("test {} - should panic ... ", self.name);
        let printed = lines.iter().find_map(|line| line.strip_prefix(&begin))?;
        let passed = "note: test did not panic as expected";
        Some(if printed == "ok" {
            Verdict::Failed
        } else if lines.iter().any(|line| line.starts_with(passed)) {
            Verdict::Passed
        } else {
            Verdict::FailedOtherwise
        })
    }
}

#[cfg(test)]
mod tests;
