//! The dependencies of each feature, and the order of the tools' fields.

use std::process::Command;

/// The crates in the dependency tree with the given features, and the features of each.
fn crates(features: &str) -> Vec<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--package", "memdir-cli", "--edges", "normal,build", "--prefix", "none"])
        .args(["--format", "{p} {f}", "--locked", "--offline"])
        .args(["--no-default-features", "--features", features])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    String::from_utf8(tree.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn without_its_feature_nothing_of_it_is_compiled() {
    const SERVERS: [&str; 3] = ["hyper", "tokio", "http-body-util"];
    const MCP: [&str; 1] = ["rmcp"];
    const PAGE: [&str; 4] = ["axum", "maud", "ammonia", "pulldown-cmark"];
    const STORES: [&str; 3] = ["rusqlite", "tokio-postgres", "object_store"];
    for (features, there, absent) in [
        ("", vec![], [&SERVERS[..], &MCP, &PAGE, &STORES].concat()),
        ("mcp", [&SERVERS[..], &MCP].concat(), [&PAGE[..], &STORES].concat()),
        ("page", [&SERVERS[..2], &PAGE].concat(), [&MCP[..], &STORES].concat()),
        ("sqlite,postgres,object-storage", STORES.to_vec(), [&MCP[..], &PAGE].concat()),
    ] {
        let crates = crates(features);
        let has = |name: &str| crates.iter().any(|found| found.split(' ').next() == Some(name));
        for name in there {
            assert!(has(name), "{features:?} is without {name}");
        }
        for name in absent {
            assert!(!has(name), "{features:?} brings {name}");
        }
    }
}

/// A model fills in the fields of a tool in their order in the schema.
#[test]
fn a_server_of_mcp_has_the_fields_in_their_order() {
    let crates = crates("mcp");
    let json = crates.iter().find(|found| found.starts_with("serde_json ")).unwrap();
    assert!(json.contains("preserve_order"), "{json}");
}
