//! Which crate knows which: what ARCHITECTURE.md allows, and nothing else.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

type Edges = BTreeSet<(String, String)>;

/// The lines `a -> b c` between ```` ```crates ```` and the end of that block.
fn allowed(document: &str) -> Edges {
    let block = document.split_once("```crates\n").and_then(|(_, rest)| rest.split_once("```"));
    let (block, _) = block.expect("ARCHITECTURE.md has a block that begins with ```crates");
    let line = |line: &str| -> Vec<(String, String)> {
        let (from, to) =
            line.split_once("->").unwrap_or_else(|| panic!("{line:?} is not written `a -> b c`"));
        to.split_whitespace().map(|to| (from.trim().to_owned(), to.to_owned())).collect()
    };
    block.lines().filter(|text| !text.trim().is_empty()).flat_map(line).collect()
}

/// The normal dependencies between the crates in `crates/`. Tests and tools may use what they like.
fn actual(root: &Path) -> Edges {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages: Vec<&Value> = metadata["packages"].as_array().unwrap().iter().collect();
    let crates = root.join("crates").display().to_string();
    let ours = |package: &Value| package["manifest_path"].as_str().unwrap().starts_with(&crates);
    let names: BTreeSet<&str> = packages.iter().map(|package| package["name"].as_str().unwrap()).collect();
    let edges = packages.iter().filter(|package| ours(package)).flat_map(|package| {
        let from = package["name"].as_str().unwrap().to_owned();
        let normal = package["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|dependency| dependency["kind"].is_null());
        let to = normal.filter_map(|dependency| names.get(dependency["name"].as_str().unwrap()));
        to.map(move |to| (from.clone(), (*to).to_owned())).collect::<Vec<_>>()
    });
    edges.collect()
}

fn in_words(edges: &[&(String, String)]) -> String {
    edges.iter().map(|(from, to)| format!("{from} -> {to}")).collect::<Vec<_>>().join(", ")
}

#[test]
fn crates_depend_on_each_other_as_architecture_md_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let document = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let (allowed, actual) = (allowed(&document), actual(root));
    let added: Vec<_> = actual.difference(&allowed).collect();
    assert!(added.is_empty(), "ARCHITECTURE.md does not allow these dependencies: {}", in_words(&added));
    let gone: Vec<_> = allowed.difference(&actual).collect();
    assert!(gone.is_empty(), "ARCHITECTURE.md lists dependencies that do not exist: {}", in_words(&gone));
}

#[test]
fn dependencies_point_one_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut left = actual(root);
    // What depends on nothing that is left is taken away, until nothing remains or a circle does.
    loop {
        let with_needs: BTreeSet<String> = left.iter().map(|(from, _)| from.clone()).collect();
        let before = left.len();
        left.retain(|(_, to)| with_needs.contains(to));
        if left.len() == before {
            break;
        }
    }
    assert!(left.is_empty(), "a circle: {}", in_words(&left.iter().collect::<Vec<_>>()));
}

#[test]
fn the_block_is_read_line_by_line() {
    let edges = allowed("# Crates\n```crates\na -> b c\n\nb -> c\n```\nmore\n");
    let expected = [("a", "b"), ("a", "c"), ("b", "c")].map(|(from, to)| (from.to_owned(), to.to_owned()));
    assert_eq!(edges, Edges::from(expected));
}
