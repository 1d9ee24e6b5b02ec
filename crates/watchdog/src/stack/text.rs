//! The text of a stack, for a log: short names, and no row for most functions of libraries.

use std::borrow::Cow;
use std::fmt;

use super::{StackFrame, StackTrace};

/// The number of innermost functions that are always written.
const INNERMOST: usize = 6;
/// The number of functions of libraries in a row that are written as one line.
const FOLDED: usize = 3;

/// Writes each function on a line, with its file and line below it, as std prints backtraces. It
/// leaves out generic arguments, and all but the innermost functions of libraries: a request of an
/// HTTP server has a hundred of them. `{:#}` writes everything.
impl fmt::Display for StackTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frames = self.frames();
        let is_written = |(number, frame): (usize, &StackFrame)| {
            f.alternate() || number < INNERMOST || frame.is_of_application()
        };
        let mut written: Vec<bool> = frames.iter().enumerate().map(is_written).collect();
        for run in written.chunk_by_mut(|left, right| left == right) {
            if run.len() < FOLDED {
                run.fill(true);
            }
        }
        let mut number = 0;
        for run in written.chunk_by(|left, right| left == right) {
            if run[0] {
                for (number, frame) in (number..).zip(&frames[number..number + run.len()]) {
                    write!(f, "{number:4}: ")?;
                    match f.alternate() {
                        true => writeln!(f, "{frame:#}")?,
                        false => writeln!(f, "{frame}")?,
                    }
                }
            } else {
                writeln!(f, "      {} functions of libraries", run.len())?;
            }
            number += run.len();
        }
        Ok(())
    }
}

/// Leaves out generic arguments. `{:#}` writes them.
impl fmt::Display for StackFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.function {
            Some(function) if f.alternate() => write!(f, "{function}")?,
            Some(function) => write!(f, "{}", without_arguments(function))?,
            None => write!(f, "{:#x}", self.address)?,
        }
        if let (Some(file), Some(line)) = (&self.file, self.line) {
            write!(f, "\n             at {}:{line}", file.display())?;
        }
        Ok(())
    }
}

/// Returns the name of a function without generic arguments: `<Vec<u8> as Clone>::clone` is
/// `<Vec as Clone>::clone`, and `map::<u8, {closure#0}>` is `map`.
pub(super) fn without_arguments(function: &str) -> Cow<'_, str> {
    if !function.contains('<') {
        return Cow::Borrowed(function);
    }
    let mut text = String::new();
    // The depth in the arguments, and whether the path begins with a type in angle brackets.
    let (mut depth, mut is_qualified) = (0_usize, false);
    let mut former = ' ';
    for letter in function.chars() {
        match letter {
            '<' if text.is_empty() && depth == 0 => {
                is_qualified = true;
                text.push(letter);
            }
            '<' => {
                if depth == 0 && text.ends_with("::") {
                    text.truncate(text.len() - 2);
                }
                depth += 1;
            }
            // Not that of an arrow.
            '>' if former != '-' && depth > 0 => depth -= 1,
            '>' if former != '-' && is_qualified => {
                is_qualified = false;
                text.push(letter);
            }
            _ if depth == 0 => text.push(letter),
            _ => {}
        }
        former = letter;
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::{Arc, OnceLock};

    use super::super::{StackFrame, StackTrace, Trace};
    use super::without_arguments;

    #[test]
    fn generic_arguments_are_left_out_of_names() {
        let cases = [
            (
                "service::handler::{closure#0}",
                "service::handler::{closure#0}",
            ),
            ("poll<alloc::boxed::Box<dyn Future<Output=()>>>", "poll"),
            ("map::<u8, {closure#0}>::{closure#1}", "map::{closure#1}"),
            ("<Vec<u8> as Clone<T>>::clone", "<Vec as Clone>::clone"),
            ("call<fn(u8) -> Vec<u8>, u8>", "call"),
            (
                "<fn(u8) -> Vec<u8> as Handler>::call",
                "<fn(u8) -> Vec as Handler>::call",
            ),
            ("a::<impl b::C<D>>::e", "a::e"),
            ("unbalanced<a", "unbalanced"),
            ("unbalanced>a", "unbalanced>a"),
        ];
        for (name, short) in cases {
            assert_eq!(without_arguments(name), short);
        }
    }

    #[test]
    fn a_row_of_functions_of_libraries_is_one_line() {
        let frame = |function: &str| StackFrame {
            address: 0x10,
            function: Some(function.to_owned()),
            file: Some(PathBuf::from("main.rs")),
            line: Some(7),
        };
        let library = (0..20).map(|_| frame("axum::serve<S>"));
        let mut frames: Vec<_> = library.clone().collect();
        frames[2] = frame("service::query<T>");
        frames[15] = frame("service::main");
        let stack = StackTrace(Arc::new(Trace {
            addresses: vec![0x10; 20],
            frames: OnceLock::from(frames),
        }));
        let text = stack.to_string();
        let rows: Vec<_> = text.lines().filter(|row| !row.contains(" at ")).collect();
        let expected = [
            "   0: axum::serve",
            "   1: axum::serve",
            "   2: service::query",
            "   3: axum::serve",
            "   4: axum::serve",
            "   5: axum::serve",
            "      9 functions of libraries",
            "  15: service::main",
            "      4 functions of libraries",
        ];
        assert_eq!(rows, expected, "{text}");
        assert!(text.contains("   2: service::query\n             at main.rs:7\n"));
        let full = format!("{stack:#}");
        assert_eq!(full.matches("axum::serve<S>").count(), 18, "{full}");
    }
}
