//! The number of threads that can run at the same time.

/// Returns how many threads of this process can run at the same time: the cores that the calling
/// thread may use, at most as many as the quota of the process is worth, rounded up; at least one.
///
/// [`std::thread::available_parallelism`] rounds a quota down, so in a container with 1.5 cores a
/// third is never used. Go (from 1.25 on) and Java round up as well; Go has two threads at least,
/// for its garbage collector. The quota is `cpu.max` of the process's cgroup (v2) and of those
/// above it. Without `/proc` or with cgroups of version 1 it is std's number.
///
/// It reads files, and the answer may change while the process runs: ask once.
pub fn available_parallelism() -> usize {
    let std = std::thread::available_parallelism().map_or(1, usize::from);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        let quota = std::fs::read_to_string("/proc/self/cgroup")
            .ok()
            .and_then(|groups| {
                cgroup::whole_cores(std::path::Path::new("/sys/fs/cgroup"), &groups)
            });
        let cores = || {
            let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
            cgroup::cores_allowed(&status)
        };
        match quota.and_then(|quota| Some(quota.min(cores()?))) {
            Some(threads) => threads.max(std),
            None => std,
        }
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    std
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod cgroup {
    use std::fs;
    use std::path::Path;

    /// The least quota of a process in whole cores, rounded up. `root` is where the cgroups are
    /// mounted, `groups` the process's `/proc/self/cgroup`.
    pub(super) fn whole_cores(root: &Path, groups: &str) -> Option<usize> {
        let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
        let own = root.join(path);
        let levels = own.ancestors().take_while(|level| level.starts_with(root));
        let quotas = levels.filter_map(|level| {
            let text = fs::read_to_string(level.join("cpu.max")).ok()?;
            rounded_up(&text)
        });
        quotas.min()
    }

    /// `cpu.max`: the quota, or `max`, and the period, in microseconds.
    fn rounded_up(text: &str) -> Option<usize> {
        let mut numbers = text.split_whitespace().map(str::parse::<usize>);
        let (quota, period) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        (period > 0).then(|| quota.div_ceil(period).max(1))
    }

    /// `Cpus_allowed` of `/proc/thread-self/status`: words of hexadecimal digits, one bit per core.
    pub(super) fn cores_allowed(status: &str) -> Option<usize> {
        let mut lines = status.lines();
        let mask = lines.find_map(|line| line.strip_prefix("Cpus_allowed:"))?;
        let digits = mask.chars().filter_map(|digit| digit.to_digit(16));
        let cores: u32 = digits.map(u32::count_ones).sum();
        usize::try_from(cores).ok().filter(|&cores| cores > 0)
    }

    #[cfg(test)]
    mod tests;
}
