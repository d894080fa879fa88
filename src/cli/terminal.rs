//! What fits on a terminal.

use console::{Term, style};
use std::fmt::Write;

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

/// Columns of standard output, where it is a terminal.
fn width() -> Option<usize> {
    let (_, columns) = Term::stdout().size_checked()?;
    console::user_attended().then_some(usize::from(columns))
}

/// A line of a recipe.
#[derive(Debug, PartialEq)]
struct Line<'a> {
    /// What stood above.
    known: &'a str,
    /// What did not.
    new: &'a str,
}

fn lines<'a>(recipe: &'a str, above: &str, width: Option<usize>) -> Vec<Line<'a>> {
    let ends: Vec<usize> = recipe.match_indices("; ").map(|(at, _)| at + 2).collect();
    // `;` within parentheses separates arguments: steps end behind one.
    let steps = ends.into_iter().filter(|end| recipe[..end - 2].ends_with(')')).chain([recipe.len()]);
    let steps: Vec<usize> = steps.collect();
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
