use super::*;

#[test]
fn metadata_gives_packages_with_their_dependencies() {
    let metadata = serde_json::json!({ "packages": [{
        "name": "raddle-task",
        "version": "0.1.0",
        "manifest_path": "/w/crates/task/Cargo.toml",
        "dependencies": [
            { "name": "raddle-queue", "kind": null, "path": "/w/crates/queue" },
            { "name": "tokio", "kind": "dev" },
        ],
        "features": { "default": [], "tracing": ["dep:tracing"] },
    }]});
    let packages = parse(Path::new("/w"), &metadata).unwrap();
    assert_eq!(packages.len(), 1);
    assert_eq!(packages[0].name, "raddle-task");
    assert_eq!(packages[0].dir, Path::new("crates/task"));
    assert_eq!(packages[0].spec, "raddle-task@0.1.0");
    assert_eq!(packages[0].features, ["tracing"]);
    let dependencies: Vec<_> = packages[0]
        .dependencies
        .iter()
        .map(|dependency| (dependency.name.as_str(), dependency.dev, dependency.local))
        .collect();
    assert_eq!(
        dependencies,
        [("raddle-queue", false, true), ("tokio", true, false)]
    );
}

#[test]
fn this_workspace_holds_xtask() {
    let packages = packages(&root()).unwrap();
    assert!(packages.iter().any(|package| package.name == "xtask"));
}
