//! What a registry shows stands alone: it has no other file of the repository beside it.

use std::fs;
use std::path::Path;

/// The targets of `[text](target)` in a Markdown text.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap())
}

#[test]
fn published_pages_link_to_nothing_in_a_checkout() {
    for page in ["README.md", "CHANGELOG.md"] {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
        let relative: Vec<_> =
            links(&text).filter(|link| !link.starts_with("https://") && !link.starts_with('#')).collect();
        assert!(relative.is_empty(), "{page} links to {relative:?}");
    }
}

#[test]
fn links_are_found_across_lines() {
    let text = "See [here](https://example.org), [a folder\nof results](results/) and [below](#below).";
    assert_eq!(links(text).collect::<Vec<_>>(), ["https://example.org", "results/", "#below"]);
}
