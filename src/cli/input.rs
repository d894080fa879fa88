//! Reading inputs and turning options into settings.

use super::args::{CostModelChoice, InputArguments, ModelArguments, SearchArguments, StrategyChoice};
use super::error::CliError;
use looptree::analyses::AnalysisError;
use looptree::driver::{self, DriverError, ModelError, Optimizer, Settings};
use looptree::explore::Strategy;
use looptree::measure::Part;
use looptree::transforms::{Recipe, Registry};
use looptree::tree::text::{Program, parse as parse_program};
use miette::NamedSource;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Inputs larger than this are refused, in bytes: nothing written by people or compilers comes near.
const LARGEST: u64 = 1 << 30;

/// What was read.
pub enum Input {
    /// LLVM IR or bitcode.
    Ir(Vec<u8>),
    /// A `.lt` program.
    Text(Box<Program>),
}

impl Input {
    /// The module for a session: none where the input is a tree.
    pub fn module(&self) -> &[u8] {
        match self {
            Input::Ir(bytes) => bytes,
            Input::Text(_) => &[],
        }
    }
}

/// Reads the input file; C goes through clang.
pub fn read(arguments: &InputArguments) -> Result<Input, CliError> {
    let file = &arguments.file;
    let extension = file.extension().and_then(|e| e.to_str()).unwrap_or("");
    if !driver::is_source(file) && !arguments.clang_flags.is_empty() {
        return Err(CliError::Usage {
            message: format!("flags after `--` are for clang, but {} is neither C nor C++", file.display()),
            help: "leave them out".to_string(),
        });
    }
    match extension {
        _ if driver::is_source(file) => driver::compile_source(file, &arguments.clang_flags)
            .map(Input::Ir)
            .map_err(|e| from_driver(e, file)),
        "lt" => Ok(Input::Text(Box::new(parse(file, text(file)?)?))),
        _ => {
            let bytes = read_bytes(file)?;
            if file.as_os_str() == "-" && is_tree(&bytes) {
                return Ok(Input::Text(Box::new(parse(file, as_text(file, bytes)?)?)));
            }
            driver::require_ir(&file.display().to_string(), &bytes).map_err(|e| from_driver(e, file))?;
            // SAFETY: the command starts its threads, for the search and for progress, after it has read its input.
            unsafe { irgen::llvm::try_reading(&bytes, &file.display().to_string()) }
                .map_err(|e| from_driver(DriverError::Llvm(e), file))?;
            Ok(Input::Ir(bytes))
        }
    }
}

/// Other files of a program; C goes through clang with the flags of the input.
pub fn parts(files: &[PathBuf], input: &InputArguments) -> Result<Vec<Part>, CliError> {
    let part = |file: &PathBuf| match file.extension().and_then(|e| e.to_str()) {
        Some("o") => Ok(Part::Object(read_bytes(file)?)),
        Some(kind @ ("c" | "ll" | "bc")) => {
            let clang_flags = if kind == "c" { input.clang_flags.clone() } else { Vec::new() };
            let own = InputArguments { file: file.clone(), function: None, region: None, clang_flags };
            Ok(Part::Ir(file.display().to_string(), read(&own)?.module().to_vec()))
        }
        _ => Err(CliError::Usage {
            message: format!("--with {}: neither C, nor IR, nor an object", file.display()),
            help: "the file's name ends in .c, .ll, .bc or .o".to_string(),
        }),
    };
    files.iter().map(part).collect()
}

/// Whether a text is a `.lt` program: what begins with this is none of LLVM's.
fn is_tree(bytes: &[u8]) -> bool {
    bytes.split(|b| *b == b'\n').any(|line| line.trim_ascii_start().starts_with(b"nest @"))
}

fn parse(file: &Path, source: String) -> Result<Program, CliError> {
    parse_program(&source).map_err(|error| syntax(file, source, error.message, error.help, error.span))
}

/// Bytes of the source that are shown with an error.
const MOST_SHOWN: usize = 4000;

/// An error at a place of a text.
pub fn syntax(
    file: &Path,
    source: String,
    message: String,
    help: Option<String>,
    span: std::ops::Range<usize>,
) -> CliError {
    // What is shown: the lines of the place, and one around.
    let before = source.get(..span.start).unwrap_or(&source);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let first = before[..line_start.saturating_sub(1)].rfind('\n').map_or(0, |at| at + 1);
    let behind = source.get(span.end..).unwrap_or_default();
    let last = behind.match_indices('\n').nth(1).map_or(source.len(), |(at, _)| span.end + at);
    if last - first > MOST_SHOWN {
        let (line, column) = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
        return CliError::SyntaxFar { file: file.to_owned(), line, column, message, help };
    }
    CliError::Syntax {
        message,
        help,
        text: NamedSource::new(file.display().to_string(), source),
        span: span.into(),
    }
}

