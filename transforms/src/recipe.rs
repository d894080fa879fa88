//! Recipes: named steps as text.
//!
//! ```text
//! # the hot nest
//! distribute(j)
//! interchange(k); tile(i, j; 32, 32)
//! ```
//!
//! Steps are separated by newlines or by `;` outside parentheses; `#` starts a comment. A recipe prints as it would be
//! written, and replays to the same tree. Paths of a step are those of the canonical tree that the step is applied to.

use crate::arguments::{Arguments, unquoted};
use crate::loop_ref::join;
use crate::{Context, Refusal, Registry, Step};
use loop_tree::{Green, Kernel};
use std::fmt;
use std::ops::Range;

/// Steps, in the order in which they are applied.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recipe(pub Vec<Step>);

/// Recipe text that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct RecipeError {
    /// What is wrong.
    pub message: String,
    /// Bytes of the text.
    pub span: Range<usize>,
}

/// A step that does not apply.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("step {} of the recipe, {step}: {refusal}", .number + 1)]
pub struct ReplayError {
    /// Position in the recipe, from 0.
    pub number: usize,
    /// The step.
    pub step: Step,
    /// Why it does not apply.
    #[source]
    pub refusal: Refusal,
}

impl Recipe {
    /// How recipes are written, for people: Markdown.
    pub const GRAMMAR: &str = include_str!("grammar.md");

    /// Reads recipe text with the transformations of a registry.
    pub fn parse(text: &str, registry: &Registry) -> Result<Recipe, RecipeError> {
        pieces(text)?.into_iter().map(|span| step(text, span, registry)).collect::<Result<_, _>>().map(Recipe)
    }

    /// Applies all steps to a tree.
    pub fn replay(&self, kernel: &Kernel, root: &Green) -> Result<Green, ReplayError> {
        self.0.iter().enumerate().try_fold(root.clone(), |root, (number, step)| {
            match step.apply(&Context { kernel, root: &root }) {
                Ok(rewrite) => Ok(rewrite.root),
                Err(refusal) => Err(ReplayError { number, step: step.clone(), refusal }),
            }
        })
    }

    /// The recipe with one more step.
    pub fn with(&self, step: Step) -> Recipe {
        Recipe(self.0.iter().cloned().chain([step]).collect())
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        join(f, &self.0, "; ")
    }
}

/// Byte ranges of the steps, without comments around them.
fn pieces(text: &str) -> Result<Vec<Range<usize>>, RecipeError> {
    let mut result = Vec::new();
    let mut open: Option<usize> = None; // where the parenthesis of the current step is
    let (mut depth, mut from, mut comment) = (0usize, 0usize, false);
    for (at, c) in unquoted(text).chain([(text.len(), '\n')]) {
        if comment && c != '\n' {
            continue;
        }
        let ends = match c {
            '#' if depth == 0 => {
                comment = true;
                true
            }
            '\n' if comment => {
                comment = false;
                from = at + 1;
                continue;
            }
            '(' => {
                open.get_or_insert(at);
                depth += 1;
                false
            }
            ')' if depth == 0 => {
                return Err(RecipeError { message: "nothing is open here".into(), span: at..at + 1 });
            }
            ')' => {
                depth -= 1;
                if depth == 0 {
                    open = None;
                }
                false
            }
            '\n' | ';' => depth == 0,
            _ => false,
        };
        if ends {
            let piece = &text[from..at];
            if !piece.trim().is_empty() {
                let start = from + (piece.len() - piece.trim_start().len());
                result.push(start..from + piece.trim_end().len());
            }
            from = (at + c.len_utf8()).min(text.len());
        }
    }
    match open {
        Some(at) => Err(RecipeError { message: "this parenthesis is not closed".into(), span: at..at + 1 }),
        None => Ok(result),
    }
}

