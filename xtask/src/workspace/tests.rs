use super::*;

#[test]
fn metadata_is_read() {
    let metadata = serde_json::json!({ "packages": [{
        "name": "raddle-task",
        "manifest_path": "/w/crates/task/Cargo.toml",
        "dependencies": [
            { "name": "raddle-queue", "kind": null },
            { "name": "tokio", "kind": "dev" },
        ],
        "features": { "default": [], "tracing": ["dep:tracing"] },
    }]});
    let packages = parse(Path::new("/w"), &metadata).unwrap();
    assert_eq!(packages.len(), 1);
    assert_eq!(packages[0].name, "raddle-task");
    assert_eq!(packages[0].dir, Path::new("crates/task"));
    assert!(packages[0].has_features);
    let dependencies: Vec<_> = packages[0]
        .dependencies
        .iter()
        .map(|dependency| (dependency.name.as_str(), dependency.dev))
        .collect();
    assert_eq!(dependencies, [("raddle-queue", false), ("tokio", true)]);
}

#[test]
fn this_workspace_holds_xtask() {
    let packages = packages(&root()).unwrap();
    assert!(packages.iter().any(|package| package.name == "xtask"));
}
