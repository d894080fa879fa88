//! What happened to each nest, for people.

use super::Explored;
use crate::explore::{Exploration, Reason, Statistics};
use crate::names::{label, readable};
use loop_tree::SourceLocation;
use std::fmt;
use std::sync::Arc;

/// What a note says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A nest is replaced.
    Changed,
    /// A nest is left as it is.
    LeftAlone,
    /// What the source asks for cannot be had: the nest is left as it is.
    Denied,
    /// What the source asks for is perhaps not what it means.
    Doubtful,
    /// Something that is not understood keeps code out of nests.
    NotUnderstood,
}

/// Part of a note's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Words.
    Text(String),
    /// A value that programs may look for under this name.
    Value(&'static str, String),
}

/// One note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What it says.
    pub subject: Subject,
    /// A stable short name.
    pub code: &'static str,
    /// The function's symbol.
    pub function: Arc<str>,
    /// The region's number in it, where it is about one.
    pub region: Option<usize>,
    /// Where, if the IR says so.
    pub location: Option<SourceLocation>,
    /// The text.
    pub text: Vec<Piece>,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.text {
            let (Piece::Text(text) | Piece::Value(_, text)) = piece;
            f.write_str(text)?;
        }
        Ok(())
    }
}

/// What forbids the first variant that is not legal, and what tells the others.
fn forbidden(exploration: &Exploration) -> String {
    let illegal = exploration.refused.iter().find_map(|refused| match &refused.reason {
        Reason::Illegal(witness) => Some((&refused.recipe, witness)),
        Reason::Refusal(_) => None,
    });
    illegal.map_or_else(String::new, |(recipe, witness)| {
        format!(": {recipe}: {witness}; `looptree why` tells what else is forbidden, and what would help")
    })
}

/// A note for each region, and for each part that was not understood; regions are replaced where `min_gain` is predicted.
pub fn notes(explored: &Explored, min_gain: f64) -> Vec<Note> {
    let mut notes = Vec::new();
    let text = |t: String| Piece::Text(t);
    for region in &explored.regions {
        let exploration = &region.exploration;
        let name = Piece::Value("Region", region.label());
        let changed = exploration.worthwhile(min_gain);
        let note = Note {
            subject: if changed.is_some() { Subject::Changed } else { Subject::LeftAlone },
            code: if changed.is_some() { "Transformed" } else { "NotWorthwhile" },
            function: region.function.clone(),
            region: Some(region.number),
            location: region.location.clone(),
            text: Vec::new(),
        };
        let words = match changed {
            Some(variant) => vec![
                name,
                text(": ".to_string()),
                Piece::Value("Recipe", variant.recipe.to_string()),
                text(" (predicted ".to_string()),
                Piece::Value("Gain", format!("{:.2}", exploration.ratio(variant))),
                text("x)".to_string()),
            ],
            None => {
                let Statistics { tried, judged, undecided, legal, .. } = exploration.statistics;
                let ratio = exploration.ratio(exploration.best());
                let best = match (tried, legal) {
                    (0, _) => "no transformation applies; `looptree why` tells what would help".to_string(),
                    // Judged are those that are predicted to gain.
                    _ if judged == 0 => format!("none of {tried} variants is predicted to be faster"),
                    (_, 0) => {
                        format!("none of the {judged} variants judged is legal{}", forbidden(exploration))
                    }
                    _ => format!(
                        "the best of {legal} legal variants is predicted to be {ratio:.2}x, and {min_gain}x is wanted (min-gain)"
                    ),
                };
                // Without it, it would look as if nothing could be done.
                let why = match undecided {
                    0 => String::new(),
                    _ => format!("; {undecided} of {judged} variants could not be judged within the quota"),
                };
                vec![name, text(format!(": left alone: {best}{why}"))]
            }
        };
        notes.push(Note { text: words, ..note });
    }
    for skipped in &explored.skipped {
        notes.push(Note {
            subject: if skipped.asked { Subject::Denied } else { Subject::LeftAlone },
            code: if skipped.asked { "Denied" } else { "NotAnalysed" },
            function: skipped.function.clone(),
            region: Some(skipped.number),
            location: skipped.location.clone(),
            text: vec![
                Piece::Value("Region", skipped.label()),
                text(format!(": left alone: {}", skipped.why)),
            ],
        });
    }
    for warning in &explored.warnings {
        let label = warning
            .number
            .map_or_else(|| readable(&warning.function).into_owned(), |n| label(&warning.function, n));
        notes.push(Note {
            subject: Subject::Doubtful,
            code: warning.doubt.code,
            function: warning.function.clone(),
            region: warning.number,
            location: warning.location.clone(),
            text: vec![Piece::Value("Region", label), text(format!(": {}", warning.doubt.message))],
        });
    }
    for (function, remark) in &explored.remarks {
        let place =
            if remark.location.is_none() { format!("{}: ", readable(function)) } else { String::new() };
        let help = if remark.help.is_empty() { String::new() } else { format!("; {}", remark.help) };
        notes.push(Note {
            subject: Subject::NotUnderstood,
            code: remark.code,
            function: function.clone(),
            region: None,
            location: remark.location.clone(),
            text: vec![
                text(place),
                Piece::Value("Reason", remark.message.clone()),
                text(format!(" [{}]{help}", remark.code)),
            ],
        });
    }
    notes
}
