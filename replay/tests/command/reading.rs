//! Logs as they come: the right client and the right time, or a refusal.

use super::{cells, fails, folder, replay, run_with_input, stdout};
use std::fs;
use std::io::Write;

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
    let ordered = "time,client,user\n1700000000,198.51.100.1,192.0.2.7\n";
    assert_eq!(clients("by-number", ordered.as_bytes(), &["--key", "3"]), ["192.0.2.7", "1", "0"]);
    fails("no-such-number", ordered.as_bytes(), &["--key", "4"], "no field 4; there are time, client, user");
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
