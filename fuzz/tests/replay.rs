//! Tries the committed inputs of every fuzz target again: seeds that add coverage, and what once broke something.

use core::panic::AssertUnwindSafe;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// The inputs in a folder, which need not exist.
fn inputs(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn seeds_and_regressions_pass() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, target) in tollgate_fuzz::TARGETS {
        let seeds = inputs(&fuzz.join("seeds").join(name));
        assert!(!seeds.is_empty(), "{name} has no seeds");
        for file in seeds.into_iter().chain(inputs(&fuzz.join("regressions").join(name))) {
            let data = fs::read(&file).unwrap();
            let outcome = catch_unwind(AssertUnwindSafe(|| target(&data)));
            assert!(outcome.is_ok(), "{} fails; why is printed above", file.display());
        }
    }
}

#[test]
fn every_folder_and_every_program_belongs_to_a_target() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["seeds", "regressions", "fuzz_targets"] {
        for file in inputs(&fuzz.join(folder)) {
            let name = file.file_stem().unwrap().to_str().unwrap();
            assert!(
                tollgate_fuzz::TARGETS.iter().any(|(target, _)| *target == name),
                "{} is left over",
                file.display()
            );
        }
    }
    for (name, _) in tollgate_fuzz::TARGETS {
        assert!(fuzz.join("fuzz_targets").join(name).with_extension("rs").exists(), "{name} has no program");
    }
}
