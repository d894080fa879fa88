//! How functions are called: [`readable`] is what people are shown, and [`find`] what they may write. Variables are called what
//! their last part is ([`variable`]).
//!
//! Programs are given symbols, as linkers have them.

use cpp_demangle::{BorrowedSymbol, DemangleOptions};
use std::borrow::Cow;
use std::fmt::{self, Write};

/// Symbols longer than this, and those of which the name would be, stay as they are: a short symbol may stand for an endless name.
const LONGEST: usize = 4096;

/// A function's name as its source has it; a symbol that is not mangled is its own name.
///
/// ```
/// use irgen::names::readable;
///
/// assert_eq!(readable("_Z7productRSt6vectorIdSaIdEEi"), "product(std::vector<double>&, int)");
/// assert_eq!(readable("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"), "core::fmt::Write::write_fmt");
/// assert_eq!(readable("kernel_gemm"), "kernel_gemm");
/// ```
pub fn readable(symbol: &str) -> Cow<'_, str> {
    demangled(symbol, &DemangleOptions::new().no_return_type()).map_or(Cow::Borrowed(symbol), Cow::Owned)
}

/// A variable's own name, without what it stands in; `None` where the symbol is not mangled, or its name is no identifier.
///
/// ```
/// use irgen::names::variable;
///
/// assert_eq!(variable("_ZN4gridL5cellsE").as_deref(), Some("cells"));
/// assert_eq!(variable("_ZZ6smoothvE5cache").as_deref(), Some("cache"));
/// assert_eq!(variable("_ZTV4Grid"), None);
/// assert_eq!(variable("cells"), None);
/// ```
pub fn variable(symbol: &str) -> Option<String> {
    // Tables of classes, guards of variables and the like are called after something else.
    if symbol.starts_with("_ZT") || symbol.starts_with("_ZG") {
        return None;
    }
    let qualified = demangled(symbol, &DemangleOptions::new().no_return_type().no_params())?;
    let name = last_part(&qualified);
    let is_identifier = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_identifier.then(|| name.to_string())
}

/// A region, for people.
pub fn label(symbol: &str, number: usize) -> String {
    format!("{}#{number}", readable(symbol))
}

/// What a name is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfound {
    /// Nothing is called so.
    None,
    /// Several are: what each is called that nothing else is.
    Several(Vec<String>),
}

/// The symbol that is meant by a symbol, a name with parameters, one without, or its last part: by the first of these that
/// something has.
///
/// ```
/// use irgen::names::{Unfound, find};
///
/// let symbols = ["_ZN4grid6smoothEPdi", "_Z5scalePdi", "_Z5scalePfi"];
/// assert_eq!(find("grid::smooth(double*, int)", symbols), Ok("_ZN4grid6smoothEPdi"));
/// assert_eq!(find("grid::smooth", symbols), Ok("_ZN4grid6smoothEPdi"));
/// assert_eq!(find("smooth", symbols), Ok("_ZN4grid6smoothEPdi"));
/// let several = ["scale(double*, int)", "scale(float*, int)"].map(String::from);
/// assert_eq!(find("scale", symbols), Err(Unfound::Several(several.into())));
/// ```
pub fn find<'s>(asked: &str, symbols: impl IntoIterator<Item = &'s str>) -> Result<&'s str, Unfound> {
    let mut meant: [Vec<&str>; 4] = Default::default();
    for symbol in symbols {
        if let Some(form) = form(asked, symbol) {
            meant[form].push(symbol);
        }
    }
    let Some(found) = meant.into_iter().find(|found| !found.is_empty()) else { return Err(Unfound::None) };
    if let [only] = found[..] {
        return Ok(only);
    }
    let is_alone = |name: &str| found.iter().filter(|s| readable(s) == name).count() == 1;
    let told = |symbol: &&str| match readable(symbol) {
        name if is_alone(&name) => name.into_owned(),
        _ => symbol.to_string(),
    };
    Err(Unfound::Several(found.iter().map(told).collect()))
}

/// Whether a name may mean a function; others may be meant before it.
pub fn may_mean(asked: &str, symbol: &str) -> bool {
    form(asked, symbol).is_some()
}

