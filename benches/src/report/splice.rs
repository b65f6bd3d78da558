//! Generated blocks in a text that is otherwise written by hand.

/// What a begin marker asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// The block.
    pub name: String,
    /// The machine it is to come from; any if it does not say.
    pub machine: Option<String>,
}

const BEGIN: &str = "<!-- tollgate-bench:begin ";
const END: &str = "<!-- tollgate-bench:end ";
const CLOSE: &str = " -->";

/// The text with what stands between each pair of markers exchanged for what `block` gives.
///
/// ```text
/// <!-- tollgate-bench:begin NAME -->            or: begin NAME MACHINE
/// ... generated ...
/// <!-- tollgate-bench:end NAME -->
/// ```
///
/// # Errors
///
/// If a marker has no partner, or `block` fails.
pub fn splice(text: &str, block: impl Fn(&Marker) -> Result<String, String>) -> Result<String, String> {
    let mut fresh = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find(BEGIN) {
        let (before, at) = rest.split_at(begin);
        reject_end(before)?;
        let line_end = at.find('\n').ok_or("a begin marker on the last line")?;
        let marker = marker(at[BEGIN.len()..line_end].trim_end())?;
        let end_marker = format!("{END}{}{CLOSE}", marker.name);
        let body = &at[line_end + 1..];
        let end = body.find(&end_marker).ok_or_else(|| format!("no end marker for {}", marker.name))?;
        if body[..end].contains(BEGIN) {
            return Err(format!("a block begins inside {}", marker.name));
        }
        fresh += before;
        fresh += &at[..=line_end];
        fresh += &block(&marker)?;
        fresh += &end_marker;
        rest = &body[end + end_marker.len()..];
    }
    reject_end(rest)?;
    Ok(fresh + rest)
}

fn marker(inside: &str) -> Result<Marker, String> {
    let words =
        inside.strip_suffix(CLOSE.trim_start()).ok_or_else(|| format!("a begin marker without an end: {inside}"))?;
    let mut words = words.split_whitespace().map(String::from);
    match (words.next(), words.next(), words.next()) {
        (Some(name), machine, None) => Ok(Marker { name, machine }),
        _ => Err(format!("a begin marker has a name and at most a machine: {inside}")),
    }
}

fn reject_end(text: &str) -> Result<(), String> {
    match text.find(END) {
        None => Ok(()),
        Some(at) => {
            Err(format!("an end marker without a beginning: {}", text[at..].lines().next().unwrap_or_default()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::unnecessary_wraps)] // as `splice` wants it
    fn echo(marker: &Marker) -> Result<String, String> {
        Ok(format!("[{} {}]\n", marker.name, marker.machine.as_deref().unwrap_or("any")))
    }

    #[test]
    fn only_what_is_between_markers_changes() {
        let text = "a\n<!-- tollgate-bench:begin x -->\nold\nold\n<!-- tollgate-bench:end x -->\nb\n\
                    <!-- tollgate-bench:begin y box -->\n<!-- tollgate-bench:end y -->\nc";
        let fresh = "a\n<!-- tollgate-bench:begin x -->\n[x any]\n<!-- tollgate-bench:end x -->\nb\n\
                     <!-- tollgate-bench:begin y box -->\n[y box]\n<!-- tollgate-bench:end y -->\nc";
        assert_eq!(splice(text, echo).as_deref(), Ok(fresh));
        assert_eq!(splice(fresh, echo).as_deref(), Ok(fresh), "a second time changes nothing");
        assert_eq!(splice("no markers\n", echo).as_deref(), Ok("no markers\n"));
    }

    #[test]
    fn markers_without_partners_are_refused() {
        for text in [
            "<!-- tollgate-bench:begin x -->\n",
            "<!-- tollgate-bench:begin x -->",
            "<!-- tollgate-bench:end x -->\n",
            "<!-- tollgate-bench:begin x -->\n<!-- tollgate-bench:end y -->\n",
            "<!-- tollgate-bench:begin x -->\n<!-- tollgate-bench:begin y -->\n<!-- tollgate-bench:end x -->\n",
            "<!-- tollgate-bench:begin x y z -->\n<!-- tollgate-bench:end x -->\n",
            "<!-- tollgate-bench:begin x\n<!-- tollgate-bench:end x -->\n",
        ] {
            assert!(splice(text, echo).is_err(), "{text}");
        }
    }
}
