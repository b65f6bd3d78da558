//! What the figures were measured on: the processor and the build, and nothing that names the machine or its owner.

use super::build;
use crate::run::cores;
use std::process::Command;

/// A machine, as far as figures depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// What is written to `machine.txt`.
    pub description: String,
}

impl Machine {
    /// This machine.
    pub fn this() -> Self {
        let lscpu = output("lscpu", &[]).unwrap_or_default();
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let processor = field(&lscpu, "Model name").or_else(|| field(&cpuinfo, "model name"));
        let processor = processor.unwrap_or_else(|| std::env::consts::ARCH.into());
        let system = output("uname", &["-srm"]).unwrap_or_else(|| std::env::consts::OS.into());
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load: Vec<_> = load.split_whitespace().take(3).collect();
        let description = format!(
            "commit: {}\ncompiler: {}\ntarget: {}\nprofile: {}, lto = thin, codegen-units = 1\nflags: {}\nsystem: {}\n\
             cores that can be used: {}\nload average before the run: {}\n\n{}\n",
            build::COMMIT,
            build::RUSTC,
            build::TARGET,
            build::PROFILE,
            if build::FLAGS.is_empty() { "none" } else { build::FLAGS },
            system,
            cores(),
            load.join(" "),
            if lscpu.is_empty() { format!("processor: {processor}") } else { lscpu },
        );
        Self { processor, description }
    }

    /// A short name for folders: `amd-epyc-2-cores`.
    pub fn slug(&self) -> String {
        let words = self.processor.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let noise = ["R", "TM", "CPU", "Processor", "Core", "with"];
        let words: Vec<_> = words.filter(|word| !noise.contains(word)).take(4).map(str::to_lowercase).collect();
        format!("{}-{}-cores", words.join("-"), cores())
    }
}

/// The value of a line `name: value`.
fn field(text: &str, name: &str) -> Option<String> {
    let line = |line: &str| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    };
    text.lines().find_map(line).filter(|value| !value.is_empty())
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).env("LC_ALL", "C").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let text = "BIOS Model name:  virt\nModel name:       AMD EPYC\nModel:  17\n";
        assert_eq!(field(text, "Model name").as_deref(), Some("AMD EPYC"));
        assert_eq!(field(text, "Modell"), None);
    }

    #[test]
    fn a_slug_is_short_and_plain() {
        let machine = |processor: &str| Machine { processor: processor.into(), description: String::new() };
        let cores = format!("{}-cores", cores());
        assert_eq!(machine("AMD EPYC").slug(), format!("amd-epyc-{cores}"));
        let xeon = machine("Intel(R) Xeon(R) Platinum 8480C CPU @ 2.00GHz");
        assert_eq!(xeon.slug(), format!("intel-xeon-platinum-8480c-{cores}"));
    }

    #[test]
    fn a_description_names_the_build_but_not_the_machine() {
        let description = Machine::this().description;
        for part in ["commit: ", "compiler: rustc", "target: ", "flags: ", "cores that can be used: "] {
            assert!(description.contains(part), "{part} is missing: {description}");
        }
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        assert!(host.trim().len() < 4 || !description.contains(host.trim()), "{description}");
        assert!(!description.contains("/home") && !description.contains("/root"), "{description}");
    }
}
