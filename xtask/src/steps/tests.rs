use super::*;

fn sh(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[test]
fn a_failed_step_is_named_with_its_command_and_in_the_table() {
    let error = run("planted", &mut sh("exit 3")).unwrap_err();
    let message = format!("{error:#}");
    assert!(message.contains("step \"planted\" failed"), "{message}");
    assert!(message.contains("sh -c 'exit 3'"), "{message}");
    assert!(summary().contains("failed"));
    assert_eq!(summary(), "");
}

#[test]
fn the_cells_of_a_table_are_aligned() {
    let rows = ["step\tseconds", "é\t1.0"].map(str::to_owned);
    assert_eq!(table(&rows), "\nstep  seconds\né         1.0\n");
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
