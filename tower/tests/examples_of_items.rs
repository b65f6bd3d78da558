//! Each public item's documentation has an example. (That they compile, and what they assert, the doc tests check.)

use std::fs;
use std::path::{Path, PathBuf};

/// The public items of `source` that have no example, as the lines that declare them.
///
/// An item that others cannot reach is no `pub`: the lint `unreachable_pub` sees to that.
fn without_example<'a>(source: &'a str, module: &impl Fn(&str) -> String) -> Vec<&'a str> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let (mut example, mut in_trait, mut found) = (false, false, Vec::new());
    for line in code.lines() {
        let item = line.trim_start();
        if item.starts_with("#[") {
            continue;
        }
        if let Some(documentation) = item.strip_prefix("///") {
            example |= documentation.trim_start().starts_with("```");
            continue;
        }
        let name = item.strip_prefix("pub mod ").map(|rest| rest.trim_end_matches(';'));
        let has_example = example || name.is_some_and(|name| module(name).contains("//! ```"));
        let declares = ["fn ", "const ", "struct ", "enum ", "trait ", "type ", "static ", "mod "];
        let is_public =
            item.strip_prefix("pub ").is_some_and(|rest| declares.iter().any(|word| rest.starts_with(word)));
        if (is_public || in_trait && item.starts_with("fn ")) && !has_example {
            found.push(item);
        }
        in_trait = line.starts_with("pub trait ") || in_trait && line != "}";
        example = false;
    }
    found
}

/// All files of Rust under `folder`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn every_public_item_has_an_example() {
    let files = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let mut found = Vec::new();
    for file in &files {
        let folder = file.parent().unwrap();
        let module = |name: &str| {
            let places = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
            places.iter().find_map(|place| fs::read_to_string(place).ok()).unwrap()
        };
        let source = fs::read_to_string(file).unwrap();
        found.extend(without_example(&source, &module).iter().map(|item| format!("{}: {item}", file.display())));
    }
    assert!(files.len() > 20, "this is not where the sources are");
    assert!(found.is_empty(), "{} without an example:\n{}", found.len(), found.join("\n"));
}

#[test]
fn an_item_without_an_example_is_found() {
    let source = "
/// Has one.
///
/// ```
/// ```
#[must_use]
pub const fn has() {}

/// Has none.
#[must_use]
pub fn lacks() {}

/// ```
/// ```
pub trait Trait {
    /// None.
    fn lacks_too();
}

pub mod module;
pub mod bare;
fn private() {}
pub(crate) struct Private;
";
    let module = |name: &str| if name == "module" { "//! ```".to_owned() } else { String::new() };
    assert_eq!(without_example(source, &module), ["pub fn lacks() {}", "fn lacks_too();", "pub mod bare;"]);
}
