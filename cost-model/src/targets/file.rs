//! Targets as files: written by a calibration, or by hand.

use super::{StaticTarget, detect_host, processor};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Of the format; files of another one are not read.
const VERSION: u32 = 1;

/// Names that levels can have: those of the tables.
const LEVELS: [&str; 6] = ["L1", "L2", "L3", "L4", "dTLB", "STLB"];

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TargetFile {
    version: u32,
    /// Of which the numbers are.
    processor: String,
    target: StaticTarget,
}

/// Why a file is no target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {cause}", file.display(), if *line == 0 { String::new() } else { format!(":{line}") })]
pub struct TargetFileError {
    /// The file.
    pub file: PathBuf,
    /// Where in it, from 1; 0 where no line is to blame.
    pub line: usize,
    /// What is wrong.
    pub cause: String,
}

/// Text of a file with this target, for the processor of that name.
pub fn target_text(target: &StaticTarget, processor: &str) -> String {
    let file = TargetFile { version: VERSION, processor: processor.to_string(), target: target.clone() };
    // Numbers, strings and lists: there is nothing that JSON lacks.
    let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
    text.push('\n');
    text
}

/// The target in a file.
///
/// # Errors
/// Where the file cannot be read, is of another format, or says what no machine is like.
pub fn read_target(file: &Path) -> Result<StaticTarget, TargetFileError> {
    let error = |line, cause: String| TargetFileError { file: file.to_owned(), line, cause };
    let text = std::fs::read_to_string(file).map_err(|e| error(0, e.to_string()))?;
    let read: TargetFile = serde_json::from_str(&text).map_err(|e| {
        // serde_json adds the place to its words.
        let words = e.to_string();
        let cause = words.split(" at line ").next().unwrap_or(&words);
        error(e.line(), cause.to_string())
    })?;
    if read.version != VERSION {
        let cause = format!("version {} of the format, not {VERSION}", read.version);
        return Err(error(line_of(&text, &["version"]), cause));
    }
    let mut target = read.target;
    target.complete();
    match implausible(&target) {
        None => Ok(target),
        Some((keys, cause)) => Err(error(line_of(&text, &keys), cause)),
    }
}

/// The line on which the last of these keys is, each behind the one before.
fn line_of(text: &str, keys: &[&str]) -> usize {
    let mut at = 0;
    for key in keys {
        match text[at..].find(&format!("\"{key}\"")) {
            Some(found) => at += found + 1,
            None => return 0,
        }
    }
    text[..at].matches('\n').count() + 1
}

