//! The program as a user runs it: what they print, and how they exit.

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

/// The clients that a log is read as having, of one arrival each.
fn clients(test: &str, content: &[u8], options: &[&str]) -> Vec<String> {
    let options = [&["--limit", "1000", "--cost", "one", "--output", "json"], options].concat();
    let output = replay(test, content, &options);
    let found: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let first = found["files"][0]["first_client"].as_str().unwrap().to_owned();
    vec![first, found["keys"].to_string(), found["rejected_lines"].to_string()]
}

const REST: &str = "- - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 2326";

#[test]
fn the_right_client_or_a_refusal_in_logs_of_web_servers() {
    for (test, before) in [
        ("plain", "192.0.2.7"),
        ("vhost", "www.example.com:443 192.0.2.7"),
        ("vhost-address", "198.51.100.1:443 192.0.2.7"),
        ("forwarded-list", "192.0.2.7, 198.51.100.54"),
        ("number-before", "336 192.0.2.7"),
        ("with-port", "192.0.2.7:51000"),
        ("mapped", "::ffff:192.0.2.7"),
        ("syslog", "Oct 10 13:55:36 10.0.0.5 nginx[12]: 192.0.2.7"),
        ("compose", "web_1  | 192.0.2.7"),
        ("node", "2000-10-10T20:55:36.123456789Z stdout F 192.0.2.7"),
    ] {
        let content = format!("{before} {REST}\n192.0.2.7 {REST}\n");
        assert_eq!(clients(test, content.as_bytes(), &[]), ["192.0.2.7", "1", "0"], "{before}");
    }
    for (test, before) in [
        ("two-addresses", "198.51.100.1 192.0.2.7"),
        ("no-address", "336"),
        ("broken-address", "0.113.4"),
        ("bad-address", "192.0.2.007"),
    ] {
        fails(test, format!("{before} {REST}\n").as_bytes(), &[], "could be read as an arrival");
    }
    let two = format!("198.51.100.1 192.0.2.7 {REST}\n");
    assert_eq!(clients("two-second", two.as_bytes(), &["--key", "2"])[0], "192.0.2.7");
}

#[test]
fn nul_bytes_of_a_truncated_log_are_no_part_of_a_client() {
    for count in [1, 3_000, 65_535] {
        let nuls = vec![0; count];
        let line = format!("192.0.2.7 {REST}\n").into_bytes();
        let start = [&nuls[..], &line, &line].concat();
        assert_eq!(clients("nul-start", &start, &[]), ["192.0.2.7", "1", "0"], "{count}");
        let between = [&line[..], &nuls, &line].concat();
        assert_eq!(clients("nul-between", &between, &[]), ["192.0.2.7", "1", "0"], "{count}");
        let within = [&line[..], &line[..20], &nuls, &line, &line].concat();
        assert_eq!(clients("nul-within", &within, &[]), ["192.0.2.7", "1", "1"], "{count}");
    }
}

#[test]
fn a_log_behind_a_proxy_is_refused_until_the_client_is_named() {
    let line = |client| format!("10.0.0.1 {REST} \"-\" \"Mozilla/4.08\" \"{client}\"\n");
    let content = format!("{}{}", line("192.0.2.7"), line("198.51.100.9, 10.0.0.2"));
    fails("proxy", content.as_bytes(), &[], "say which field is the client");
    assert_eq!(clients("proxy-forwarded", content.as_bytes(), &["--key", "forwarded"]), ["192.0.2.7", "2", "0"]);
    assert_eq!(clients("proxy-host", content.as_bytes(), &["--key", "host"]), ["10.0.0.1", "1", "0"]);
}

