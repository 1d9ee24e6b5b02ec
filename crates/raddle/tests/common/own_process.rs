//! Tests that need a process of their own: they start this test program again.

use std::process::Command;

/// Set in the process of one test.
const CHILD: &str = "RADDLE_TEST_OWN_PROCESS";

/// Returns whether this process was started for one test.
pub(crate) fn is_own_process() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs `f` in a process that runs only the test `test`, whose name includes its modules.
pub(crate) fn in_own_process(test: &str, f: impl FnOnce()) {
    if is_own_process() {
        return f();
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]);
    let output = assert_passes(&mut command);
    // A name that is wrong selects no test.
    assert!(output.contains("1 passed"), "{output}");
}

/// Runs this program with the arguments of `command`, and returns its output.
pub(crate) fn assert_passes(command: &mut Command) -> String {
    let output = command.env(CHILD, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}
