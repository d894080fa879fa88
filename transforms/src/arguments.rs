//! The arguments of a recipe step: groups separated by `;`, arguments in a group by `,`.
//!
//! A parser asks for what it knows; whatever it did not ask for is an error ([`Arguments::finish`]).

use crate::{LoopRef, RecipeError};
use std::ops::Range;

/// One argument, `value` or `key=value`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Argument {
    /// What stands before `=`.
    pub key: Option<String>,
    /// The rest, without space around it.
    pub value: String,
    /// Bytes of the recipe text.
    pub span: Range<usize>,
}

/// The arguments of one step.
#[derive(Clone, Debug)]
pub struct Arguments {
    /// Name of the transformation.
    pub name: String,
    /// What stands between the parentheses.
    pub groups: Vec<Vec<Argument>>,
    /// Bytes of the whole step in the recipe text.
    pub span: Range<usize>,
}

impl Arguments {
    /// Splits `text`, which stands at byte `start` of the recipe between the parentheses of step `name`.
    pub(crate) fn split(
        name: &str,
        text: &str,
        start: usize,
        span: Range<usize>,
    ) -> Result<Self, RecipeError> {
        let mut groups = vec![vec![]];
        let (mut depth, mut from) = (0usize, 0usize);
        for (at, c) in unquoted(text).chain([(text.len(), ';')]) {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth = depth.saturating_sub(1),
                ',' | ';' if depth == 0 => {
                    if let (Some(argument), Some(group)) =
                        (argument(&text[from..at], start + from)?, groups.last_mut())
                    {
                        group.push(argument);
                    }
                    if c == ';' {
                        groups.push(vec![]);
                    }
                    from = at + 1;
                }
                _ => {}
            }
        }
        groups.pop();
        Ok(Arguments { name: name.to_string(), groups, span })
    }

    /// An error about the whole step.
    pub fn error(&self, message: impl Into<String>) -> RecipeError {
        RecipeError { message: message.into(), span: self.span.clone() }
    }

    /// Takes the first group: nodes, `count` of them.
    pub fn loops(&mut self, count: std::ops::RangeInclusive<usize>) -> Result<Vec<LoopRef>, RecipeError> {
        if self.groups.is_empty() {
            return Err(self.error(format!("`{}` needs a loop", self.name)));
        }
        let group = self.groups.remove(0);
        if !count.contains(&group.len()) {
            let (least, most) = (count.start(), count.end());
            let expected = if least == most { least.to_string() } else { format!("{least} to {most}") };
            return Err(self.error(format!("`{}` needs {expected} loops, found {}", self.name, group.len())));
        }
        group.iter().map(Argument::loop_ref).collect()
    }

    /// Takes the first loop and nothing else in the first group.
    pub fn one_loop(&mut self) -> Result<LoopRef, RecipeError> {
        let mut loops = self.loops(1..=1)?;
        loops.pop().ok_or_else(|| self.error("a loop is missing"))
    }

    /// Takes the next group if it consists of integers only.
    pub fn integers(&mut self) -> Option<Vec<i64>> {
        let group = self.groups.first()?;
        let values: Option<Vec<i64>> =
            group.iter().map(|a| if a.key.is_none() { a.value.parse().ok() } else { None }).collect();
        let values = values.filter(|v| !v.is_empty())?;
        self.groups.remove(0);
        Some(values)
    }

    /// Takes the next group, which must be one integer.
    pub fn one_integer(&mut self) -> Result<i64, RecipeError> {
        match self.integers().as_deref() {
            Some([value]) => Ok(*value),
            _ => Err(self.error(format!("`{}` needs one integer after the loops", self.name))),
        }
    }

    /// A number as a position.
    pub(crate) fn position(&self, value: i64) -> Result<usize, RecipeError> {
        usize::try_from(value).map_err(|_| self.error("a position is not negative"))
    }

    /// Takes the next argument, whatever it is.
    pub fn next_argument(&mut self) -> Option<Argument> {
        while self.groups.first().is_some_and(Vec::is_empty) {
            self.groups.remove(0);
        }
        let group = self.groups.first_mut()?;
        let argument = group.remove(0);
        if group.is_empty() {
            self.groups.remove(0);
        }
        Some(argument)
    }

    /// Takes `word`, wherever it stands.
    pub fn flag(&mut self, word: &str) -> bool {
        self.take(|a| a.key.is_none() && a.value == word).is_some()
    }

    /// Takes `key=integer`, wherever it stands.
    pub fn keyed_integer(&mut self, key: &str) -> Result<Option<i64>, RecipeError> {
        let Some(argument) = self.take(|a| a.key.as_deref() == Some(key)) else { return Ok(None) };
        match argument.value.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(argument.error(format!("`{key}` needs an integer"))),
        }
    }

    fn take(&mut self, wanted: impl Fn(&Argument) -> bool) -> Option<Argument> {
        for group in &mut self.groups {
            if let Some(at) = group.iter().position(&wanted) {
                return Some(group.remove(at));
            }
        }
        None
    }

    /// Refuses arguments that nobody took.
    pub fn finish(&self) -> Result<(), RecipeError> {
        match self.groups.iter().flatten().next() {
            None => Ok(()),
            Some(a) => Err(a.error(format!("`{}` does not take `{}`", self.name, a.value))),
        }
    }
}

impl Argument {
    /// An error about this argument.
    pub fn error(&self, message: impl Into<String>) -> RecipeError {
        RecipeError { message: message.into(), span: self.span.clone() }
    }

    /// The node it names.
    pub fn loop_ref(&self) -> Result<LoopRef, RecipeError> {
        LoopRef::parse(&self.value).filter(|_| self.key.is_none()).ok_or_else(|| {
            self.error(format!("`{}` names no loop: a path such as @0.1, or a variable", self.value))
        })
    }
}

/// The characters of recipe text with their positions, but for names in quotes, which end on their line.
pub(crate) fn unquoted(text: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut inside, mut escaped) = (false, false);
    text.char_indices().filter(move |(_, c)| {
        if *c == '\n' {
            (inside, escaped) = (false, false);
            return true;
        }
        let was_inside = inside;
        inside ^= *c == '"' && !escaped;
        escaped = inside && *c == '\\' && !escaped;
        !was_inside && !inside
    })
}

fn argument(text: &str, start: usize) -> Result<Option<Argument>, RecipeError> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Ok(None);
    }
    let start = start + (text.len() - text.trim_start().len());
    let span = start..start + trimmed.len();
    let (key, value) = match unquoted(trimmed).find(|(_, c)| *c == '=') {
        Some((at, _)) => (Some(trimmed[..at].trim().to_string()), trimmed[at + 1..].trim()),
        None => (None, trimmed),
    };
    if value.is_empty() || key.as_deref() == Some("") {
        return Err(RecipeError { message: "an argument is `value` or `key=value`".into(), span });
    }
    let digits = value.strip_prefix('-').unwrap_or(value);
    if digits.bytes().all(|b| b.is_ascii_digit()) && !digits.is_empty() && value.parse::<i64>().is_err() {
        let message = format!("`{value}` is too large: numbers have 64 bits, {} at most", i64::MAX);
        return Err(RecipeError { message, span });
    }
    Ok(Some(Argument { key, value: value.to_string(), span }))
}