#[test]
fn headers_of_any_letters_and_columns_in_any_order() {
    for (test, content) in [
        ("dotted", "timestamp,source.ip,bytes\n1700000000,192.0.2.7,5000\n"),
        ("bracket", "@timestamp,[client][ip],größe\n1700000000,192.0.2.7,5000\n"),
        ("comment", "# made by hand\ntimestamp,source.ip,bytes\n1700000000,192.0.2.7,5000\n"),
        ("order", "id,bytes,client_ip,time\n42,5000,192.0.2.7,2023-11-14T22:13:20Z\n"),
        ("no-header", "192.0.2.7,1700000000\n"),
        ("tabs", "time\tclient\n1700000000.5\t192.0.2.7\n"),
        ("semicolons", "time;client\n2023-11-14 22:13:20,5;192.0.2.7\n"),
        ("quoted-list", "time,client\n1700000000,\"192.0.2.7, 198.51.100.54\"\n"),
    ] {
        let output = replay(test, content.as_bytes(), &["--output", "json"]);
        let found: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        let file = &found["files"][0];
        assert_eq!(file["first_client"], "192.0.2.7", "{test}");
        assert_eq!(file["first_cost"], 1, "{test}: bytes are no cost unless it is said");
        assert!(file["first_time"].as_str().unwrap().starts_with("2023-11-14 22:13:20"), "{test}: {file}");
    }
    fails("two-clients", b"time,source.ip,client.ip\n1700000000,192.0.2.7,192.0.2.8\n", &[], "--key says which");
    fails("shifted", b"time,client\n1700000000,192.0.2.7, 198.51.100.54\n", &[], "3 fields where there are 2");
}

#[test]
fn epoch_seconds_are_not_read_as_milliseconds() {
    let lines: Vec<_> = (0..60).map(|second| format!("{},a\n", 1_700_000_000 + second)).collect();
    let lines = lines.concat();
    let text = stdout(&replay("seconds", lines.as_bytes(), &[]));
    assert!(text.starts_with("log: 60 arrivals from 1 key within 59 s\n"), "{text}");
    fails("no-unit", b"time,client\n12,a\n", &[], "--time-unit says it");
    let text = stdout(&replay("unit", b"time,client\n12,a\n15,a\n", &["--time-unit", "s"]));
    assert!(text.contains("within 3 s"), "{text}");
}

