//! The README of a recorded folder.

use super::build;
use super::machine::Machine;
use super::steps::STEPS;
use crate::figures::row::Row;
use crate::measure::summary;
use crate::run::cores;

/// Says who made this, and what that means for the reader.
const BIAS: &str = "\
## Bias

The authors of this benchmark wrote one of the crates in it. What they did about it:

- Peers are driven as their own documentation recommends, at the pinned versions shown, on the clock they come with and,
  where they accept one, also on the clock of this crate; the better of the two is \"best peer\".
  [benches/PEERS.md](../../benches/PEERS.md) says how, and what each cannot represent.
- All engines run in one process, in turn and in changing order, so that a change in the machine's mood meets them all.
  Each figure is the median of the repetitions; the csv has the slowest and the fastest too.
- Every run checks how many calls were admitted. A run with a wrong count is an error and is not recorded.
- The timed loop is compiled for each engine, all crates are optimised as one whole, and every engine has cache lines of
  its own.

What remains: one kind of loop that does nothing but call a limiter is not your program; threads beyond the number of
cores measure the scheduler as much as the limiter; other work on the machine was not ruled out; and a machine with few
cores says nothing about one with many.
";

/// The text, from the figures alone.
pub fn text(rows: &[Row], machine: &Machine, accuracy: &str, waiting: &str, instructions: Option<&str>) -> String {
    let command = "cargo run --release -p tollgate-bench -- record";
    let mut parts = vec![
        format!(
            "# {}, {} cores\n\nMade by `{command}` at commit `{}`. [machine.txt](machine.txt) has the processor, the \
             compiler and the flags; the csv files have every figure.\n",
            machine.processor,
            cores(),
            build::COMMIT
        ),
        format!("## In short\n\n{}", summary::text(rows)),
    ];
    for step in STEPS.iter().filter(|step| rows.iter().any(|row| row.bench == step.name)) {
        let title = step.title;
        parts.push(format!("## {title}\n"));
        parts.extend(step.plot.map(|_| format!("![{title}]({}.svg)\n", step.name)));
        parts.push(step.block(rows));
    }
    parts.push(format!("## Accuracy\n\n![Decisions that differ](accuracy.svg)\n\n```text\n{accuracy}```\n"));
    parts.push(format!("## Waiting\n\n![How late tasks are](waiting.svg)\n\n{waiting}"));
    if let Some(counts) = instructions {
        let title = "## Machine instructions for each call\n\nCounted by callgrind; no clock is read.";
        parts.push(format!("{title}\n\n```text\n{counts}```\n"));
    }
    parts.push(BIAS.into());
    parts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_the_tables_the_plots_the_command_and_the_bias() {
        let machine = Machine { processor: "Some CPU".into(), description: String::new() };
        let row = |bench: &str| Row {
            bench: bench.into(),
            load: "admit".into(),
            engine: "token-bucket".into(),
            threads: 1,
            ..Row::default()
        };
        let text = text(
            &[row("contention"), row("clock")],
            &machine,
            "boundary-attack 200\n",
            "fair 0.99\n",
            Some("probe 49\n"),
        );
        for part in [
            "boundary-attack",
            "(accuracy.svg)",
            "(waiting.svg)",
            "fair 0.99",
            "# Some CPU",
            "## In short",
            "-- record`",
            "![Threads",
            "(contention.svg)",
            "## Clocks",
            "probe 49",
            "## Bias",
        ] {
            assert!(text.contains(part), "{part} is missing: {text}");
        }
        for absent in ["Time of single calls", "clock.svg"] {
            assert!(!text.contains(absent), "what was not measured or not drawn is not there");
        }
    }
}
