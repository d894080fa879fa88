//! The machine this runs on: its vector extension, and its caches where the system tells.

use super::{StaticTarget, generic};
use std::sync::LazyLock;

/// What Linux says of the processors; empty elsewhere. It takes the kernel a while to write.
static CPUINFO: LazyLock<String> =
    LazyLock::new(|| std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default());

/// Bytes of a last-level cache that one thread is taken to have at most: virtual machines report caches of the whole
/// socket.
const LARGEST_SHARE: u64 = 64 << 20;

/// The closest static target, with cache sizes and the number of cores as the system reports them.
pub fn detect_host() -> StaticTarget {
    let mut target = by_features();
    target.name = format!("{}, by the {} table", processor(), target.name);
    if let Ok(cores) = std::thread::available_parallelism() {
        target.cores = u32::try_from(cores.get()).unwrap_or(u32::MAX);
    }
    let shared = is_virtual();
    target.last_at_best = target.last_at_best.filter(|_| shared);
    for index in 0..8 {
        let Some(found) = read_cache(index) else { continue };
        let Some(level) = found.level.checked_sub(1).and_then(|l| target.caches.get_mut(l)) else { continue };
        // Others use the last level too, and where the machine is virtual, others than its own programs.
        level.bytes = match found.level {
            3 if shared => {
                target.last_at_best = target.last_at_best.map(|b| b.min(found.bytes));
                level.bytes.min(found.bytes / 2)
            }
            3 => (found.bytes / 2).min(LARGEST_SHARE),
            _ => found.bytes.min(LARGEST_SHARE),
        };
        level.ways = found.ways.max(1);
        level.line = found.line;
    }
    // Sizes in disorder (a tiny last level, a wrong report) would make no sense to the model.
    if !target.caches.is_sorted_by_key(|c| c.bytes) {
        target.caches.sort_by_key(|c| c.bytes);
    }
    target
}

/// Whether another system lends this machine, as Linux says.
fn is_virtual() -> bool {
    field("flags").is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// Processors of this machine where the system tells, whoever may use them; else 1.
pub fn processors() -> u32 {
    let count =
        CPUINFO.lines().filter(|l| l.split_once(':').is_some_and(|(k, _)| k.trim() == "processor")).count();
    u32::try_from(count).unwrap_or(u32::MAX).max(1)
}

/// What this processor is called: its name, maker, family and model where the system tells, else its architecture.
pub fn processor() -> String {
    let Some(name) = field("model name") else { return std::env::consts::ARCH.to_string() };
    match (field("vendor_id"), field("cpu family"), field("model")) {
        (Some(vendor), Some(family), Some(model)) => format!("{name} ({vendor} {family}.{model})"),
        _ => name.to_string(),
    }
}

/// What Linux says of the first processor.
fn field(key: &str) -> Option<&'static str> {
    let line = CPUINFO.lines().find_map(|l| l.split_once(':').filter(|(k, _)| k.trim() == key));
    line.map(|(_, value)| value.trim()).filter(|v| !v.is_empty())
}

#[cfg(target_arch = "x86_64")]
fn by_features() -> StaticTarget {
    let long_vectors = std::is_x86_feature_detected!("avx512f");
    let table = match maker() {
        Some(("AuthenticAMD", 26.., _)) => Some(super::znver5()),
        Some(("AuthenticAMD", 25, model)) if long_vectors || is_zen4(model) => Some(super::znver4()),
        Some(("AuthenticAMD", 25, _)) => Some(super::znver3()),
        Some(("GenuineIntel", 6, SAPPHIRE_RAPIDS | EMERALD_RAPIDS)) => Some(super::sapphire_rapids()),
        _ => None,
    };
    match table {
        Some(target) if long_vectors || target.vector_registers == 16 => target,
        Some(target) if std::is_x86_feature_detected!("avx2") => super::x86_64::with_avx2(target),
        _ if long_vectors => super::x86_64_avx512(),
        _ if std::is_x86_feature_detected!("avx2") => super::x86_64_avx2(),
        _ => generic(),
    }
}

#[cfg(target_arch = "x86_64")]
const SAPPHIRE_RAPIDS: u32 = 0x8f;
#[cfg(target_arch = "x86_64")]
const EMERALD_RAPIDS: u32 = 0xcf;

/// Maker, family and model of the processor.
#[cfg(target_arch = "x86_64")]
fn maker() -> Option<(&'static str, u32, u32)> {
    let number = |key| field(key)?.parse().ok();
    Some((field("vendor_id")?, number("cpu family")?, number("model")?))
}

/// Family 25 is Zen 3 and Zen 4, with several models each.
#[cfg(target_arch = "x86_64")]
fn is_zen4(model: u32) -> bool {
    matches!(model, 0x10..=0x1f | 0x60..=0x7f | 0xa0..=0xaf)
}

#[cfg(not(target_arch = "x86_64"))]
fn by_features() -> StaticTarget {
    generic()
}

struct Found {
    level: usize,
    bytes: u64,
    ways: u32,
    line: u32,
}

/// One data cache of the first processor, as Linux describes it.
fn read_cache(index: usize) -> Option<Found> {
    let read = |file: &str| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{file}");
        std::fs::read_to_string(path).ok().map(|s| s.trim().to_owned())
    };
    if read("type")? == "Instruction" {
        return None;
    }
    let size = read("size")?;
    let bytes = match size.strip_suffix('K') {
        Some(n) => n.parse::<u64>().ok()?.checked_mul(1024)?,
        None => match size.strip_suffix('M') {
            Some(n) => n.parse::<u64>().ok()?.checked_mul(1 << 20)?,
            None => size.parse().ok()?,
        },
    };
    let line = read("coherency_line_size")?.parse().ok()?;
    let plausible = (4096..=u64::MAX / 2).contains(&bytes) && (16..=1024).contains(&line);
    plausible.then_some(Found {
        level: read("level")?.parse().ok()?,
        bytes,
        ways: read("ways_of_associativity").and_then(|w| w.parse().ok()).unwrap_or(8),
        line,
    })
}
