//! The program as a user runs it: what they print, and how they exit.

mod reading;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder of its own for one test.
fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs the program in this folder, with this on standard input.
fn run_with_input(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tollgate-replay"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let _ = stdin.write_all(input); // it need not be read
    drop(stdin);
    child.wait_with_output().unwrap()
}

/// Replays a file of this content.
fn replay(test: &str, content: &[u8], options: &[&str]) -> Output {
    let folder = folder(test);
    fs::write(folder.join("log"), content).unwrap();
    run_with_input(&folder, &[&["log"], options].concat(), b"")
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
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
fn a_log_in_csv() {
    let output = replay("csv", small_log().as_bytes(), &["--limit", "30", "--per", "1m"]);
    let text = stdout(&output);
    assert!(text.starts_with("log: 102 arrivals from 2 keys within 1 min 40 s\n"), "{text}");
    assert!(text.contains("client the key"), "{text}");
    // 30 at once, then 30 a minute: at 0 to 59 s the even seconds' tokens, and so on to 99 s.
    assert_eq!(cells(&text, "token-bucket")[1..3], ["81", "21"]);
    assert_eq!(cells(&text, "fixed-window")[1..3], ["62", "40"]);
    assert_eq!(cells(&text, "exact-log")[1..3], ["62", "40"]);
    assert_eq!(cells(&text, "a ")[1], "100");
    assert!(!text.contains("\n b "), "a key that nobody denies is none of the worst: {text}");
    assert_eq!(stderr(&output), "");
}

#[test]
fn a_log_of_a_web_server() {
    let line = |second, host| {
        format!("{host} - - [10/Oct/2000:13:55:{second:02} -0700] \"GET / HTTP/1.0\" 200 2326 \"-\" \"Mozilla/4.08\"\n")
    };
    let content: String = (0..5).flat_map(|second| [line(second, "10.0.0.1"), line(second, "2001:db8::1")]).collect();
    let text = stdout(&replay("clf", content.as_bytes(), &["--limit", "3", "--per", "1m"]));
    assert!(text.starts_with("log: 10 arrivals from 2 keys within 4 s\n"), "{text}");
    assert!(text.contains("Common Log Format"), "{text}");
    assert_eq!(cells(&text, "exact-log")[1..3], ["6", "4"]);

    let options = ["--limit", "5000", "--per", "1m", "--cost", "bytes", "--algorithm", "token-bucket"];
    let text = stdout(&replay("clf", content.as_bytes(), &options));
    assert!(text.contains("column bytes is the cost"), "{text}");
    assert_eq!(cells(&text, "token-bucket")[1..3], ["4", "6"]);
}

#[test]
fn one_limiter_for_all() {
    let text = stdout(&replay("all", b"0,a\n0,b\n0,c\n", &["--limit", "2", "--key", "all"]));
    assert!(text.starts_with("log: 3 arrivals within 0 s\n"), "{text}");
    assert_eq!(cells(&text, "token-bucket")[1..3], ["2", "1"]);
    assert!(!text.contains("worst"), "{text}");
}

#[test]
fn standard_input() {
    let output = run_with_input(&folder("stdin"), &["-"], b"0,a\n5,b\n");
    assert!(stdout(&output).starts_with("-: 2 arrivals from 2 keys"));
}

#[test]
fn lines_that_cannot_be_read_are_counted_and_the_first_is_shown() {
    let mut content = b"0,a\n-5,a\nnonsense\n1.5x,a\n".to_vec();
    content.extend(b"oops\n".repeat(10));
    content.extend_from_slice(b"7000,a\n6000,a\n\xFF,a\n");
    let text = stdout(&replay("malformed", &content, &[]));
    assert!(text.starts_with("log: 3 arrivals from 1 key within 7 s\n"), "{text}");
    assert!(text.contains("14 lines could not be read; the first is log:2: time is negative: \"-5\""), "{text}");
    assert!(text.contains("1 line came after a newer one"), "{text}");
}

/// Exit code 1, nothing on standard output, and a message that says why.
fn fails(test: &str, content: &[u8], options: &[&str], why: &str) {
    let output = replay(test, content, options);
    assert_eq!(output.status.code(), Some(1), "{test}: {}", String::from_utf8_lossy(&output.stdout));
    assert!(output.stdout.is_empty(), "{test}");
    assert!(stderr(&output).contains(why), "{test}: {}", stderr(&output));
}

#[test]
fn nothing_readable_is_a_failure() {
    fails("empty", b"", &[], "log holds no arrival: it is empty");
    fails("blank", b"\n\n", &[], "it is empty");
    fails("header", b"t_ms,key\n", &[], "it is empty");
    fails("noise", b"\xFF\xFE\0\nzzz\n", &[], "no line of log could be read as an arrival (2 rejected)");
    fails("wrong-format", b"0,a\n", &["--format", "clf"], "no line of log could be read");
    fails("zstd", b"\x28\xB5\x2F\xFD\0", &[], "log is compressed by zstd");
    fails("gzip", b"\x1F\x8B\x08\0", &[], "cannot read log");
    fails("no-column", b"t_ms,key,bytes\n0,a,5\n", &["--cost", "size"], "no field size; there are t_ms, key, bytes");
    fails("no-where", b"t_ms,key\n0,a\n", &["--where", "status=200"], "no field status");
    fails("none-asked-for", b"t_ms,key,status\n0,a,404\n", &["--where", "status=200"], "none of the 1 requests");
    fails("zero-limit", b"0,a\n", &["--limit", "0"], "not a limit");
    fails("zero-period", b"0,a\n", &["--limit", "5", "--per", "0s"], "not a limit");
    fails("two-periods", b"0,a\n", &["--limit", "5/s", "--per", "1m"], "not a limit");
    fails("no-room", b"0,a\n", &["--limit", "1000000/s", "--algorithm", "packed"], "packed cannot hold");
}

#[test]
fn an_algorithm_that_cannot_hold_the_limit_is_an_error_and_not_dropped() {
    fails("vast-log", b"0,a\n", &["--algorithm", "sliding-log", "--limit", "5000000000"], "sliding-log cannot hold");
    let output = replay("no-table", b"0,a\n", &["--algorithm", "keyed", "--capacity", "0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("a table for no key"), "{}", stderr(&output));
}

#[test]
fn suggestions_plots_and_json() {
    let options = ["--suggest", "--plot", "x.svg", "--algorithm", "token-bucket", "--limit", "30/min"];
    let text = stdout(&replay("suggest", small_log().as_bytes(), &options));
    assert!(text.contains("a limit of 40/min with a burst of 40 would have denied nobody"), "{text}");
    assert!(text.contains("would have denied"), "{text}");
    let svg = fs::read_to_string(folder("suggest").join("x.svg")).unwrap();
    assert!(
        svg.contains("offered") && svg.contains("admitted by token-bucket") && svg.contains("21 of 100 denied"),
        "{svg}"
    );
}

#[test]
fn results_are_never_written_over_a_log_or_found_unwritable_at_the_end() {
    fails("over-log", b"0,a\n", &["--csv", "log"], "it is one of the logs");
    assert_eq!(fs::read(folder("over-log").join("log")).unwrap(), b"0,a\n");
    let before = fs::read_dir(folder("unwritable-first")).unwrap().count();
    // A log that cannot be read would be noticed first if the destination were not.
    fails("unwritable-first", b"", &["--csv", "no/such/folder/x.csv"], "cannot write no/such/folder/x.csv");
    fails("unwritable-plot", b"", &["--plot", "no/such/folder/x.svg"], "cannot write no/such/folder/x.svg");
    fails("left-behind", b"", &["--csv", "new.csv"], "it is empty");
    assert!(!folder("left-behind").join("new.csv").exists() && before <= 1);
}

#[test]
fn an_unreadable_file_is_a_failure() {
    let folder = folder("unreadable");
    for (file, why) in [("no-such-file", "cannot read no-such-file"), (".", "cannot read .")] {
        let output = run_with_input(&folder, &[file], b"");
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
    let output = run_with_input(&folder, &[], b"");
    assert_eq!(output.status.code(), Some(2), "a usage error");
}

#[test]
fn what_does_not_fit_is_left_out_of_all() {
    let output = replay("left-out", b"0,a\n", &["--limit", "1000000", "--per", "1s"]);
    assert!(stderr(&output).starts_with("left out: packed: "), "{}", stderr(&output));
    assert!(!stdout(&output).contains("packed"));
}

#[test]
fn a_table_for_all_keys_refuses_newcomers_once_it_is_full() {
    let lines: Vec<_> = (0..200).map(|key| format!("0,k{key}")).collect();
    let content = lines.join("\n");
    let options = ["--limit", "5", "--algorithm", "token-bucket,keyed", "--capacity", "20", "--csv", "rows.csv"];
    let text = stdout(&replay("table", content.as_bytes(), &options));
    assert!(text.contains("keyed has room for 20 keys in debt at once"), "{text}");
    assert_eq!(cells(&text, "token-bucket")[1..3], ["200", "0"]);
    let row = cells(&text, "keyed  ");
    let [admitted, denied] = [1, 2].map(|cell: usize| row[cell].parse::<u32>().unwrap());
    assert!(admitted >= 20 && denied > 100 && admitted + denied == 200, "{text}");
    assert_eq!(row.last(), Some(&row[2]), "all of the refused were refused a place: {text}");
    let rows = fs::read_to_string(folder("table").join("rows.csv")).unwrap();
    let row = rows.lines().find(|row| row.contains(",keyed,")).unwrap();
    assert!(row.ends_with(&format!(",{denied},20")), "{rows}");

    assert!(!stdout(&replay("roomy", b"0,a\n", &["--algorithm", "packed"])).contains("room"));
}

#[test]
fn rows_for_machines() {
    let output = replay("rows", small_log().as_bytes(), &["--limit", "30", "--csv", "rows.csv"]);
    assert!(output.status.success());
    let mut reader = csv::Reader::from_path(folder("rows").join("rows.csv")).unwrap();
    let header = reader.headers().unwrap().clone();
    let at = |name| header.iter().position(|field| field == name).unwrap();
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    let row = rows.iter().find(|row| &row[at("engine")] == "fixed-window").unwrap();
    for (field, value) in [
        ("bench", "replay"),
        ("file", "log"),
        ("limit", "30"),
        ("per_ns", "60000000000"),
        ("admitted", "62"),
        ("denied", "40"),
    ] {
        assert_eq!(&row[at(field)], value, "{field}");
    }
    assert_eq!(&rows[rows.len() - 1][at("engine")], "exact-log");
}
