//! Where a program spends its time: a timer's signal writes down where it is, and debug information says which lines that is.

use crate::programs;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names the file that a sampled program appends its samples to.
pub const VARIABLE: &str = "LOOPTREE_SAMPLES";

const SAMPLER: &str = include_str!("sampler.c");

/// A place in the source that an instruction stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Frame {
    /// As the linker knows it.
    pub function: String,
    /// Without directories.
    pub file: String,
    /// 0 where unknown.
    pub line: u32,
    /// 0 where unknown.
    pub column: u32,
}

/// An instruction: what is there, and what that was inlined into, innermost first.
pub type Inlined = Vec<Frame>;

/// The call stack of one sample, innermost first. Code without debug information has no frames.
pub type Stack = Vec<Inlined>;

/// What an optimizer makes of several lines has none: it counts to what is in front of it in the function, at most so many steps of so
/// many bytes.
const BACK: u64 = 16;
const STEP: u64 = 4;

fn has_no_line(inlined: &Inlined) -> bool {
    inlined.first().is_some_and(|f| f.line == 0)
}

/// Links objects with what samples them.
pub fn link(objects: &[PathBuf], program: &Path, flags: &[String]) -> Result<()> {
    let (source, sampler) = (program.with_extension("c"), program.with_extension("o"));
    std::fs::write(&source, SAMPLER)?;
    programs::compile(&[source], &sampler, &["-c".to_string()])?;
    let mut command = Command::new(programs::clang());
    command.args(objects).arg(sampler).args(flags).arg("-lm").arg("-o").arg(program);
    let out = command.output().with_context(|| format!("cannot run {}", programs::clang()))?;
    if !out.status.success() {
        bail!("the program to sample is not linked:\n{}", String::from_utf8_lossy(&out.stderr));
    }
    Ok(())
}

/// The stacks in a file of samples, each with how often it is there.
pub fn stacks(program: &Path, samples: &Path) -> Result<Vec<(Stack, usize)>> {
    let cannot = || format!("cannot read {}", samples.display());
    let counted = addresses(&std::fs::read(samples).with_context(cannot)?);
    let all: BTreeSet<u64> = counted.keys().flatten().copied().collect();
    let mut places = symbolized(program, &all)?;
    for back in (1..=BACK).map(|steps| steps * STEP) {
        let unknown: BTreeSet<u64> = places.iter().filter(|p| has_no_line(p.1)).map(|p| *p.0).collect();
        let before = symbolized(program, &unknown.iter().map(|a| a.wrapping_sub(back)).collect())?;
        for address in unknown {
            let place = before.get(&address.wrapping_sub(back)).filter(|p| !has_no_line(p));
            if let (Some(place), Some(of)) = (place, places.get_mut(&address))
                && place.last().map(|f| &f.function) == of.last().map(|f| &f.function)
            {
                of.clone_from(place);
            }
        }
    }
    let frames = |address: &u64| places.get(address).cloned().unwrap_or_default();
    Ok(counted.into_iter().map(|(stack, count)| (stack.iter().map(frames).collect(), count)).collect())
}

/// Samples as addresses of instructions.
fn addresses(bytes: &[u8]) -> BTreeMap<Vec<u64>, usize> {
    let mut words = bytes.chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().unwrap_or_default()));
    let mut counted = BTreeMap::new();
    while let Some(count) = words.next() {
        let mut stack: Vec<u64> = words.by_ref().take(usize::try_from(count).unwrap_or(0)).collect();
        // Callers are where they go on: the call is in front.
        stack.iter_mut().skip(1).for_each(|a| *a = a.wrapping_sub(1));
        *counted.entry(stack).or_insert(0) += 1;
    }
    counted
}

/// What `llvm-symbolizer` prints of an address.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Symbolized {
    address: String,
    #[serde(default)]
    symbol: Vec<Symbol>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Symbol {
    file_name: String,
    function_name: String,
    line: u32,
    column: u32,
}

fn symbolized(program: &Path, addresses: &BTreeSet<u64>) -> Result<BTreeMap<u64, Inlined>> {
    let found = Command::new(programs::clang()).arg("-print-prog-name=llvm-symbolizer").output()?;
    let symbolizer = String::from_utf8_lossy(&found.stdout).trim().to_string();
    let cannot = || format!("cannot run {symbolizer}");
    let mut child = Command::new(&symbolizer)
        .arg(format!("--obj={}", program.display()))
        .args(["--output-style=JSON", "--functions=linkage", "--no-demangle", "--inlines"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(cannot)?;
    let mut input = child.stdin.take().with_context(cannot)?;
    let out = std::thread::scope(|scope| {
        let write = scope.spawn(move || addresses.iter().try_for_each(|a| writeln!(input, "{a:#x}")));
        let out = child.wait_with_output();
        write.join().map_or_else(|_| bail!("no addresses are written"), |w| Ok(w?))?;
        anyhow::Ok(out?)
    })
    .with_context(cannot)?;
    if !out.status.success() {
        bail!("{symbolizer} fails: {}", out.status);
    }
    let mut places = BTreeMap::new();
    for one in serde_json::Deserializer::from_slice(&out.stdout).into_iter::<Symbolized>() {
        let one = one.with_context(|| format!("cannot read what {symbolizer} prints"))?;
        let address = u64::from_str_radix(one.address.trim_start_matches("0x"), 16)?;
        places.insert(address, one.symbol.into_iter().filter_map(frame).collect());
    }
    Ok(places)
}

/// `None` for code that has no name or file.
fn frame(symbol: Symbol) -> Option<Frame> {
    let file = Path::new(&symbol.file_name).file_name()?.to_string_lossy().into_owned();
    (!symbol.function_name.is_empty()).then_some(Frame {
        function: symbol.function_name,
        file,
        line: symbol.line,
        column: symbol.column,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_are_their_calls() {
        let words = [2u64, 0x40, 0x81, 1, 0x40, 2, 0x40, 0x81, 3, 0x9];
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let expected = [(vec![0x9], 1), (vec![0x40], 1), (vec![0x40, 0x80], 2)];
        assert_eq!(addresses(&bytes), BTreeMap::from(expected));
    }
}
