//! The canaries of a suite: planted races that its models must see, and that
//! one execution alone must not.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

/// How the message of a data race begins. It is loom's own: nothing but a model
/// can fail by it.
const RACE: &str = "Causality violation";

/// A test whose name begins with `canary_`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Canary {
    name: String,
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

/// What a run of a suite says of its canaries, read line by line.
#[derive(Default)]
pub(super) struct Verdicts {
    verdicts: BTreeMap<String, Verdict>,
    /// Whose output the lines are.
    section: String,
}

/// The canaries in the source of a suite, each of which names its message.
pub(super) fn of_suite(source: &str) -> Result<Vec<Canary>> {
    let lines: Vec<_> = source.lines().map(str::trim).collect();
    let mut canaries = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = line
            .strip_prefix("fn ")
            .and_then(|line| line.strip_suffix("() {"))
            .filter(|name| name.starts_with("canary"))
        else {
            continue;
        };
        ensure!(
            name.starts_with("canary_"),
            "{name} does not say what it plants; call it canary_<what is caught>"
        );
        let above = lines[..at].iter().rev().take_while(|line| !line.is_empty());
        let mut message = above.filter_map(|line| {
            let message = line.strip_prefix("#[should_panic(expected = \"")?;
            message.strip_suffix("\")]").filter(|text| !text.is_empty())
        });
        let Some(message) = message.next() else {
            anyhow::bail!(
                "{name} accepts any panic; name its message with \
                 #[should_panic(expected = \"...\")]"
            );
        };
        canaries.push(Canary {
            name: name.to_owned(),
            message: message.to_owned(),
        });
    }
    ensure!(
        !canaries.is_empty(),
        "no canary: plant a race in the protocol of the crate, in a test named canary_<what is \
         caught> with #[should_panic(expected = \"...\")]"
    );
    Ok(canaries)
}

impl Verdicts {
    pub(super) fn read(&mut self, line: &str) {
        if let Some((name, verdict)) = line
            .strip_prefix("test ")
            .and_then(|line| line.split_once(" - should panic ... "))
        {
            let verdict = match verdict {
                "ok" => Verdict::Failed,
                _ => Verdict::FailedOtherwise,
            };
            self.verdicts.insert(name.to_owned(), verdict);
        } else if let Some(name) = line
            .strip_prefix("---- ")
            .and_then(|line| line.strip_suffix(" stdout ----"))
        {
            name.clone_into(&mut self.section);
        } else if line.starts_with("note: test did not panic as expected") {
            self.verdicts.insert(self.section.clone(), Verdict::Passed);
        }
    }

    /// Checks a run of the models.
    pub(super) fn check_models(&self, canaries: &[Canary]) -> Result<()> {
        for Canary { name, message } in canaries {
            ensure!(
                self.verdicts.get(name) == Some(&Verdict::Failed),
                "{name} was not caught by \"{message}\""
            );
        }
        Ok(())
    }

    /// Checks a run in which each model had one execution.
    pub(super) fn check_single(&self, canaries: &[Canary]) -> Result<()> {
        for Canary { name, message } in canaries {
            match self.verdicts.get(name) {
                Some(Verdict::Passed) => {}
                // A race that is seen where none of it was explored.
                Some(Verdict::Failed) if message.starts_with(RACE) => {}
                Some(Verdict::Failed) => anyhow::bail!(
                    "{name} fails in one straight execution too, so it does not show that the \
                     models explore; plant a race"
                ),
                Some(Verdict::FailedOtherwise) | None => {
                    anyhow::bail!("{name} did not run, or failed otherwise than by \"{message}\"")
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
