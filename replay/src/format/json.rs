//! One JSON object a line, as nginx, Caddy, Traefik and many others write it.

use core::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::columns::About;
use super::names;
use super::values::{COST, FILTERS, FORWARDED, KEY, Slot, TIME, Values};
use super::wanted::{Charge, Wanted};
use crate::field::malformed::{Malformed, listed};

/// Which members are asked for.
#[derive(Clone, Debug)]
pub(super) struct Json {
    /// A member of an object in another is named with a dot: `request.client_ip`.
    wanted: Vec<(String, Slot)>,
    pub(super) about: About,
}

impl Json {
    /// The members of a log, by the names in one of its lines.
    ///
    /// # Errors
    ///
    /// The line is no object, or it has no member that is the time or the client.
    pub(super) fn new(line: &[u8], wanted: &Wanted) -> Result<Self, Malformed> {
        let object: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(line).map_err(|error| json(&error))?;
        let mut names = Vec::new();
        name_members(&object, "", &mut names);
        let all = || listed(names.iter().map(String::as_str));
        let place = |name: &String| names::place(&names, name).map(|place| names[place].clone());
        let time = match &wanted.time {
            Some(name) => name.clone(),
            None => names::time(&names).map(|at| names[at].clone()).ok_or_else(|| Malformed::Untold("time", all()))?,
        };
        let key = match &wanted.key {
            Some(name) => name.clone(),
            None => {
                names::client(&names)?.map(|at| names[at].clone()).ok_or_else(|| Malformed::Untold("client", all()))?
            }
        };
        let cost = match &wanted.charge {
            Charge::Cost => Some("cost".to_owned()),
            Charge::One => None,
            Charge::Field(name) => Some(name.clone()),
        };
        let time = place(&time).map_err(|_| Malformed::Missing("time"))?;
        let key = place(&key).map_err(|_| Malformed::Missing("client"))?;
        let mut members = vec![(time.clone(), TIME), (key.clone(), KEY)];
        members.extend(cost.clone().map(|cost| (cost, COST)));
        members
            .extend(names::forwarded(&names).map(|at| (names[at].clone(), FORWARDED)).filter(|(name, _)| *name != key));
        members.extend((FILTERS..).zip(&wanted.filters).map(|(slot, (name, _))| (name.clone(), slot)));
        let has_cost = cost.as_ref().is_some_and(|cost| names.contains(cost));
        let about = About { time, key, cost: cost.filter(|_| has_cost), other_cost: None };
        Ok(Self { wanted: members, about })
    }

    /// Finds the members in a line.
    ///
    /// # Errors
    ///
    /// It is no JSON object, or has a member twice.
    pub(super) fn read(&self, line: &[u8], values: &mut Values) -> Result<(), Malformed> {
        let mut deserializer = serde_json::Deserializer::from_slice(line);
        let object = Object { wanted: &self.wanted, before: "", line, values };
        object.deserialize(&mut deserializer).map_err(|error| json(&error))?;
        deserializer.end().map_err(|error| json(&error))
    }
}

/// Names the members of an object, and of the objects in it.
fn name_members(object: &serde_json::Map<String, serde_json::Value>, before: &str, names: &mut Vec<String>) {
    const MOST: usize = 1_000;
    for (name, value) in object {
        let name = format!("{before}{name}");
        match value {
            serde_json::Value::Object(inner) if names.len() < MOST => name_members(inner, &format!("{name}."), names),
            _ => names.push(name),
        }
    }
}

fn json(error: &serde_json::Error) -> Malformed {
    const SHOWN: usize = 80;
    Malformed::Json(error.to_string().escape_default().take(SHOWN).collect())
}

/// Reads an object, and of it the members that are asked for.
struct Object<'a> {
    wanted: &'a [(String, Slot)],
    /// What stands before the names of this object's members: `request.`.
    before: &'a str,
    line: &'a [u8],
    values: &'a mut Values,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Self { wanted, before, line, values } = self;
        while let Some(member) = members.next_key_seed(Name { wanted, before })? {
            match member {
                Member::Wanted(name) => {
                    let value: &RawValue = members.next_value()?;
                    for &(_, slot) in wanted.iter().filter(|(one, _)| one == name) {
                        store(value.get(), slot, line, values).map_err(serde::de::Error::custom)?;
                    }
                }
                Member::Around(before) => {
                    members.next_value_seed(Object { wanted, before, line, values: &mut *values })?;
                }
                Member::Other => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// What a member's name says of it.
enum Member<'a> {
    /// Its whole name is asked for.
    Wanted(&'a str),
    /// Members of it are asked for; what stands before their names.
    Around(&'a str),
    Other,
}

/// Reads a member's name.
struct Name<'a> {
    wanted: &'a [(String, Slot)],
    before: &'a str,
}

impl<'de, 'a> DeserializeSeed<'de> for Name<'a> {
    type Value = Member<'a>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Member<'a>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'a> Visitor<'_> for Name<'a> {
    type Value = Member<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Member<'a>, E> {
        let mut around = Member::Other;
        for (wanted, _) in self.wanted {
            let Some(rest) = wanted.strip_prefix(self.before).and_then(|rest| rest.strip_prefix(name)) else {
                continue;
            };
            if rest.is_empty() {
                return Ok(Member::Wanted(wanted));
            }
            if rest.starts_with('.') {
                around = Member::Around(&wanted[..=(wanted.len() - rest.len())]);
            }
        }
        Ok(around)
    }
}

/// Keeps a value: a string without its quotes, of a list its strings with commas between them, else as it is written.
fn store(value: &str, slot: Slot, line: &[u8], values: &mut Values) -> Result<(), &'static str> {
    if values.has(slot) {
        return Err("a member that is there twice");
    }
    let start = value.as_ptr() as usize - line.as_ptr() as usize;
    match value.as_bytes() {
        b"null" => {}
        [b'{', ..] => return Err("an object where a value is asked for"),
        [b'[', ..] => {
            let strings: Vec<String> =
                serde_json::from_str(value).map_err(|_| "a list of other things than strings")?;
            values.copy(slot, |out| out.extend_from_slice(strings.join(", ").as_bytes()));
        }
        [b'"', inner @ .., b'"'] if memchr::memchr(b'\\', inner).is_none() => {
            values.set(slot, start + 1..start + value.len() - 1);
        }
        [b'"', ..] => {
            let text: String = serde_json::from_str(value).map_err(|_| "a string that is none")?;
            values.copy(slot, |out| out.extend_from_slice(text.as_bytes()));
        }
        _ => values.set(slot, start..start + value.len()),
    }
    Ok(())
}
