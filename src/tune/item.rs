//! Work items and reports, as lines of JSON.

use super::identity::hash;
use crate::names::label;
use cost_model::targets::Vectors;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The version of items and reports.
pub const FORMAT: u32 = 1;

/// A parameter's name and value.
pub type Size = (String, i64);

/// One measurement to make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// [`FORMAT`].
    pub format: u32,
    /// Hash of what is measured: kernel, values of parameters, recipe.
    pub id: String,
    /// The file, as whoever measures can read it.
    pub file: PathBuf,
    /// Flags for clang.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Other files of the program that the function needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<PathBuf>,
    /// The function.
    pub function: String,
    /// Number of the region in it.
    pub region: usize,
    /// Hash of the region's kernel.
    pub kernel: String,
    /// Values of the region's parameters, in their order.
    pub params: Vec<Size>,
    /// Value of parameters of the function's other regions.
    pub default_param: i64,
    /// The recipe.
    pub recipe: String,
    /// What it calls the arrays of the kernel, by number: the same kernel has other names elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrays: Vec<String>,
    /// Predicted time of the original over that of the variant.
    pub predicted: f64,
}

/// What came of an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`FORMAT`].
    pub format: u32,
    /// What was asked.
    pub item: Item,
    /// The processor that it was measured on.
    pub processor: String,
    /// What the code was compiled for ([`code_name`]).
    pub target: String,
    /// What happened.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Outcome {
    /// The variant computes the same, bit for bit.
    Measured {
        /// Calls in a sample.
        calls: u32,
        /// Nanoseconds of each sample of the original.
        original: Vec<u64>,
        /// Nanoseconds of each sample of the variant, each taken next to that of the original.
        variant: Vec<u64>,
    },
    /// The variant computes something else, or ends the process.
    Wrong {
        /// How that was seen.
        message: String,
    },
    /// There is no measurement.
    Failed {
        /// Why.
        message: String,
    },
}

/// An item or report that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ItemError {
    /// It is not as it should be.
    #[error("this is no {what}: {source}")]
    Syntax {
        /// What was expected.
        what: &'static str,
        /// Where it is none.
        source: serde_json::Error,
    },
    /// Another version of this program wrote it.
    #[error("the {what} has format {found}, this looptree reads {FORMAT}")]
    Format {
        /// What was read.
        what: &'static str,
        /// Its format.
        found: u32,
    },
    /// Its name is not that of what it says.
    #[error("the item says that it is {said}, but what it asks for is {found}: it was changed, or cut off")]
    Id {
        /// As it says.
        said: String,
        /// As it is.
        found: String,
    },
    /// A measurement that none can be.
    #[error("the report of {item} is no measurement: {why}")]
    Samples {
        /// The item.
        item: String,
        /// What is wrong.
        why: &'static str,
    },
}

impl Item {
    /// Sets its name to what it is.
    #[must_use]
    pub fn named(mut self) -> Item {
        self.id = self.identity();
        self
    }

    fn identity(&self) -> String {
        let values: Vec<String> = self.params.iter().map(|(_, value)| value.to_string()).collect();
        hash(&format!("{}\n{}\n{}", self.kernel, values.join(","), self.recipe))
    }

    /// `function#region`, for people.
    pub fn label(&self) -> String {
        label(&self.function, self.region)
    }

    /// The line, without its end.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("plain data has text")
    }

    /// Reads a line.
    ///
    /// # Errors
    /// Where it is none, or not whole.
    pub fn from_line(line: &str) -> Result<Item, ItemError> {
        let what = "work item";
        require_format(line, what)?;
        let item: Item = serde_json::from_str(line).map_err(|source| ItemError::Syntax { what, source })?;
        item.check()?;
        Ok(item)
    }

    fn check(&self) -> Result<(), ItemError> {
        let found = self.identity();
        if found == self.id { Ok(()) } else { Err(ItemError::Id { said: self.id.clone(), found }) }
    }
}

impl Report {
    /// Hash of what it says.
    pub fn id(&self) -> String {
        let outcome = serde_json::to_string(&self.outcome).expect("plain data has text");
        hash(&format!("{}\n{}\n{}\n{outcome}", self.item.id, self.processor, self.target))
    }

