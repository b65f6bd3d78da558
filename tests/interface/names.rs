//! The crate in `tests/names`, which is checked with each feature, leaves out no name.

use std::fs;
use std::path::Path;

/// The identifiers of `text`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

#[test]
fn every_public_name_is_named() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let (names, mut missing) = (read("tests/names/src/lib.rs"), Vec::new());
    let mut found = 0;
    for file in ["src/lib.rs", "src/algorithm/mod.rs", "src/keyed/mod.rs"] {
        // Up to the first module in the file itself: what stands there is hidden.
        let text = read(file);
        let public = text.split("\npub mod loom_support").next().unwrap();
        for export in public.split("\npub use ").skip(1) {
            let (export, before) = (export.split(';').next().unwrap(), public.split(export).next().unwrap());
            if before.ends_with("#[doc(hidden)]\npub use ") {
                continue;
            }
            // Types and traits: what begins with a capital.
            for name in words(export).filter(|word| word.starts_with(char::is_uppercase)) {
                found += 1;
                if !words(&names).any(|word| word == name) {
                    missing.push(name.to_owned());
                }
            }
        }
    }
    assert!(found > 40, "{found} names are not all there are");
    assert!(missing.is_empty(), "tests/names does not name {missing:?}");
}
