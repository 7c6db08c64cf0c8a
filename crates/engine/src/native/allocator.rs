//! What the C library does with memory that is freed.

use std::sync::Once;

/// Has the C library of Linux give freed memory back to the system, which it otherwise does less and less: each large
/// block that is freed raises its thresholds, up to 64 MiB for each of its arenas (mallopt(3)). What is fetched passes
/// through such blocks, in several threads.
pub(super) fn give_back_freed() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        // SAFETY: only sets a number, to where it stands at the start; from then on it stays there.
        unsafe {
            libc::mallopt(libc::M_TRIM_THRESHOLD, 128 * 1024);
        }
    });
}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::give_back_freed;

    /// Memory of this process that is in the machine's, in bytes.
    fn resident() -> usize {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
    }

    #[test]
    fn what_is_freed_goes_back_to_the_system() {
        const BLOCK: usize = 30 << 20;
        give_back_freed();
        let before = resident();
        for _ in 0..2 {
            let block = std::hint::black_box(vec![1_u8; BLOCK]);
            assert!(resident() >= before + BLOCK / 2);
            drop(block);
        }
        assert!(resident() < before + BLOCK / 2);
    }
}
