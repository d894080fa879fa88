//! Options: `name=value`, separated by commas, from the environment variable `LOOPTREE` and the command line.

use looptree::analyses::idioms::LIBRARIES;
use looptree::driver::{MIN_GAIN, ModelError, Settings};

/// What a user asks for.
#[derive(Debug)]
pub struct Options {
    /// Whether anything is done.
    pub on: bool,
    /// Whether remarks are printed, beside those that the compiler is asked for.
    pub remarks: bool,
    /// Predicted gain below which code is left alone.
    pub min_gain: f64,
    /// How code is explored.
    pub settings: Settings,
}

/// An option that makes no sense.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum OptionError {
    /// No option has this name.
    #[error("there is no option `{0}`; there are: {NAMES}")]
    Unknown(String),
    /// An option without its value, or with one that it does not take.
    #[error("`{option}`: {wanted}")]
    Value {
        /// As it was written.
        option: String,
        /// What would make sense.
        wanted: &'static str,
    },
    /// A name that no model has.
    #[error(transparent)]
    Model(#[from] ModelError),
}

const NAMES: &str = "off, remarks, min-gain=FACTOR, threads=COUNT, jobs=COUNT, target=NAME, size=NUMBER, function=NAME, variants=COUNT, library=NAME, reorder";

impl Options {
    /// Reads texts, of which later ones overrule earlier ones.
    pub fn parse<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Options, OptionError> {
        let mut options =
            Options { on: true, remarks: false, min_gain: MIN_GAIN, settings: Settings::default() };
        // A build runs many compilers at once.
        options.settings.limits.threads = 1;
        for text in texts {
            for option in text.split(',').map(str::trim).filter(|o| !o.is_empty()) {
                options.set(option)?;
            }
        }
        Ok(options)
    }

    fn set(&mut self, option: &str) -> Result<(), OptionError> {
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (option, None),
        };
        let wrong = |wanted| OptionError::Value { option: option.to_string(), wanted };
        let count = || value.and_then(|v| v.parse::<usize>().ok()).filter(|v| *v > 0);
        let text = |wanted| value.filter(|v| !v.is_empty()).ok_or_else(|| wrong(wanted));
        match name {
            "off" | "remarks" | "reorder" if value.is_some() => return Err(wrong("it takes no value")),
            "off" => self.on = false,
            "remarks" => self.remarks = true,
            "reorder" => self.settings.reorders = true,
            "library" => {
                let known = value.filter(|name| LIBRARIES.contains(name));
                let name = known.ok_or_else(|| wrong("a library that is known is wanted: library=cblas"))?;
                self.settings.libraries.push(name.into());
            }
            "min-gain" => {
                let gain = value.and_then(|v| v.parse().ok()).filter(|v: &f64| v.is_finite() && *v > 0.0);
                self.min_gain = gain.ok_or_else(|| wrong("a factor is wanted, such as min-gain=1.6"))?;
            }
            "threads" => {
                let threads = count().and_then(|c| u32::try_from(c).ok()).filter(|c| *c <= 1024);
                let threads =
                    threads.ok_or_else(|| wrong("a count up to 1024 is wanted, such as threads=4"))?;
                self.settings.threads = threads;
            }
            "jobs" => {
                let jobs = count().ok_or_else(|| wrong("a count is wanted, such as jobs=4"))?;
                self.settings.limits.threads = jobs;
            }
            "variants" => {
                let variants = count().ok_or_else(|| wrong("a count is wanted, such as variants=400"))?;
                self.settings.limits.variants = variants;
            }
            "size" => {
                let size = value.and_then(|v| v.parse().ok()).filter(|v: &i64| *v > 0);
                let size = size.ok_or_else(|| wrong("a number is wanted, such as size=1000"))?;
                self.settings.default_param = size;
            }
            "target" => {
                self.settings.target =
                    text("a name is wanted, such as target=znver4, or a calibration's file")?.into();
            }
            "function" => self.settings.function = Some(text("the name of a function is wanted")?.into()),
            _ => return Err(OptionError::Unknown(name.to_string())),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_options_overrule_earlier_ones() {
        let options =
            Options::parse(["min-gain=2, jobs=3", "min-gain=1.1,size=50,remarks,threads=2"]).unwrap();
        let settings = &options.settings;
        assert_eq!((options.min_gain, settings.limits.threads, settings.threads), (1.1, 3, 2));
        assert_eq!((options.settings.default_param, options.remarks, options.on), (50, true, true));
        let settings = Options::parse(["library=cblas,reorder"]).unwrap().settings;
        assert_eq!((&settings.libraries[..], settings.reorders), (&["cblas".to_string()][..], true));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let error = |text| Options::parse([text]).unwrap_err().to_string();
        assert!(
            error("min_gain=2").contains("no option `min_gain`; there are: off, remarks, min-gain=FACTOR")
        );
        for text in [
            "min-gain=nan",
            "min-gain",
            "threads=0",
            "threads=-1",
            "size=big",
            "off=1",
            "function=",
            "library=blas",
        ] {
            assert!(error(text).starts_with(&format!("`{text}`: ")), "{}", error(text));
        }
    }
}
