//! The names that logs give to the time, the client and the rest.

use crate::field::malformed::{Malformed, listed};

/// A name as far as it counts: lower case, letters and digits only.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Names of the time, the surest first. Of some the unit is left out: `t_ms` is `t`.
const TIMES: &[&str] = &[
    "starttime",
    "startutc",
    "msec",
    "timeiso8601",
    "timelocal",
    "timestamp",
    "time",
    "ts",
    "t",
    "datetime",
    "epoch",
    "unixtime",
    "unixtimestamp",
    "eventtime",
    "date",
    "createdat",
    "when",
    "at",
];
const UNITS: &[&str] = &[
    "milliseconds",
    "microseconds",
    "nanoseconds",
    "seconds",
    "millis",
    "micros",
    "nanos",
    "secs",
    "sec",
    "ms",
    "us",
    "ns",
    "s",
];

/// Names of the client: groups, the surest first. Two fields of one group are two that may be meant.
const CLIENTS: &[&[&str]] = &[
    &["key"],
    &["requestclientip"],
    &["requestremoteip", "requestremoteaddr"],
    &["clienthost"],
    &[
        "client",
        "clientip",
        "cip",
        "ip",
        "ipaddress",
        "ipaddr",
        "sourceip",
        "srcip",
        "sourceaddress",
        "sourceaddr",
        "remoteaddr",
        "remoteip",
        "remotehost",
        "remoteaddress",
        "clientaddr",
        "clientaddress",
        "clientport",
        "httprequestremoteip",
    ],
    &[
        "user",
        "userid",
        "username",
        "account",
        "accountid",
        "apikey",
        "customer",
        "customerid",
        "tenant",
        "tenantid",
        "clientid",
    ],
];

/// Names of the list of addresses that proxies keep.
const FORWARDED: &[&str] = &[
    "xforwardedfor",
    "httpxforwardedfor",
    "forwarded",
    "csxforwardedfor",
    "requestxforwardedfor",
    "requestheadersxforwardedfor",
    "xff",
];

/// The place of the field with this name: as it is written, or else but for upper and lower case, or else by its number,
/// from 1 on.
pub(super) fn place(names: &[String], wanted: &str) -> Result<usize, Malformed> {
    let same = names.iter().position(|name| name == wanted);
    let similar = || {
        let mut similar = (0..names.len()).filter(|&place| names[place].to_lowercase() == wanted.to_lowercase());
        similar.next().filter(|_| similar.next().is_none())
    };
    let numbered =
        || wanted.parse().ok().and_then(|number: usize| number.checked_sub(1)).filter(|&at| at < names.len());
    same.or_else(similar)
        .or_else(numbered)
        .ok_or_else(|| Malformed::NoSuchField(listed([wanted]), listed(names.iter().map(String::as_str))))
}

/// The place of the field that is the time by its name.
pub(super) fn time(names: &[String]) -> Option<usize> {
    TIMES.iter().find_map(|wanted| {
        names.iter().position(|name| {
            let name = plain(name);
            name == *wanted || UNITS.iter().any(|unit| name.strip_suffix(unit) == Some(wanted))
        })
    })
}

/// The place of the field that is the client by its name.
///
/// # Errors
///
/// More than one may be.
pub(super) fn client(names: &[String]) -> Result<Option<usize>, Malformed> {
    for group in CLIENTS {
        let mut places = (0..names.len()).filter(|&place| group.contains(&plain(&names[place]).as_str()));
        match (places.next(), places.next()) {
            (None, _) => {}
            (found, None) => return Ok(found),
            (Some(one), Some(other)) => {
                return Err(Malformed::WhichClient(listed([names[one].as_str(), names[other].as_str()])));
            }
        }
    }
    Ok(None)
}

/// The place of the field that is the cost unless said otherwise.
pub(super) fn cost(names: &[String]) -> Option<usize> {
    names.iter().position(|name| name.eq_ignore_ascii_case("cost"))
}

/// Of `numbers`, the places of fields that hold one, the one that somebody may want to charge: bytes, those sent before
/// others, or else the first that is more than a name or a code.
pub(super) fn other_cost(names: &[String], numbers: &[usize]) -> Option<usize> {
    let holds = |place: &usize, words: &[&str]| words.iter().any(|word| plain(&names[*place]).contains(word));
    let ends = |place: &usize, words: &[&str]| words.iter().any(|word| plain(&names[*place]).ends_with(word));
    let mut sizes = numbers.iter().copied().filter(|place| holds(place, &["bytes", "size", "length"]));
    let sent = sizes.clone().find(|place| holds(place, &["sent", "sc", "response", "downstream"]));
    sent.or_else(|| sizes.next())
        .or_else(|| numbers.iter().copied().find(|place| !ends(place, &["id", "code", "status", "port", "pid"])))
}

/// The place of the field with the addresses that proxies were called from.
pub(super) fn forwarded(names: &[String]) -> Option<usize> {
    names.iter().position(|name| FORWARDED.contains(&plain(name).as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn times_and_clients_by_name() {
        for (header, is_time, is_client) in [
            ("t_ms,client,bytes", Some(0), Some(1)),
            ("id,timestamp,source.ip", Some(1), Some(2)),
            ("@timestamp,[client][ip],bytes", Some(0), Some(1)),
            ("user_id,bytes,time_us", Some(2), Some(0)),
            ("date,time,c-ip,cs-method", Some(1), Some(2)),
            ("request_time,upstream_time,host", None, None),
            ("key,user,ts", Some(2), Some(0)),
            ("client_ip,user_id,ts", Some(2), Some(0)),
        ] {
            let names = names(header);
            assert_eq!((time(&names), client(&names)), (is_time, Ok(is_client)), "{header}");
        }
        assert!(matches!(client(&names("source.ip,client.ip,ts")), Err(Malformed::WhichClient(_))));
        assert_eq!(forwarded(&names("ip,http_x_forwarded_for")), Some(1));
    }

    #[test]
    fn what_could_be_charged_is_no_code() {
        for (header, charged) in [
            ("id,elb_status_code,received_bytes,sent_bytes", Some(3)),
            ("status,size", Some(1)),
            ("user_id,status,port", None),
            ("id,weight", Some(1)),
        ] {
            let names = names(header);
            let all: Vec<_> = (0..names.len()).collect();
            assert_eq!(other_cost(&names, &all), charged, "{header}");
        }
    }

    #[test]
    fn a_name_is_found_in_any_case_unless_two_are_alike() {
        let two = names("IP,ip,Time");
        assert_eq!((place(&two, "ip"), place(&two, "IP"), place(&two, "time")), (Ok(1), Ok(0), Ok(2)));
        assert!(place(&two, "Ip").is_err());
        assert_eq!(place(&two, "size").unwrap_err().to_string(), "no field size; there are IP, ip, Time");
        assert_eq!((place(&two, "1"), place(&two, "3"), place(&names("3,1,x"), "1")), (Ok(0), Ok(2), Ok(1)));
        assert!(place(&two, "0").is_err() && place(&two, "4").is_err());
    }
}