/// Reads a file of text; `-` is standard input.
pub fn text(file: &Path) -> Result<String, CliError> {
    as_text(file, read_bytes(file)?)
}

fn as_text(file: &Path, bytes: Vec<u8>) -> Result<String, CliError> {
    String::from_utf8(bytes).map_err(|e| CliError::Read {
        file: file.to_owned(),
        source: std::io::Error::new(
            std::io::ErrorKind::InvalidData,
            format!("it is not UTF-8 text (byte {})", e.utf8_error().valid_up_to()),
        ),
    })
}

fn read_bytes(file: &Path) -> Result<Vec<u8>, CliError> {
    let failed = |source| CliError::Read { file: file.to_owned(), source };
    let mut bytes = Vec::new();
    if file.as_os_str() == "-" {
        std::io::stdin().take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    } else {
        let open = std::fs::File::open(file).map_err(failed)?;
        open.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    }
    if bytes.len() as u64 > LARGEST {
        let message = format!("it is larger than {LARGEST} bytes");
        return Err(failed(std::io::Error::new(std::io::ErrorKind::FileTooLarge, message)));
    }
    Ok(bytes)
}

/// Recipe text, or the contents of the file of that name.
pub fn recipe(argument: &str, registry: &Registry) -> Result<Recipe, CliError> {
    let path = Path::new(argument);
    let (name, text) = if path.is_file() {
        let text = std::fs::read_to_string(path)
            .map_err(|source| CliError::Read { file: path.to_owned(), source })?;
        (path, text)
    } else {
        (Path::new("--recipe"), argument.to_string())
    };
    Recipe::parse(&text, registry).map_err(|e| {
        let steps = "steps look like tile(i, j; 32, 32), separated by `;`";
        let no_file =
            if path.is_file() || argument.contains('(') { "" } else { "; there is no file of that name" };
        let help = Some(format!("{steps}{no_file}"));
        syntax(name, text.clone(), e.message, help, e.span)
    })
}

/// Options as settings.
pub fn settings(
    input: &InputArguments,
    model: &ModelArguments,
    search: Option<&SearchArguments>,
) -> Result<Settings, CliError> {
    let mut settings = Settings {
        params: parameters(&model.params)?,
        default_param: model.default_param,
        target: model.target.clone(),
        cost_model: match model.cost_model {
            CostModelChoice::Analytic => "analytic",
            CostModelChoice::Instructions => "instructions",
        }
        .to_string(),
        dependences: model.dependences.clone(),
        closed_forms: model.closed_forms.clone(),
        accesses: model.accesses.clone(),
        control_flow: model.control_flow.clone(),
        threads: model.threads,
        libraries: model.library.clone(),
        reorders: model.reorder,
        function: input.function.clone(),
        region: input.region,
        unrolls: driver::unrolls(&input.file, &input.clang_flags),
        ..search.map_or_else(|| Ok(Settings::default()), self::search)?
    };
    if input.region.is_some() && input.function.is_none() {
        return Err(CliError::Usage {
            message: "--region counts the regions of one function".to_string(),
            help: "name the function with --function".to_string(),
        });
    }
    if let Some(quota) = model.quota {
        settings.oracle.quota = quota;
    }
    Ok(settings)
}

/// Options of the search as settings.
pub fn search(search: &SearchArguments) -> Result<Settings, CliError> {
    let mut settings = Settings::default();
    let limits = &mut settings.limits;
    limits.depth = search.depth.unwrap_or(limits.depth);
    limits.beam = search.beam.unwrap_or(limits.beam).max(1);
    limits.variants = search.max_variants.unwrap_or(limits.variants);
    limits.threads = search.jobs.unwrap_or(0);
    settings.strategy = match search.strategy {
        StrategyChoice::Exhaustive => Strategy::Exhaustive,
        StrategyChoice::Beam => Strategy::Beam,
        StrategyChoice::Guided => Strategy::Guided,
    };
    for name in &search.without_sketch {
        if !settings.sketches.remove(name) {
            return Err(CliError::Usage {
                message: format!("there is no sketch called `{name}`"),
                help: format!("there are: {}", settings.sketches.names().collect::<Vec<_>>().join(", ")),
            });
        }
    }
    Ok(settings)
}

