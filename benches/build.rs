//! Tells the program what it was built from, so that figures measured far from the repository still say so.

use std::process::Command;

fn main() {
    let commit = output("git", &["rev-parse", "HEAD"]);
    let dirty = output("git", &["status", "--porcelain"]).is_some_and(|changes| !changes.is_empty());
    let commit = commit.map(|commit| if dirty { commit + " and changes on top" } else { commit });
    say("COMMIT", commit.as_deref());
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = output(&rustc, &["-vV"]).map(|lines| lines.replace('\n', "; "));
    say("RUSTC", version.as_deref());
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().replace('\u{1f}', " ");
    say("FLAGS", Some(&flags));
    say("TARGET", std::env::var("TARGET").ok().as_deref());
    say("PROFILE", std::env::var("PROFILE").ok().as_deref());
    println!("cargo::rerun-if-changed=build.rs");
    // Each commit and each checkout adds a line there.
    if let Some(log) = output("git", &["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
}

fn say(name: &str, value: Option<&str>) {
    println!("cargo::rustc-env=TOLLGATE_BENCH_{name}={}", value.unwrap_or("unknown"));
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