/// In which form a name is that of a function: 0 symbol, 1 with parameters, 2 without, 3 the last part.
fn form(asked: &str, symbol: &str) -> Option<usize> {
    if asked == symbol {
        return Some(0);
    }
    let qualified = demangled(symbol, &DemangleOptions::new().no_return_type().no_params())?;
    let tight = |text: &str| text.split_whitespace().collect::<String>();
    let asked = tight(asked);
    let is = |name: &str| tight(name) == asked;
    if is(&readable(symbol)) {
        Some(1)
    } else if is(&qualified) || is(without_arguments(&qualified)) {
        Some(2)
    } else {
        is(last_part(&qualified)).then_some(3)
    }
}

fn demangled(symbol: &str, options: &DemangleOptions) -> Option<String> {
    if symbol.len() > LONGEST {
        return None;
    }
    let mut name = Bounded(String::new());
    if let Ok(rust) = rustc_demangle::try_demangle(symbol) {
        // Without the hash.
        write!(name, "{rust:#}").ok()?;
        return Some(name.0);
    }
    // Without this, `f` is a type: `float`.
    if !symbol.starts_with("_Z") {
        return None;
    }
    let (parsed, tail) = BorrowedSymbol::with_tail(symbol.as_bytes()).ok()?;
    if !tail.is_empty() {
        return None;
    }
    parsed.structured_demangle(&mut name, options).ok()?;
    Some(as_written(name.0))
}

/// Text up to a length.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// What nobody writes in C++ is left out: allocators that are the default, and what a string is made from.
fn as_written(mut name: String) -> String {
    const STRINGS: [&str; 2] = [
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>",
        "std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char>>",
    ];
    while let Some(at) = name.find("> >") {
        name.remove(at + 1);
    }
    for string in STRINGS {
        name = name.replace(string, "std::string");
    }
    while let Some((from, to)) = default_allocator(&name) {
        name.replace_range(from..to, "");
    }
    name
}

/// Where a container says that its allocator is that of its elements, as it is by default.
fn default_allocator(name: &str) -> Option<(usize, usize)> {
    const ALLOCATORS: [&str; 2] = [", std::allocator<", ", std::__1::allocator<"];
    const CONTAINERS: [&str; 4] = ["vector", "deque", "list", "forward_list"];
    ALLOCATORS.iter().flat_map(|a| name.match_indices(a)).find_map(|(from, allocator)| {
        let inner = from + allocator.len();
        let length = closing(&name[inner..])?;
        let container = name[..from].strip_suffix(&name[inner..inner + length])?.strip_suffix('<')?;
        let is_last = name[inner + length..].starts_with(">>");
        let path = container.rsplit(|c: char| !(c.is_alphanumeric() || "_:".contains(c))).next()?;
        let is_one =
            path.starts_with("std::") && CONTAINERS.iter().any(|c| path.ends_with(&format!("::{c}")));
        (is_last && is_one).then_some((from, inner + length + 1))
    })
}

/// Where the bracket closes that is open in front of a text.
fn closing(text: &str) -> Option<usize> {
    let mut open = 1;
    text.char_indices().find_map(|(at, c)| {
        open += match c {
            '<' => 1,
            '>' => -1,
            _ => 0,
        };
        (open == 0).then_some(at)
    })
}

/// What stands behind the last `::` that is in no brackets; of an operator, all of it.
fn last_part(qualified: &str) -> &str {
    let (mut open, mut start) = (0, 0);
    for (at, c) in qualified.char_indices() {
        match c {
            _ if at == start && is_operator(&qualified[at..]) => return &qualified[at..],
            '<' | '(' | '{' | '[' => open += 1,
            '>' | ')' | '}' | ']' => open -= 1,
            // Rust has arguments behind a `::`, too.
            ':' if open == 0 && qualified[..at].ends_with(':') && !qualified[at..].starts_with(":<") => {
                start = at + 1;
            }
            _ => {}
        }
    }
    without_arguments(&qualified[start..])
}

fn is_operator(part: &str) -> bool {
    part.strip_prefix("operator")
        .and_then(|rest| rest.chars().next())
        .is_some_and(|c| !(c.is_alphanumeric() || c == '_'))
}