#[test]
fn json_lines_of_nginx_caddy_and_traefik() {
    for (test, line) in [
        (
            "nginx",
            r#"{"time_local":"10/Oct/2000:13:55:36 -0700","remote_addr":"192.0.2.7","request":"GET / HTTP/1.1","status":"200"}"#,
        ),
        ("nginx-msec", r#"{"msec":"971211336.123","remote_addr":"192.0.2.7","request_time":"0.5"}"#),
        (
            "caddy",
            r#"{"level":"info","ts":971211336.5241024,"logger":"http.log.access","request":{"remote_ip":"10.0.0.1","remote_port":"41342","client_ip":"192.0.2.7","headers":{"User-Agent":["curl/7.82.0"]}},"size":10900,"status":200}"#,
        ),
        (
            "traefik",
            r#"{"ClientAddr":"192.0.2.7:51000","ClientHost":"192.0.2.7","StartUTC":"2000-10-10T20:55:36.123456789Z","time":"2000-10-10T20:55:37Z"}"#,
        ),
        ("escaped", r#"{"time":"2000-10-10T20:55:36Z","client":"192.0.2\u002e7"}"#),
    ] {
        let output = replay(test, format!("{line}\n").as_bytes(), &["--output", "json"]);
        let found: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(found["files"][0]["first_client"], "192.0.2.7", "{test}");
        assert!(
            found["files"][0]["first_time"].as_str().unwrap().starts_with("2000-10-10 20:55:36"),
            "{test}: {found}"
        );
    }
    let twice = br#"{"time":"2000-10-10T20:55:36Z","client":"192.0.2.7","client":"192.0.2.8"}"#;
    fails("twice", twice, &[], "there twice");
    let unknown = br#"{"time":"2000-10-10T20:55:36Z","who":"192.0.2.7"}"#;
    fails("unknown", unknown, &[], "--key says it");
    assert_eq!(clients("known", unknown, &["--key", "who"])[0], "192.0.2.7");
}

#[test]
fn logs_of_aws() {
    let alb = "https 2018-07-02T22:23:00.186641Z app/my-loadbalancer/50dc6c495c0c9188 192.0.2.7:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 \"GET https://www.example.com:443/ HTTP/1.1\" \"curl/7.46.0\" - - arn:x \"Root=1\" \"-\" \"-\" 0 2018-07-02T22:22:48.364000Z \"forward\" \"-\" \"-\" \"10.0.0.1:80\" \"200\" \"-\" \"-\"\n";
    let text = stdout(&replay("alb", alb.as_bytes(), &[]));
    assert!(
        text.contains("AWS load balancer log") && text.contains("client 192.0.2.7, 2018-07-02 22:23:00.186641 UTC"),
        "{text}"
    );
    let cloudfront = "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method x-forwarded-for\n2019-12-04\t21:02:31\tLAX1\t392\t192.0.2.7\tGET\t-\n";
    let text = stdout(&replay("cloudfront", cloudfront.as_bytes(), &[]));
    assert!(text.contains("W3C extended log") && text.contains("client 192.0.2.7, 2019-12-04 21:02:31 UTC"), "{text}");
}

/// 600 lines, one a second.
fn ten_minutes() -> Vec<String> {
    let line = |second: u64| {
        format!("192.0.2.7 - - [10/Oct/2000:13:{:02}:{:02} +0000] \"GET / HTTP/1.0\" 200 5\n", second / 60, second % 60)
    };
    (0..600).map(line).collect()
}

#[test]
fn the_newest_line_first_comes_out_right_or_is_refused() {
    let newest_first: String = ten_minutes().into_iter().rev().collect();
    fails("newest-first", newest_first.as_bytes(), &[], "lines are sorted within 5 min: --sort-window takes more");
    let text =
        stdout(&replay("newest-first-sorted", newest_first.as_bytes(), &["--sort-window", "1h", "--limit", "60/min"]));
    assert!(text.starts_with("log: 600 arrivals from 1 key within 9 min 59 s\n"), "{text}");
    assert_eq!(cells(&text, "token-bucket")[1..3], ["600", "0"], "{text}");
    assert!(text.contains("599 lines came after a newer one"), "{text}");
}

#[test]
fn whole_seconds_with_a_burst_below_the_rate_deny_nobody() {
    let lines: Vec<_> = (0..10_000).map(|n| format!("{},a\n", 1_700_000_000 + n / 100)).collect();
    let lines = lines.concat();
    let options = ["--limit", "100/s", "--burst", "10", "--algorithm", "token-bucket"];
    let text = stdout(&replay("spread", lines.as_bytes(), &options));
    assert_eq!(cells(&text, "token-bucket")[1..3], ["10,000", "0"], "{text}");
    assert!(text.contains("9,900 arrivals spread over their seconds"), "{text}");
    let text = stdout(&replay("bunched", lines.as_bytes(), &[&options[..], &["--spread", "no"]].concat()));
    assert_ne!(cells(&text, "token-bucket")[2], "0");
}

#[test]
fn rotated_files_packed_or_not_are_merged_by_time() {
    use flate2::Compression;
    use flate2::write::GzEncoder;
    let folder = folder("rotated");
    let lines = ten_minutes();
    let packed = |text: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    // Two members in the oldest file, whose name does not say that it is packed.
    fs::write(
        folder.join("access.log.2"),
        [packed(&lines[..100].concat()), packed(&lines[100..200].concat())].concat(),
    )
    .unwrap();
    fs::write(folder.join("access.log.1"), lines[200..400].concat()).unwrap();
    fs::write(folder.join("access.log"), lines[400..].concat()).unwrap();
    for arguments in [&["access.log*"][..], &["access.log", "access.log.1", "access.log.2", "./access.log"]] {
        let text = stdout(&run_with_input(&folder, arguments, b""));
        assert!(text.starts_with("3 files: 600 arrivals from 1 key within 9 min 59 s\n"), "{text}");
        assert!(!text.contains("after a newer one"), "{text}");
    }
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
