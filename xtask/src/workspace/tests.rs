use super::*;

#[test]
fn packages_have_their_features_and_dependencies() {
    let packages = packages().unwrap();
    let find = |name: &str| {
        packages
            .iter()
            .find(|package| package.name == name)
            .unwrap()
    };
    assert_eq!(find("xtask").dir, Path::new("xtask"));
    let proof = find("raddle-proof");
    let depends = |name: &str, dev, local| {
        let mut dependencies = proof.dependencies.iter();
        dependencies.any(|it| it.name == name && it.dev == dev && it.local == local)
    };
    assert!(depends("raddle-task", false, true) && depends("tokio", true, false));
    let tokio = find("tokio");
    assert!(tokio.spec.starts_with("tokio@1.") && tokio.features.contains(&"net".to_owned()));
    assert!(!tokio.features.contains(&"default".to_owned()));
    assert!(tokio.suites.is_empty());
    assert!(find("raddle-queue").suites.contains("loom_slot"));
}