fn step(text: &str, span: Range<usize>, registry: &Registry) -> Result<Step, RecipeError> {
    let piece = &text[span.clone()];
    let error = |message: String| RecipeError { message, span: span.clone() };
    let Some((name, rest)) = piece.split_once('(') else {
        return Err(error(format!("`{piece}`: a step is a name and arguments, such as interchange(i)")));
    };
    let Some(inside) = rest.strip_suffix(')') else {
        return Err(error(format!("`{piece}`: steps are separated by `;` or newlines")));
    };
    let start = span.start + name.len() + 1;
    let name = name.trim();
    let Some(registration) = registry.get(name) else {
        return Err(error(format!("no transformation is called `{name}`; there are: {}", registry.names())));
    };
    registration.parse(Arguments::split(name, inside, start, span.clone())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_shows_what_can_be_read() {
        let (_, rest) = Recipe::GRAMMAR.split_once("```recipe\n").expect("an example");
        let (example, _) = rest.split_once("```").expect("its end");
        let recipe = Recipe::parse(example, &Registry::standard()).expect("a recipe");
        assert_eq!(recipe.to_string(), "distribute(@); interchange(@1.0); tile(@1, @1.0; 64, 64; full)");
    }

    #[test]
    fn text_round_trips_as_it_is_written() {
        let registry = Registry::standard();
        for text in [
            "fuse(@0, @1)",
            "fuse(@0, @1; shift=-2; guard)",
            "distribute(i)",
            "distribute(@0.1; 1)",
            "interchange(@0.1)",
            "permute(k, i, j)",
            "peel(i; first=1)",
            "peel(i; last=2)",
            "strip_mine(i; 32)",
            "strip_mine(i; 32; absolute)",
            "tile(i, j; 32, 16)",
            "tile(i, j; 64, 64; 8, 8; full)",
            "unroll(i; 4)",
            "unroll(i; full)",
            "unroll_and_jam(i; 4)",
            "reverse(t0)",
            "skew(t, i; -2)",
            "split(i; 2*N - 1)",
            "split(i; floor((N + 3)/4))",
            "reorder(@; 1, 0)",
            "move(@0.2; 0)",
            "sink(@0.0)",
            "mark(i; parallel)",
            "tile(\"for\", \"a=b;(\\\"\"; 8, 8)",
            "split(i; \"x y\" - 1)",
        ] {
            let recipe = Recipe::parse(text, &registry).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(recipe.to_string(), text);
            assert_eq!(Recipe::parse(&recipe.to_string(), &registry).unwrap(), recipe);
        }
    }

    #[test]
    fn steps_are_separated_and_comments_skipped() {
        let text = "# \"first\ninterchange( i ) ; tile(i,j;32,\n 32) # why\n\nreverse(i)\n";
        let recipe = Recipe::parse(text, &Registry::standard()).unwrap();
        assert_eq!(recipe.to_string(), "interchange(i); tile(i, j; 32, 32); reverse(i)");
        assert_eq!(Recipe::parse("  # nothing\n;", &Registry::standard()).unwrap(), Recipe::default());
    }

    #[test]
    fn errors_say_where() {
        let registry = Registry::standard();
        let span = |text: &str| {
            let error = Recipe::parse(text, &registry).unwrap_err();
            text[error.span].to_string()
        };
        assert_eq!(span("interchange(i); fold(j)"), "fold(j)");
        assert_eq!(span("tile(i; 32; fool)"), "fool");
        assert_eq!(span("tile(i; 32"), "(");
        assert_eq!(span("reverse(3)"), "3");
        assert_eq!(span("reverse(i))"), ")");
        assert_eq!(span("reverse(i) reverse(j)"), "reverse(i) reverse(j)");
        assert_eq!(span("unroll(i)"), "unroll(i)");
        assert_eq!(span("fuse(@0, @1; shift=much)"), "shift=much");
        assert_eq!(span("split(i; N +)"), "N +");
        assert_eq!(span("é(i)"), "é(i)");
        for text in ["tile(@; 99999999999999999999)", "fuse(@0, @1; shift=-99999999999999999999)"] {
            let error = Recipe::parse(text, &registry).unwrap_err();
            assert!(text[error.span.clone()].contains("99999999999999999999"), "{error:?}");
            assert!(error.message.contains("too large: ") && error.message.contains("at most"), "{error:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "[a-z@0-9(),;=# \n.é-]{0,40}") {
            let _ = Recipe::parse(&text, &Registry::standard());
        }
    }
}