type Complaint = (Vec<&'static str>, String);

/// The first number that no machine has, by its keys, and why.
fn implausible(target: &StaticTarget) -> Option<Complaint> {
    let o = &target.ops;
    let ops = [
        ("float_add", o.float_add),
        ("float_mul", o.float_mul),
        ("float_fma", o.float_fma),
        ("float_div", o.float_div),
        ("float_sqrt", o.float_sqrt),
        ("integer", o.integer),
        ("integer_mul", o.integer_mul),
        ("integer_div", o.integer_div),
        ("select", o.select),
        ("convert", o.convert),
        ("shuffle", o.shuffle),
        ("library", o.library),
    ];
    let mut numbers: Vec<(Vec<&'static str>, f64, f64, f64)> = Vec::new();
    for (name, cost) in ops {
        numbers.push((vec!["ops", name, "latency"], cost.latency, 0.1, 1e4));
        numbers.push((vec!["ops", name, "reciprocal"], cost.reciprocal, 0.01, 1e4));
    }
    numbers.extend([
        (vec!["vector_division"], o.vector_division, 0.1, 100.0),
        (vec!["narrow_division"], o.narrow_division, 0.1, 10.0),
        (vec!["vector_integer"], o.vector_integer, 0.01, 100.0),
        (vec!["vector_mul"], o.vector_mul, 0.01, 100.0),
        (vec!["vector_mul_64"], o.vector_mul_64, 0.01, 100.0),
        (vec!["vector_bits"], f64::from(target.vector_bits), 0.0, 65536.0),
        (vec!["vector_registers"], f64::from(target.vector_registers), 0.0, 1024.0),
        (vec!["issue_width"], target.issue_width, 0.5, 64.0),
        (vec!["loads_per_cycle"], target.loads_per_cycle, 0.1, 64.0),
        (vec!["stores_per_cycle"], target.stores_per_cycle, 0.1, 64.0),
        (vec!["datapath_bits"], f64::from(target.datapath_bits), 1.0, 65536.0),
        (vec!["masked_store"], target.masked_store, 1.0, 1e3),
        (vec!["crossing"], target.crossing, 1.0, 10.0),
        (vec!["split_load"], target.split_load, 1.0, 1e3),
        (vec!["split_store"], target.split_store, 1.0, 1e3),
        (vec!["split_store_in_row"], target.split_store_in_row, 1.0, 1e3),
        (vec!["split_store_waits"], target.split_store_waits, 0.0, 1e3),
        (vec!["vector_pipes"], target.vector_pipes, 0.5, 64.0),
        (vec!["lane_access"], target.lane_access, 0.05, 100.0),
        (vec!["gathered_lane"], target.gathered_lane, 0.05, 100.0),
        (vec!["store_forward"], target.store_forward, 0.0, 1e3),
        (vec!["window", "float"], target.window.float, 1.0, 1e4),
        (vec!["window", "integer"], target.window.integer, 1.0, 1e4),
        (vec!["page_bytes"], f64::from(target.page_bytes), 512.0, 2e9),
        (vec!["run_bytes"], target.prefetch.run_bytes, 1.0, 1e9),
        (vec!["outstanding"], target.prefetch.outstanding, 0.5, 1e4),
        (vec!["outstanding_stores"], target.prefetch.outstanding_stores, 0.5, 1e4),
        (vec!["control", "iteration"], target.control.iteration, 0.0, 1e3),
        (vec!["control", "entry"], target.control.entry, 0.0, 1e4),
        (vec!["control", "bound"], target.control.bound, 0.0, 1e3),
        (vec!["control", "mispredict"], target.control.mispredict, 0.0, 1e3),
        (vec!["control", "pointer_check"], target.control.pointer_check, 0.0, 1e3),
        (vec!["cores"], f64::from(target.cores), 1.0, 1e6),
        (vec!["fork_join"], target.fork_join, 0.0, 1e9),
        (vec!["memory_cores"], target.memory_cores, 1.0, 1e6),
        (vec!["frequency_ghz"], target.frequency_ghz, 0.05, 50.0),
    ]);
    for cache in &target.caches {
        numbers.push((vec!["caches", cache.name, "bytes"], cache.bytes as f64, 512.0, 1e13));
        numbers.push((vec!["caches", cache.name, "line"], f64::from(cache.line), 8.0, 4096.0));
        numbers.push((vec!["caches", cache.name, "ways"], f64::from(cache.ways), 1.0, 1e5));
        numbers.push((vec!["caches", cache.name, "fill"], cache.fill, 0.01, 1e4));
        numbers.push((vec!["caches", cache.name, "fill_latency"], cache.fill_latency, 0.1, 1e5));
        numbers.push((vec!["caches", cache.name, "written"], cache.written, 0.1, 100.0));
    }
    if let Some(wide) = target.wide {
        numbers.push((vec!["wide", "bits"], f64::from(wide.bits), 0.0, 65536.0));
        numbers.push((vec!["wide", "vector_pipes"], wide.vector_pipes, 0.5, 64.0));
        numbers.push((vec!["wide", "vector_integer"], wide.vector_integer, 0.01, 100.0));
        numbers.push((vec!["wide", "vector_division"], wide.vector_division, 0.1, 100.0));
    }
    if let Some(bytes) = target.last_at_best {
        numbers.push((vec!["last_at_best"], bytes as f64, 512.0, 1e13));
    }
    for tlb in &target.tlbs {
        numbers.push((vec!["tlbs", tlb.name, "entries"], f64::from(tlb.entries), 1.0, 1e7));
        numbers.push((vec!["tlbs", tlb.name, "miss"], tlb.miss, 0.0, 1e4));
    }
    for (keys, value, least, most) in numbers {
        if !(least..=most).contains(&value) {
            let name = keys.last().copied().unwrap_or("");
            let cause = format!("{name} is {value}, not within {least} and {most}");
            return Some((keys, cause));
        }
    }
    if target.caches.is_empty() || !target.caches.is_sorted_by_key(|c| c.bytes) {
        return Some((vec!["caches"], "caches are listed from the smallest on, one at least".to_string()));
    }
    None
}

/// Where the calibration of this machine is kept: `LOOPTREE_TARGET` if set, else in the user's cache, by processor. None where the
/// user has no place for it.
pub fn calibrated_file() -> Option<PathBuf> {
    if let Some(file) = std::env::var_os("LOOPTREE_TARGET").filter(|f| !f.is_empty()) {
        return Some(file.into());
    }
    let home = || std::env::var_os("HOME").filter(|h| !h.is_empty()).map(|h| Path::new(&h).join(".cache"));
    let cache =
        std::env::var_os("XDG_CACHE_HOME").filter(|c| !c.is_empty()).map(PathBuf::from).or_else(home)?;
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c.to_ascii_lowercase() } else { '-' };
    let name: String = processor().chars().map(plain).collect();
    Some(cache.join("looptree").join(format!("target-{}.json", name.trim_matches('-'))))
}

/// This machine: as calibrated, where it was, else as detected.
///
/// # Errors
/// Where there is a calibration that cannot be used.
pub fn native() -> Result<StaticTarget, TargetFileError> {
    match calibrated_file() {
        Some(file) if file.exists() => read_target(&file),
        // One that is named must be there.
        Some(file) if std::env::var_os("LOOPTREE_TARGET").is_some_and(|f| !f.is_empty()) => {
            read_target(&file)
        }
        _ => Ok(detect_host()),
    }
}

/// Reads one of the names that levels can have.
pub(crate) fn level_name<'de, D: serde::Deserializer<'de>>(input: D) -> Result<&'static str, D::Error> {
    let name = String::deserialize(input)?;
    let known = LEVELS.into_iter().find(|l| *l == name);
    known.ok_or_else(|| {
        serde::de::Error::custom(format!("no level is called `{name}`; there are: {}", LEVELS.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets::{sapphire_rapids, x86_64_avx512};

    fn read(text: &str) -> Result<StaticTarget, String> {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("machine.json");
        std::fs::write(&file, text).unwrap();
        read_target(&file).map_err(|e| {
            assert_eq!(e.file, file);
            format!("{}: {}", e.line, e.cause)
        })
    }

    #[test]
    fn what_is_written_is_read() {
        for target in [x86_64_avx512(), crate::targets::generic(), detect_host()] {
            assert_eq!(read(&target_text(&target, "a machine")), Ok(target));
        }
    }

    #[test]
    fn files_from_before_lines_that_go_back_and_ports_had_numbers_mean_the_same() {
        let wide = sapphire_rapids().wide;
        let target = StaticTarget { wide, ..x86_64_avx512() };
        let mut file: serde_json::Value = serde_json::from_str(&target_text(&target, "a machine")).unwrap();
        let remove = |from: &mut serde_json::Value, key: &str| {
            from.as_object_mut().unwrap().remove(key).expect("it is written");
        };
        let cache_levels = file["target"]["caches"].as_array_mut().unwrap();
        cache_levels.iter_mut().for_each(|cache| remove(cache, "written"));
        remove(&mut file["target"], "vector_pipes");
        remove(&mut file["target"]["wide"], "vector_pipes");
        assert_eq!(read(&file.to_string()), Ok(target));
    }

    #[test]
    fn damage_is_named_with_its_line() {
        let text = target_text(&x86_64_avx512(), "a machine");
        let line = |key: &str| line_of(&text, &[key]);
        let with = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            read(&text.replacen(from, to, 1)).unwrap_err()
        };
        assert!(
            with("\"issue_width\": 6.0", "\"issue_width\": \"six\"")
                .starts_with(&format!("{}: invalid type: string", line("issue_width")))
        );
        let wrong = with("\"issue_width\": 6.0", "\"issue_width\": -1.0");
        assert_eq!(wrong, format!("{}: issue_width is -1, not within 0.5 and 64", line("issue_width")));
        assert!(with("\"L2\"", "\"L9\"").contains("no level is called `L9`"));
        assert!(with("\"version\": 1", "\"version\": 7").starts_with("2: version 7 of the format"));
        assert!(with("\"cores\"", "\"kernels\"").contains("unknown field `kernels`"));
        let cut = read(&text[..text.len() / 2]).unwrap_err();
        assert!(cut.contains("EOF") && !cut.starts_with("0:"), "{cut}");
        let fill = with("\"fill\": 3.5", "\"fill\": 0.0");
        assert_eq!(fill, format!("{}: fill is 0, not within 0.01 and 10000", line("fill")));
        let none = read_target(Path::new("no/such/file.json")).unwrap_err();
        assert!(none.to_string().starts_with("no/such/file.json: "), "{none}");
    }
}
