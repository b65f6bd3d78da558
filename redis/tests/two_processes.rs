//! The example of that name as its users run it.

use std::process::{Command, Stdio};

#[test]
fn two_processes_share_a_limit() {
    if Command::new("redis-server").arg("--version").stdout(Stdio::null()).status().is_err() {
        assert!(std::env::var_os("TOLLGATE_REQUIRE_REDIS").is_none(), "no redis-server, and one is required");
        println!("NOT CHECKED: no redis-server");
        return;
    }
    // Cargo builds examples beside its tests.
    let here = std::env::current_exe().unwrap();
    let example = here.parent().unwrap().parent().unwrap().join("examples/two_processes");
    let output = Command::new(example).output().expect("the example is built: run all of the package's tests");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    // That it was within the bound, the example has seen; that both got something is seen here.
    let admitted = |line: &str| line.split_once("process: ")?.1.strip_suffix(" admitted")?.parse::<u64>().ok();
    let admitted: Vec<_> = text.lines().filter_map(admitted).collect();
    assert!(admitted.len() == 2 && admitted.iter().all(|&count| count > 0), "{text}");
}
