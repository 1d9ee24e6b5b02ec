use serde_json::json;

use super::*;

/// A facade that re-exports a module and a type of another crate.
#[test]
fn items_are_found_in_the_crate_that_has_them() {
    let facade = json!({
        "root": 0,
        "index": {
            "0": {"name": "facade", "inner": {"module": {"items": [1, 2, 5]}}},
            "1": {"inner": {"use": {"id": 7, "name": "Renamed", "is_glob": false}}},
            "2": {"name": "inside", "inner": {"module": {"items": [3]}}},
            "3": {"inner": {"use": {"id": 8, "name": "layer", "is_glob": true}}},
            "5": {"inner": {"use": {"id": 9, "name": "Foreign", "is_glob": false}}}
        },
        "paths": {
            "7": {"crate_id": 4, "path": ["layer", "Type"], "kind": "struct"},
            "8": {"crate_id": 4, "path": ["layer"], "kind": "module"},
            "9": {"crate_id": 6, "path": ["std", "Foreign"], "kind": "struct"}
        },
        "external_crates": {"4": {"name": "layer"}, "6": {"name": "std"}}
    });
    let layer = json!({
        "root": 0,
        "index": {
            "0": {"name": "layer", "inner": {"module": {"items": [1, 4]}}},
            "1": {"name": "Type", "docs": "```", "inner": {"struct": {"impls": [2, 5]}}},
            "2": {"inner": {"impl": {"trait": null, "items": [3]}}},
            "3": {"name": "wait", "inner": {"function": {
                "header": {"is_async": true}, "sig": {"output": null}
            }}},
            "4": {"name": "make", "inner": {"function": {
                "header": {"is_async": false}, "sig": {"output": null}
            }}},
            "5": {"inner": {"impl": {"trait": {"path": "Clone"}, "items": [4]}}}
        },
        "paths": {
            "0": {"crate_id": 0, "path": ["layer"], "kind": "module"},
            "1": {"crate_id": 0, "path": ["layer", "Type"], "kind": "struct"}
        },
        "external_crates": {}
    });
    let docs = [("facade", facade), ("layer", layer)].map(|(name, json)| (name.to_owned(), json));
    let items = Docs(docs.into()).items("facade").unwrap();
    let paths: Vec<_> = items.keys().map(String::as_str).collect();
    assert_eq!(
        paths,
        [
            "Foreign",
            "Renamed",
            "inside",
            "inside::Type",
            "inside::make"
        ]
    );
    assert!(items["Foreign"].is_foreign);
    for path in ["Renamed", "inside::Type"] {
        assert_eq!(items[path].kind, "struct");
        assert_eq!(items[path].members, [("wait".to_owned(), true)].into());
        assert_eq!(items[path].without_example, ["wait".to_owned()].into());
    }
    assert!(!items["inside::make"].is_future);
}
