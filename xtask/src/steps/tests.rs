use super::*;

fn sh(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[test]
fn a_failed_step_is_named_with_its_command() {
    let mut steps = Steps::default();
    let error = steps.run("planted", &mut sh("exit 3")).unwrap_err();
    let message = format!("{error:#}");
    assert!(message.contains("step \"planted\" failed"), "{message}");
    assert!(message.contains("sh -c 'exit 3'"), "{message}");
    assert!(steps.table().contains("failed"));
}

#[test]
fn steps_after_a_failed_step_do_not_run() {
    let mut second_ran = false;
    let result = summarized(|steps| {
        steps.run("first", &mut sh("false"))?;
        second_ran = true;
        Ok(())
    });
    assert!(result.is_err());
    assert!(!second_ran);
}

#[test]
fn filter_sees_each_line_of_the_output() {
    let mut lines = Vec::new();
    filter(&mut sh("echo one; echo two"), |line| {
        lines.push(line.to_owned())
    })
    .unwrap();
    assert_eq!(lines, ["one", "two"]);
}

#[test]
fn a_command_is_shown_as_it_would_be_typed() {
    let mut command = Command::new("/usr/bin/cargo");
    command
        .env("RUSTFLAGS", "--cfg raddle_loom")
        .args(["test", "--test", "loom_*"]);
    assert_eq!(
        line_of(&command),
        "RUSTFLAGS='--cfg raddle_loom' cargo test --test 'loom_*'"
    );
}