    /// The line, without its end.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("plain data has text")
    }

    /// Reads a line.
    ///
    /// # Errors
    /// Where it is none, is not whole, or contradicts itself.
    pub fn from_line(line: &str) -> Result<Report, ItemError> {
        let what = "report";
        require_format(line, what)?;
        let report: Report =
            serde_json::from_str(line).map_err(|source| ItemError::Syntax { what, source })?;
        report.check()?;
        Ok(report)
    }

    /// Whether it can be what happened.
    ///
    /// # Errors
    /// Where it contradicts itself.
    pub fn check(&self) -> Result<(), ItemError> {
        self.item.check()?;
        let wrong = |why| Err(ItemError::Samples { item: self.item.id.clone(), why });
        if self.processor.is_empty() {
            return wrong("it does not name the processor");
        }
        let Outcome::Measured { calls, original, variant } = &self.outcome else { return Ok(()) };
        let storable = |list: &[u64]| list.iter().all(|ns| *ns > 0 && i64::try_from(*ns).is_ok());
        match () {
            () if original.is_empty() => wrong("there are no samples"),
            () if original.len() != variant.len() => {
                wrong("there are not as many samples of the variant as of the original")
            }
            () if *calls == 0 => wrong("nothing was called"),
            () if !storable(original) || !storable(variant) => wrong("a sample took no time, or for ever"),
            () => Ok(()),
        }
    }
}

/// Says that a version is another one before saying that something in it is unknown.
fn require_format(line: &str, what: &'static str) -> Result<(), ItemError> {
    #[derive(Deserialize)]
    struct Head {
        format: u32,
    }
    let head: Head = serde_json::from_str(line).map_err(|source| ItemError::Syntax { what, source })?;
    if head.format == FORMAT { Ok(()) } else { Err(ItemError::Format { what, found: head.format }) }
}

/// What code is compiled for, as far as it decides which variant is fastest: the vectors that its attributes allow.
pub fn code_name(vectors: Option<Vectors>) -> String {
    match vectors {
        None => "not stated".to_string(),
        Some(Vectors { bits, widest, registers, masked }) => {
            let wider = if widest > bits { format!(" or {widest}") } else { String::new() };
            format!("{bits}{wider} bits, {registers} registers{}", if masked { ", masks" } else { "" })
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn item(kernel: &str, recipe: &str, n: i64) -> Item {
        let item = Item {
            format: FORMAT,
            id: String::new(),
            file: "x.c".into(),
            flags: vec!["-O3".into()],
            with: Vec::new(),
            function: "f".into(),
            region: 0,
            kernel: kernel.into(),
            params: vec![("n".into(), n)],
            default_param: 1000,
            recipe: recipe.into(),
            arrays: Vec::new(),
            predicted: 2.5,
        };
        item.named()
    }

    pub fn report(item: Item, variant: &[u64]) -> Report {
        let outcome =
            Outcome::Measured { calls: 2, original: vec![1000; variant.len()], variant: variant.to_vec() };
        Report { format: FORMAT, item, processor: "P".into(), target: "512 bits".into(), outcome }
    }

    #[test]
    fn lines_read_back_and_what_was_changed_is_noticed() {
        let item = item("00ff", "interchange(@0)", 100);
        assert_eq!(Item::from_line(&item.to_line()).unwrap(), item);
        let report = report(item.clone(), &[500, 501]);
        assert_eq!(Report::from_line(&report.to_line()).unwrap(), report);
        assert_eq!(Report::from_line(&report.to_line()).unwrap().id(), report.id());

        let changed = item.to_line().replace("interchange", "reverse");
        assert!(matches!(Item::from_line(&changed), Err(ItemError::Id { .. })));
        let newer = item.to_line().replace("\"format\":1", "\"format\":2");
        assert!(matches!(Item::from_line(&newer), Err(ItemError::Format { found: 2, .. })));
        let cut = &report.to_line()[..200];
        assert!(matches!(Report::from_line(cut), Err(ItemError::Syntax { .. })));
    }

    #[test]
    fn what_is_no_measurement_is_refused() {
        let wrong = |outcome| {
            let report = Report { outcome, ..report(item("k", "r", 1), &[1]) };
            Report::from_line(&report.to_line()).unwrap_err().to_string()
        };
        let measured = |calls, original: &[u64], variant: &[u64]| Outcome::Measured {
            calls,
            original: original.to_vec(),
            variant: variant.to_vec(),
        };
        assert!(wrong(measured(1, &[], &[])).contains("no samples"));
        assert!(wrong(measured(1, &[1, 2], &[1])).contains("as many"));
        assert!(wrong(measured(0, &[1], &[1])).contains("called"));
        assert!(wrong(measured(1, &[0], &[1])).contains("no time"));
        assert!(wrong(measured(1, &[1], &[u64::MAX])).contains("no time"));
    }
}
