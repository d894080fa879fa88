//! What fits on a terminal.

use console::{Term, measure_text_width, style, user_attended_stderr};
use looptree::tree::SourceLocation;
use std::fmt::{Display, Write};
use std::sync::LazyLock;

/// Columns in front of a recipe.
const INDENT: &str = "    ";

/// Writes a recipe in lines that fit the terminal, broken between steps; on one line where the output is no terminal. It can be
/// copied as it stands. Steps that `above` begins with too are dim.
pub fn recipe(out: &mut String, recipe: &str, above: &str) {
    for line in lines(recipe, above, width()) {
        let known = if line.known.is_empty() { String::new() } else { style(line.known).dim().to_string() };
        let _ = writeln!(out, "{INDENT}{known}{}", line.new);
    }
}

/// The line of the source, with a mark below the column, where the file is there.
pub fn excerpt(at: &SourceLocation, mark: impl Display) -> Option<String> {
    let text = std::fs::read_to_string(&*at.file).ok()?;
    let line = text.lines().nth(at.line.checked_sub(1)? as usize)?.trim_end();
    let number = format!("  {:>4} | ", at.line);
    let Some(before) = at.column.checked_sub(1) else { return Some(number + line) };
    let blanks: String =
        line.chars().take(before as usize).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    Some(format!("{number}{line}\n       | {blanks}{mark}"))
}

/// Writes a line that is broken at blanks where it does not fit the terminal; what follows is indented.
pub fn words(out: &mut String, text: &str) {
    let _ = writeln!(out, "{}", broken(text, width()).join("\n"));
}

/// The same for standard error.
pub fn said(text: &str) -> String {
    let width = user_attended_stderr().then(|| Term::stderr().size_checked()).flatten();
    broken(text, width.map(|(_, columns)| usize::from(columns))).join("\n")
}

fn broken(text: &str, width: Option<usize>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let own = text.len() - text.trim_start_matches(' ').len();
    let indent = " ".repeat(INDENT.len().max(own + 2));
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line)
                if width.is_none_or(|w| measure_text_width(line) + 1 + measure_text_width(word) <= w) =>
            {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("{indent}{word}")),
            None => lines.push(word.to_string()),
        }
    }
    lines
}

/// Columns of standard output, where it is a terminal when this is first asked.
pub fn width() -> Option<usize> {
    static WIDTH: LazyLock<Option<usize>> = LazyLock::new(|| {
        let (_, columns) = Term::stdout().size_checked()?;
        console::user_attended().then_some(usize::from(columns))
    });
    *WIDTH
}

/// A line of a recipe.
#[derive(Debug, PartialEq)]
struct Line<'a> {
    /// What stood above.
    known: &'a str,
    /// What did not.
    new: &'a str,
}

/// The steps that all recipes begin with, of several; each goes on behind them.
pub fn common_steps<'a>(recipes: &[&'a str]) -> &'a str {
    let [first, others @ ..] = recipes else { return "" };
    let is_common =
        |end: &usize| others.iter().all(|other| other.len() > *end && other.starts_with(&first[..*end]));
    let end = ends_of_steps(first).into_iter().rev().find(is_common).filter(|_| !others.is_empty());
    &first[..end.unwrap_or(0)]
}

/// Where steps end, the last one but, with what parts them from the next.
fn ends_of_steps(recipe: &str) -> Vec<usize> {
    // `;` within parentheses separates arguments: steps end behind one.
    recipe.match_indices("; ").map(|(at, _)| at + 2).filter(|end| recipe[..end - 2].ends_with(')')).collect()
}

fn lines<'a>(recipe: &'a str, above: &str, width: Option<usize>) -> Vec<Line<'a>> {
    let steps: Vec<usize> = ends_of_steps(recipe).into_iter().chain([recipe.len()]).collect();
    let known = steps.iter().rev().find(|end| above.starts_with(&recipe[..**end])).copied().unwrap_or(0);
    let most = width.map_or(usize::MAX, |w| w.saturating_sub(INDENT.len()));
    let mut lines = Vec::new();
    let (mut from, mut to) = (0, 0);
    let mut push = |from: usize, to: usize| {
        let middle = known.clamp(from, to);
        lines.push(Line { known: &recipe[from..middle], new: recipe[middle..to].trim_end() });
    };
    for end in steps {
        if recipe[from..end].trim_end().len() > most && to > from {
            push(from, to);
            from = to;
        }
        to = end;
    }
    push(from, to);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_begin_with_is_whole_steps() {
        let some = ["distribute(@); tile(@1; 8); unroll(@)", "distribute(@); tile(@1; 16)"];
        assert_eq!(common_steps(&some), "distribute(@); ");
        assert_eq!(common_steps(&some[..1]), "");
        assert_eq!(common_steps(&["tile(@1; 8); unroll(@)", "tile(@1; 8)"]), "");
        assert_eq!(common_steps(&["tile(@1; 8)", "tile(@1; 8, 8)"]), "");
        assert_eq!(common_steps(&[]), "");
    }

    #[test]
    fn words_are_kept_whole() {
        assert_eq!(broken("one two three", None), ["one two three"]);
        assert_eq!(broken("one two three", Some(9)), ["one two", "    three"]);
        assert_eq!(broken("  one two", Some(5)), ["  one", "    two"]);
        assert_eq!(broken("    one two", Some(8)), ["    one", "      two"]);
        assert_eq!(broken("", Some(5)), [""]);
        assert_eq!(broken("longer-than-that", Some(5)), ["longer-than-that"]);
    }

    #[test]
    fn recipes_are_broken_between_steps() {
        let text = "distribute(@); tile(@1, @1.0; 32, 32); mark(@; parallel)";
        let whole = Line { known: "", new: text };
        assert_eq!(lines(text, "", None), [whole]);
        let broken: Vec<&str> = lines(text, "", Some(32)).iter().map(|l| l.new).collect();
        assert_eq!(broken, ["distribute(@);", "tile(@1, @1.0; 32, 32);", "mark(@; parallel)"]);
        let wide = lines(text, "distribute(@); tile(@1; 8)", Some(44));
        assert_eq!(wide[0], Line { known: "distribute(@); ", new: "tile(@1, @1.0; 32, 32);" });
    }
}
