use super::*;
use std::path::PathBuf;

fn found(page: &str, text: &str) -> Vec<String> {
    let found = commands::find(Path::new(page), text);
    found.iter().map(Shown::text).collect()
}

#[test]
fn commands_are_found_in_blocks_prose_and_documentation() {
    let page = "Run `cargo xtask\ntidy`, not `cargo`.\n\n```sh\nF=a,b\n# a comment\nX=1 cargo run \\\n    --features $F -- 'a b' # rest\ncurl u > f | g\n```\n\n```rust\n`cargo x y`\n```\n";
    let expected = [
        "cargo run --features a,b -- a b",
        "curl u",
        "cargo xtask tidy",
    ];
    assert_eq!(found("a.md", page), expected);
    let source = "//! Run `cargo xtask tidy`.\nlet a = \"`cargo b c`\";\n";
    assert_eq!(found("a.rs", source), ["cargo xtask tidy"]);
    let console = "```console\n$ cargo a b\nits output\n```\n";
    assert_eq!(found("a.md", console), ["cargo a b"]);
}

/// Commands with one mistake each.
const BAD: &[&str] = &[
    "cargo xtask no-such",
    "cargo xtask loom no-such",
    "cargo xtask loom --no-such",
    "cargo xtask test --step no-such",
    "cargo xtask bench no-such",
    "cargo xtask differential no_such",
    "cargo xtask mutate no-such",
    "cargo xtask fuzz no-such",
    "cargo no-such",
    "cargo run -p no-such",
    "cargo run -p tokio",
    "cargo run --example no_such",
    "cargo run --example flight_recorder",
    "cargo run --example async_cost --no-default-features",
    "cargo run -p raddle-benches --bin no_such",
    "cargo run -p raddle-benches --bin tools -- --no-such",
    "cargo run -p raddle",
    "cargo build --features no-such",
    "cargo test -p raddle-sched --test no_such",
    "cargo test -p raddle-sched --test all no_such_test",
    "cargo test -p raddle-sched --test all window -- --no-such",
    "cargo test -p raddle-sched --no-such",
    "cargo update -p tokio --precise 1.0.0",
    "cargo install --git https://example.com raddle-recording",
    "cargo install --path ../raddle/crates/raddle",
    "raddle-recordings report FILE",
];

const GOOD: &[&str] = &[
    "cargo xtask loom queue --long",
    "cargo xtask bench <name> --quick",
    "cargo xtask bench --help",
    "cargo xtask platforms [TARGET...]",
    "cargo xtask test --step NAME",
    "cargo run --release --example bare_echo",
    "cargo run --features flight-recorder --example flight_recorder -- a",
    "cargo run -p raddle-benches --bin tools -- --without a",
    "cargo run -p raddle-recording -- report FILE",
    "cargo test --doc -p <package>",
    "cargo test -p shop --test outage requests_succeed -- --exact",
    "cargo test -p raddle-sched --test all seeded -- --nocapture",
    "cargo tree -i tokio",
    "cargo install --path ../raddle/crates/recording",
    "raddle-recording report FILE",
];

#[test]
fn each_mistake_of_a_command_is_reported() {
    let packages = workspace::packages().unwrap();
    let (root, packages) = (workspace::root(), &packages[..]);
    let checker = Checker { root, packages };
    let findings = |command: &str| {
        let text = format!("```sh\n{command}\n```\n");
        let shown = commands::find(Path::new("a.md"), &text);
        of_command(&checker, &shown[0]).unwrap()
    };
    for bad in BAD {
        assert_ne!(findings(bad), [""; 0], "{bad}");
    }
    for good in GOOD {
        assert_eq!(findings(good), [""; 0], "{good}");
    }
}

#[test]
fn a_dependency_has_the_source_that_all_pages_have() {
    let packages = workspace::packages().unwrap();
    let check = |page: &str, line: &str| {
        let text = format!("```toml\n{line}\n```\n");
        let page = PathBuf::from(page);
        let written = sources::written(&page, &text, &packages);
        let lines = sources::check(workspace::root(), &page, &text, &packages);
        (lines.len(), written)
    };
    let right = "raddle = { path = \"../raddle/crates/raddle\", features = [\"full\"] }";
    for wrong in [
        "raddle = { git = \"https://example.com\", features = [\"full\"] }",
        "raddle = { version = \"0.1\", features = [\"full\"] }",
        "raddle = { path = \"../raddle\", version = \"0.1\", features = [\"full\"] }",
    ] {
        let (findings, written) = check("a.md", wrong);
        assert_eq!(findings, 1, "{wrong}");
        assert!(written.contains(right), "{written}");
    }
    assert_eq!(check("a.md", right).0, 0);
    assert_eq!(check("a.md", "raddle-queue = \"0.1\"").0, 1);
    assert_eq!(check("a.md", &right.replace("full", "fool")).0, 1);
    assert_eq!(check("a.md", "x = { path = \"../raddle/crates/x\" }").0, 1);
    let patch = "[patch.crates-io]\ntokio = { git = \"https://example.com\" }";
    assert_eq!(check("a.md", patch).0, 1);
    let own = "[dependencies]\ntokio = { version = \"1\", features = [\"raddle-tools\"] }";
    assert_eq!(check("a.md", own).0, 0);
}

#[test]
fn two_examples_with_one_name_are_reported() {
    let mut packages = workspace::packages().unwrap();
    assert_eq!(cargo::ambiguous_examples(&packages), [""; 0]);
    let has_example = |it: &&Package| it.targets.iter().any(|it| it.is_example());
    let twice = packages.iter().find(has_example).unwrap().clone();
    let examples = twice.targets.iter().filter(|it| it.is_example()).count();
    packages.push(twice);
    assert_eq!(cargo::ambiguous_examples(&packages).len(), examples);
}

#[test]
fn a_link_to_nothing_is_reported() {
    let page = |text: &str| {
        let page = Path::new("docs/guide/a.md");
        links::check(workspace::root(), page, text).unwrap().len()
    };
    assert_eq!(
        page("[a](../support.md#the-minimum-compiler) [b](https://a.b/c)"),
        0
    );
    assert_eq!(
        page("[a](crate::b) [c\nd](\n../../README.md)\n```rust\na[0](b)\n```\n"),
        0
    );
    assert_eq!(page("[a](no-such.md)"), 1);
    assert_eq!(page("[a](../support.md#no-such)"), 1);
    assert_eq!(
        page("[a](../support.md#the-minimum-compiler)\n[b](../no/such)"),
        1
    );
}
