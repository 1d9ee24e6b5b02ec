use std::fs;

use quote::ToTokens as _;

use super::*;

#[test]
fn a_dependency_that_renames_the_package_gives_its_name() {
    let inline =
        "[dependencies]\nserde = \"1\"\ntokio = { version = \"0.1\", package = \"raddle\" }";
    assert_eq!(rename(inline, "raddle").as_deref(), Some("tokio"));
    let table = "[dev-dependencies.rt]\npackage = \"raddle\"\nversion = \"0.1\"";
    assert_eq!(rename(table, "raddle").as_deref(), Some("rt"));
    let target = "[target.'cfg(unix)'.dependencies]\n\"rt\" = {package=\"raddle\"}";
    assert_eq!(rename(target, "raddle").as_deref(), Some("rt"));
}

#[test]
fn a_manifest_that_does_not_rename_the_facade_gives_no_name() {
    for manifest in [
        "[dependencies]\nraddle = \"0.1\"",
        "[package]\nname = \"raddle\"",
        "[dependencies]\nqueue = { package = \"raddle-queue\", version = \"1\" }",
        "[dependencies]\nraddle.workspace = true\nrt = { package = \"raddle\", version = \"1\" }",
        "[dependencies.raddle]\nversion = \"1\"",
        "[features]\npackage = [\"raddle\"]",
    ] {
        assert_eq!(rename(manifest, "raddle"), None, "{manifest}");
    }
}

#[test]
fn an_inherited_dependency_has_the_name_that_its_workspace_gives() {
    let root = env::temp_dir().join(format!("raddle-macros-{}", std::process::id()));
    let member = root.join("crates/member");
    fs::create_dir_all(&member).unwrap();
    let workspace = "[workspace.dependencies]\nrt = { package = \"raddle\", version = \"1\" }";
    fs::write(root.join("Cargo.toml"), workspace).unwrap();
    fs::write(
        member.join("Cargo.toml"),
        "[dependencies]\nrt.workspace = true",
    )
    .unwrap();
    assert_eq!(name_in(&member, "raddle").as_deref(), Some("rt"));
    fs::write(member.join("Cargo.toml"), "[dependencies]\nother = \"1\"").unwrap();
    assert_eq!(name_in(&member, "raddle"), None);
    fs::remove_dir_all(&root).unwrap();
}

#[test]
fn without_a_rename_a_facade_is_found_by_its_package_name() {
    let path = |facade: Facade| facade.path().to_token_stream().to_string();
    assert_eq!(path(Facade::Raddle), ":: raddle");
    assert_eq!(path(Facade::Tokio), "tokio");
}
