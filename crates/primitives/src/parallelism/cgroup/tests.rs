use super::{cores_allowed, rounded_up, whole_cores};

#[test]
fn a_quota_is_rounded_up_to_whole_cores() {
    assert_eq!(rounded_up("50000 100000\n"), Some(1));
    assert_eq!(rounded_up("100000 100000\n"), Some(1));
    assert_eq!(rounded_up("150000 100000\n"), Some(2));
    assert_eq!(rounded_up("200000 100000\n"), Some(2));
    assert_eq!(rounded_up("0 100000\n"), Some(1));
}

#[test]
fn a_missing_or_malformed_quota_is_no_limit() {
    for text in ["max 100000\n", "", "100000", "100000 0\n", "many 100000\n"] {
        assert_eq!(rounded_up(text), None, "{text:?}");
    }
}

#[test]
fn each_core_that_is_allowed_counts() {
    assert_eq!(cores_allowed("Name:\tx\nCpus_allowed:\tf\n"), Some(4));
    let mask = "Cpus_allowed:\tff,00000000,00000001\nCpus_allowed_list:\t0,64-71\n";
    assert_eq!(cores_allowed(mask), Some(9));
    assert_eq!(cores_allowed("Cpus_allowed:\t0\n"), None);
    assert_eq!(cores_allowed("Name:\tx\n"), None);
}

#[test]
fn the_least_quota_from_the_group_up_to_the_root_counts() {
    let root = std::env::temp_dir().join(format!("raddle-cgroup-{}", std::process::id()));
    let inner = root.join("pod/container");
    std::fs::create_dir_all(&inner).unwrap();
    let groups = "4:memory:/else\n0::/pod/container\n";
    assert_eq!(whole_cores(&root, groups), None);
    std::fs::write(inner.join("cpu.max"), "350000 100000\n").unwrap();
    assert_eq!(whole_cores(&root, groups), Some(4));
    std::fs::write(root.join("pod/cpu.max"), "150000 100000\n").unwrap();
    assert_eq!(whole_cores(&root, groups), Some(2));
    // In a cgroup namespace the group of the process is the root.
    assert_eq!(whole_cores(&root.join("pod"), "0::/\n"), Some(2));
    assert_eq!(whole_cores(&root, "0::/\n"), None);
    assert_eq!(whole_cores(&root, "4:cpu:/pod\n"), None);
    std::fs::remove_dir_all(&root).unwrap();
}
