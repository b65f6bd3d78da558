//! `accuracy` as a user runs it: what it prints, and how it exits.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the harness in this folder.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tollgate-bench")).args(arguments).current_dir(folder).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The cells of the first line that starts with this.
fn cells<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    let line = text.lines().find(|line| line.trim_start().starts_with(start));
    line.unwrap_or_else(|| panic!("no {start} in\n{text}")).split_whitespace().collect()
}

/// One arrival a second from `a`, and two of `b`.
fn small_log() -> String {
    let a: Vec<_> = (0..100).map(|second| format!("{},a", second * 1000)).collect();
    format!("t_ms,client\n{}\n100000,b\n100000,b\n", a.join("\n"))
}

#[test]
fn accuracy_on_a_small_scale() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("accuracy");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("mine.csv"), small_log()).unwrap();
    let arguments =
        ["accuracy", "--arrivals", "5000", "--keys", "100", "--file", "mine.csv", "--csv", "a.csv", "--svg", "s/a.svg"];
    let output = run(&folder, &arguments);
    let text = stdout(&output);
    let most = text.split("The most admitted").nth(1).unwrap();
    let attack = cells(most, "boundary-attack");
    for through in ["200", "101", "100"] {
        assert!(attack.contains(&through), "{attack:?}");
    }
    assert!(text.contains("mine.csv"), "{text}");
    let rows = fs::read_to_string(folder.join("a.csv")).unwrap();
    assert!(
        rows.lines()
            .any(|row| row.starts_with("accuracy,boundary-attack,fixed-window,100,60000000000,100,200,1,200,0,")),
        "{rows}"
    );
    assert!(fs::read_to_string(folder.join("s/a.svg")).unwrap().contains("boundary-attack"));

    let output = run(&folder, &["accuracy", "--arrivals", "5000", "--keys", "100", "--file", "none.csv"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot read none.csv"));
}