/// What the settings name.
pub fn optimizer(settings: Settings) -> Result<Optimizer, CliError> {
    Optimizer::new(settings).map_err(|e| CliError::Usage {
        message: e.to_string(),
        help: match &e {
            ModelError::File(_) => "`looptree calibrate` writes such files anew",
            _ => "names are written as they are listed",
        }
        .to_string(),
    })
}

/// Values of `--param`.
pub fn parameters(pairs: &[String]) -> Result<BTreeMap<String, i64>, CliError> {
    values("--param", pairs)
}

/// `name=value` pairs of an option.
pub fn values(option: &str, pairs: &[String]) -> Result<BTreeMap<String, i64>, CliError> {
    let wrong = |pair: &str, why: &str| CliError::Usage {
        message: format!("{option} {pair}: {why}"),
        help: format!("write {option} NAME=INTEGER, once for each parameter"),
    };
    let mut result = BTreeMap::new();
    for pair in pairs {
        let (name, value) = pair.split_once('=').ok_or_else(|| wrong(pair, "there is no `=`"))?;
        let value = value.parse().map_err(|_| wrong(pair, "the value is not a 64-bit integer"))?;
        if result.insert(name.to_string(), value).is_some() {
            return Err(wrong(pair, "the parameter is given twice"));
        }
    }
    Ok(result)
}

/// A driver's error in the words of the command.
pub fn from_driver(error: DriverError, file: &Path) -> CliError {
    let message = error.to_string();
    let help = error.help().unwrap_or_default();
    match error {
        DriverError::Read { source, .. } => CliError::Read { file: file.to_owned(), source },
        DriverError::Run { program, source } => CliError::Run { program, source },
        DriverError::Clang { message, .. } => CliError::Clang { file: file.to_owned(), message },
        DriverError::Llvm(_) => CliError::Llvm {
            // Errors of reading begin with the place.
            message: match file.display().to_string() {
                name if message.starts_with(&name) => message,
                name => format!("{name}: {message}"),
            },
            help: match file.as_os_str() == "-" {
                true => "standard input is read as LLVM 22 IR, bitcode or `.lt` text; C is read from files",
                false => help,
            }
            .to_string(),
        },
        DriverError::NotIr { .. } => CliError::Llvm { message, help: help.to_string() },
        DriverError::Target { .. } => CliError::Llvm {
            message: format!("{}: {message}", file.display()),
            help: "compile for x86-64".to_string(),
        },
        DriverError::NoFunction { .. } | DriverError::NoRegion { .. } => {
            CliError::NotThere { message, help: "`looptree show FILE --what regions` lists them".to_string() }
        }
        DriverError::SeveralFunctions { .. } => CliError::NotThere {
            message,
            help: "write one of them in whole, in quotes, or its symbol".to_string(),
        },
        DriverError::NotOneRegion { .. } => CliError::NotThere {
            message,
            help: "select one with --function NAME --region NUMBER".to_string(),
        },
        DriverError::Model(_) => CliError::Usage {
            message,
            help: "`looptree show FILE --what regions` shows the parameters; what all calls of a `static` function pass alike is a constant".to_string(),
        },
        DriverError::Analysis { source, .. } => CliError::Failed { message, help: analysis_help(&source).to_string() },
        DriverError::Recipe(_) | DriverError::Replay { .. } => CliError::Failed {
            message,
            help: "`looptree show FILE --what tree` shows the loops and their paths, `--what moves` what applies"
                .to_string(),
        },
        DriverError::Illegal { .. } => CliError::Failed {
            message,
            help: "the dependence named keeps the statements in their order".to_string(),
        },
        DriverError::C { .. } => CliError::Failed {
            message,
            help: "choose another variant with --recipe, or emit LLVM IR".to_string(),
        },
        DriverError::Emit { .. } | DriverError::Differs { .. } => CliError::Failed { message, help: "please report this variant".to_string() },
    }
}

/// What to do about a kernel that cannot be analysed.
fn analysis_help(error: &AnalysisError) -> &'static str {
    match error {
        AnalysisError::Unsupported(_) => {
            "the path counts children from the outermost sequence of `looptree show FILE`; loops `until` a condition, \
             storage and versions end what can be searched: put the nest beside them into a file of its own"
        }
        AnalysisError::Repeated { .. } => "a statement takes the variables of all loops around it",
        AnalysisError::Inexact(_) => "coefficients and constants must be such that bounds fit into 64 bits",
        AnalysisError::TooLarge { .. } | AnalysisError::TooDeep { .. } => {
            "put parts of the nest into functions or files of their own"
        }
        _ => "raise --quota, or choose a cheaper analysis with --dependences",
    }
}
