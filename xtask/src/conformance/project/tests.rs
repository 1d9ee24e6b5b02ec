use super::*;

#[test]
fn a_file_with_paths_into_its_crate_is_no_module() {
    let module = "use tokio::sync;\n// crate::x\nmacro_rules! m { () => { $crate::x } }";
    assert!(may_be_module(module).unwrap());
    assert!(!may_be_module("use crate::support;").unwrap());
    assert!(!may_be_module("#[macro_use]\nextern crate x;").unwrap());
}
