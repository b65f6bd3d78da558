//! Generated blocks in a text that is otherwise written by hand.

use crate::figures::error::{Error, Result};

const BEGIN: &str = "<!-- tollgate-bench:begin ";
const END: &str = "<!-- tollgate-bench:end ";
const CLOSE: &str = " -->";

/// The text with what stands between each pair of markers exchanged for what `block` gives for its name.
///
/// ```text
/// <!-- tollgate-bench:begin NAME -->
/// ... generated ...
/// <!-- tollgate-bench:end NAME -->
/// ```
///
/// # Errors
///
/// If a marker has no partner, or `block` fails.
pub fn splice(text: &str, block: impl Fn(&str) -> Result<String>) -> Result<String> {
    let wrong = Error::Request;
    let mut fresh = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find(BEGIN) {
        let (before, at) = rest.split_at(begin);
        reject_end(before)?;
        let line_end = at.find('\n').ok_or_else(|| wrong("a begin marker on the last line".into()))?;
        let name = name(at[BEGIN.len()..line_end].trim_end())?;
        let end_marker = format!("{END}{name}{CLOSE}");
        let body = &at[line_end + 1..];
        let end = body.find(&end_marker).ok_or_else(|| wrong(format!("no end marker for {name}")))?;
        if body[..end].contains(BEGIN) {
            return Err(wrong(format!("a block begins inside {name}")));
        }
        fresh += before;
        fresh += &at[..=line_end];
        fresh += &block(name)?;
        fresh += &end_marker;
        rest = &body[end + end_marker.len()..];
    }
    reject_end(rest)?;
    Ok(fresh + rest)
}

/// The name in what follows the beginning of a begin marker.
fn name(inside: &str) -> Result<&str> {
    let wrong = |what: &str| Error::Request(format!("{what}: {inside}"));
    let words = inside.strip_suffix(CLOSE.trim_start()).ok_or_else(|| wrong("a begin marker without an end"))?;
    let mut words = words.split_whitespace();
    match (words.next(), words.next()) {
        (Some(name), None) => Ok(name),
        _ => Err(wrong("a begin marker has one name")),
    }
}

fn reject_end(text: &str) -> Result<()> {
    let Some(at) = text.find(END) else { return Ok(()) };
    let line = text[at..].lines().next().unwrap_or_default();
    Err(Error::Request(format!("an end marker without a beginning: {line}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::unnecessary_wraps)] // as `splice` wants it
    fn echo(name: &str) -> Result<String> {
        Ok(format!("[{name}]\n"))
    }

    #[test]
    fn only_what_is_between_markers_changes() {
        let text = "a\n<!-- tollgate-bench:begin x -->\nold\nold\n<!-- tollgate-bench:end x -->\nb\n\
                    <!-- tollgate-bench:begin y -->\n<!-- tollgate-bench:end y -->\nc";
        let fresh = "a\n<!-- tollgate-bench:begin x -->\n[x]\n<!-- tollgate-bench:end x -->\nb\n\
                     <!-- tollgate-bench:begin y -->\n[y]\n<!-- tollgate-bench:end y -->\nc";
        assert_eq!(splice(text, echo).unwrap(), fresh);
        assert_eq!(splice(fresh, echo).unwrap(), fresh, "a second time changes nothing");
        assert_eq!(splice("no markers\n", echo).unwrap(), "no markers\n");
    }

    #[test]
    fn markers_without_partners_are_refused() {
        for text in [
            "<!-- tollgate-bench:begin x -->\n",
            "<!-- tollgate-bench:begin x -->",
            "<!-- tollgate-bench:end x -->\n",
            "<!-- tollgate-bench:begin x -->\n<!-- tollgate-bench:end y -->\n",
            "<!-- tollgate-bench:begin x -->\n<!-- tollgate-bench:begin y -->\n<!-- tollgate-bench:end x -->\n",
            "<!-- tollgate-bench:begin x y -->\n<!-- tollgate-bench:end x -->\n",
            "<!-- tollgate-bench:begin x\n<!-- tollgate-bench:end x -->\n",
        ] {
            assert!(splice(text, echo).is_err(), "{text}");
        }
    }
}