/// A name without its own template arguments and what a compiler adds behind it.
fn without_arguments(name: &str) -> &str {
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    if name.contains("operator") || !name.ends_with('>') {
        return name;
    }
    let mut open = 0;
    let begins = name.char_indices().rev().find_map(|(at, c)| {
        open += match c {
            '>' => 1,
            '<' => -1,
            _ => 0,
        };
        (open == 0).then_some(at)
    });
    begins.map_or(name, |at| name[..at].trim_end_matches("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_the_source_has_them() {
        let cases = [
            (
                "_Z6nestedRSt6vectorIS_IdSaIdEESaIS1_EERKS3_i",
                "nested(std::vector<std::vector<double>>&, std::vector<std::vector<double>> const&, int)",
            ),
            ("_ZN4MainIiE3runEv", "Main<int>::run()"),
            ("_Z3sumIdET_PKS0_i", "sum<double>(double const*, int)"),
            (
                "_Z4namePKcNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
                "name(char const*, std::string)",
            ),
            // An allocator that is not the default stays.
            ("_Z1fSt6vectorIdSaIfEE", "f(std::vector<double, std::allocator<float>>)"),
            ("_Z1fi.llvm.123", "f(int) [clone .llvm.123]"),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("_Zebra", "_Zebra"),
            ("main", "main"),
            ("f", "f"),
            ("St6vector", "St6vector"),
            ("", ""),
        ];
        for (symbol, name) in cases {
            assert_eq!(readable(symbol), name);
        }
    }

    #[test]
    fn variables_have_their_last_name() {
        let cases = [
            ("_ZL1A", Some("A")),
            ("_ZN2nsL1CE", Some("C")),
            ("_ZN2ns1S1mE", Some("m")),
            ("_ZZ1wvE1q", Some("q")),
            ("_ZZ1wvE1q_0", Some("q")),
            ("_ZN12_GLOBAL__N_11AE", Some("A")),
            ("_ZN4gridIdE5cellsE", Some("cells")),
            ("_Z5tableIiE", Some("table")),
            ("_ZN4core4DATA17h0123456789abcdefE", Some("DATA")),
            ("_ZTV4Grid", None),
            ("_ZGVZ1wvE1q", None),
            ("A", None),
        ];
        for (symbol, name) in cases {
            assert_eq!(variable(symbol).as_deref(), name, "{symbol}");
        }
    }

    #[test]
    fn what_would_be_endless_stays_a_symbol() {
        // Each parameter is twice as long as the one before it.
        let digit = |n| char::from_digit(n, 36).unwrap().to_ascii_uppercase();
        let pairs: String = (0..30).map(|n| format!("S_IS{0}_S{0}_E", digit(n))).collect();
        let few = format!("_Z1fSt4pairIiiE{}", &pairs[..pairs.len() / 10]);
        assert!(readable(&few).starts_with("f(std::pair<int, int>, std::pair<std::pair<int, int>, "));
        for symbol in [format!("_Z1fSt4pairIiiE{pairs}"), format!("_Z{}{}i", 5000, "f".repeat(5000))] {
            assert_eq!(readable(&symbol), symbol);
        }
    }

    #[test]
    fn functions_are_found_by_each_of_their_names() {
        let symbols = [
            "sum",
            "_Z3sumPdi",
            "_ZN2ns3Sum3sumIdEEdPT_",
            "_ZN2ns3SumclEi",
            "_ZlsR1AS0_",
            "_RNvC6_123foo3bar",
            "_ZN1SC1Ev",
            "_ZN1SC2Ev",
        ];
        let find = |asked| find(asked, symbols);
        // A symbol is meant before anything else, then a whole name.
        assert_eq!(find("sum"), Ok("sum"));
        assert_eq!(find("sum(double*,int)"), Ok("_Z3sumPdi"));
        assert_eq!(find("ns::Sum::sum"), Ok("_ZN2ns3Sum3sumIdEEdPT_"));
        assert_eq!(find("ns::Sum::sum<double>"), Ok("_ZN2ns3Sum3sumIdEEdPT_"));
        assert_eq!(find("operator()"), Ok("_ZN2ns3SumclEi"));
        assert_eq!(find("operator<<"), Ok("_ZlsR1AS0_"));
        assert_eq!(find("bar"), Ok("_RNvC6_123foo3bar"));
        assert_eq!(find("su"), Err(Unfound::None));
        // Where names are equal, symbols are told.
        let constructors = ["_ZN1SC1Ev", "_ZN1SC2Ev"].map(String::from);
        assert_eq!(find("S::S"), Err(Unfound::Several(constructors.into())));
    }
}
