//! [`resident`]: how much memory the system has given to this process.

/// Bytes of this process that are in memory (`VmRSS`), where the system says so: Linux.
pub fn resident() -> Option<u64> {
    from_status(&std::fs::read_to_string("/proc/self/status").ok()?)
}

/// The figure in the text of `/proc/self/status`, which is in units of 1024 bytes.
fn from_status(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figure_is_found_and_has_its_unit() {
        assert_eq!(from_status("VmPeak:\t 9 kB\nVmRSS:\t    5300 kB\nRssAnon: 1 kB\n"), Some(5_300 * 1024));
        assert_eq!(from_status("VmPeak: 9 kB\n"), None);
        assert_eq!(from_status("VmRSS: many kB\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_that_is_touched_is_resident() {
        let before = resident().unwrap();
        let touched = core::hint::black_box(vec![1_u8; 64 << 20]);
        assert!(resident().unwrap() >= before + (48 << 20));
        drop(touched);
    }
}
