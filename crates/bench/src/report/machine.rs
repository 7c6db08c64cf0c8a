//! The machine that figures were measured on.

use std::fs;
use std::thread::available_parallelism;

/// What of a machine decides how fast it is.
#[derive(Debug, PartialEq, Eq)]
pub struct Machine {
    /// As the kernel names the processor.
    pub cpu: String,
    /// Threads that may run at a time.
    pub cores: usize,
    /// Main memory, in MiB.
    pub memory_mib: u64,
}

impl Machine {
    /// This one; what it does not tell is "unknown", or 0.
    pub fn read() -> Self {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        let cores = available_parallelism().map_or(0, usize::from);
        Self::from_texts(&text("/proc/cpuinfo"), &text("/proc/meminfo"), cores)
    }

    fn from_texts(cpuinfo: &str, meminfo: &str, cores: usize) -> Self {
        let field = |text: &str, name: &str| {
            let mut fields = text.lines().filter_map(|line| line.split_once(':'));
            fields.find(|(field, _)| field.trim() == name).map(|(_, value)| value.trim().to_owned())
        };
        let kib = field(meminfo, "MemTotal").and_then(|value| value.split_whitespace().next()?.parse::<u64>().ok());
        Self {
            cpu: field(cpuinfo, "model name").unwrap_or_else(|| "unknown".to_owned()),
            cores,
            memory_mib: kib.unwrap_or(0) / 1024,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Machine;

    #[test]
    fn processor_and_memory_are_read_off_what_the_kernel_tells() {
        let cpuinfo =
            "processor\t: 0\nmodel name\t: A Fast One @ 3.0GHz\nflags\t\t: fpu\n\nprocessor\t: 1\nmodel name\t: B\n";
        let machine = Machine::from_texts(cpuinfo, "MemTotal:       24617464 kB\nMemFree: 1 kB\n", 2);
        assert_eq!(machine, Machine { cpu: "A Fast One @ 3.0GHz".into(), cores: 2, memory_mib: 24040 });
    }

    #[test]
    fn a_machine_that_tells_nothing_is_unknown() {
        assert_eq!(Machine::from_texts("", "", 4), Machine { cpu: "unknown".into(), cores: 4, memory_mib: 0 });
    }
}
