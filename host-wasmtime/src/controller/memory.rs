//! How much memory the component may use.

use std::fs;

use apportion::HostLimits;

/// Where the limit of the container is: control groups of version 2, and of version 1.
const FILES: [&str; 2] = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

/// Memory of one of so many parts, in bytes: together they leave the program a quarter of what its container may have.
pub(super) fn share(parts: usize) -> usize {
    let limit = FILES.iter().find_map(|file| fs::read_to_string(file).ok());
    of(limit.as_deref().unwrap_or_default(), parts)
}

/// A text without a number is no limit.
fn of(limit: &str, parts: usize) -> usize {
    let most = HostLimits::default().memory;
    let share = |all: usize| (all / 4).saturating_mul(3).checked_div(parts).unwrap_or(all);
    limit.trim().parse().map_or(most, |all| share(all).min(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_share_what_the_container_has() {
        assert_eq!(of("1610612736\n", 2), 576 << 20);
        assert_eq!(of("1610612736\n", 6), 192 << 20);
        for unlimited in ["max\n", "", "9223372036854771712\n"] {
            assert_eq!(of(unlimited, 2), 2 << 30);
        }
    }
}
