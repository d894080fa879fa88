//! looptree as a pass plugin: `clang-22 -O3 -fpass-plugin=liblooptree_plugin.so`.
//!
//! The module is the compiler's. Loops are explored in a copy; what is chosen is emitted first into another one, which passes
//! cannot tell from the module, and into the module only where that succeeded. Whatever fails, a panic included, leaves the module
//! as it was.

mod options;

use irgen::lift::has_cycle;
use irgen::llvm::plugin::{PluginInfo, RemarkKind, diagnose, info, remark, remarks_wanted};
use irgen::llvm::{Function, Module, Severity, SourceLocation};
use looptree::driver::{
    DriverError, Note, Optimizer, Piece, Purpose, Session, Stage, Subject, notes, says_something,
};
use options::{OptionError, Options};
use std::cell::Cell;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, Once};

/// Of what is ours: LLVM and isl keep theirs. A sixth of what lifting takes is memory with the C library's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What LLVM looks for in a plugin.
#[unsafe(no_mangle)]
pub extern "C" fn llvmGetPassPluginInfo() -> PluginInfo {
    info(c"looptree", VERSION, run)
}

const VERSION: &std::ffi::CStr =
    match std::ffi::CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// The user has to know.
    #[error("{0}")]
    Options(#[from] OptionError),
    /// The module is as it was.
    #[error("{0}")]
    Driver(#[from] DriverError),
}

fn run(module: &mut Module<'_>, parameters: &str, unrolls: Option<bool>) -> bool {
    keep_panics_quiet();
    let touched = Cell::new(false);
    let result = catch_unwind(AssertUnwindSafe(|| optimise(module, parameters, unrolls, &touched)));
    let message = match result {
        Ok(Ok(())) => return touched.get(),
        Ok(Err(Failure::Options(error))) => {
            diagnose(module, Severity::Error, &format!("looptree: {error}"));
            return false;
        }
        // A build compiles many files, and few have a function of this name.
        Ok(Err(Failure::Driver(error @ DriverError::SeveralFunctions { .. }))) => {
            diagnose(module, Severity::Warning, &format!("looptree: {error}; nothing is changed"));
            return false;
        }
        Ok(Err(Failure::Driver(error))) => error.to_string(),
        Err(_) => {
            let said = LAST_PANIC.lock().ok().and_then(|mut last| last.take());
            format!("internal error: {}", said.unwrap_or_default())
        }
    };
    if touched.get() {
        // Better no code than code that nobody has checked.
        let message = format!("looptree: {message}; please report this, and compile with LOOPTREE=off");
        diagnose(module, Severity::Error, &message);
    } else if let Some(function) = module.functions().into_iter().find(|f| has_cycle(*f)) {
        remark(function, RemarkKind::Missed, "Failed", None, &[(None, &format!("left alone: {message}"))]);
    }
    touched.get()
}

fn optimise(
    module: &mut Module<'_>,
    parameters: &str,
    unrolls: Option<bool>,
    touched: &Cell<bool>,
) -> Result<(), Failure> {
    let environment = std::env::var("LOOPTREE").unwrap_or_default();
    let mut options = Options::parse([environment.as_str(), parameters])?;
    options.settings.unrolls = unrolls;
    let told = options.remarks || remarks_wanted(module);
    let purpose = if told { Purpose::Explain } else { Purpose::Replace };
    let alone = options.settings.gains_without_order();
    let look_at = |f: Function<'_>| {
        options.settings.may_want(&f.name()) && if told { has_cycle(f) } else { f.may_gain(alone) }
    };
    // What the source asks for is done, or warned of, whatever can be gained.
    if !options.on || !(module.functions().into_iter().any(look_at) || says_something(module)) {
        return Ok(());
    }
    let name = module.name();
    let optimizer = Optimizer::new(options.settings).map_err(OptionError::from)?;
    let min_gain = options.min_gain;
    let stage = Stage::InPipeline;
    let session = Session { stage, purpose, min_gain, ..Session::new(&*module, &name, &optimizer) };
    let mut explored = session.explore()?;
    if !session.best(&explored, min_gain)?.is_empty() {
        let bitcode = module.to_exact_bitcode();
        let session = Session { stage, purpose, min_gain, ..Session::new(&bitcode, &name, &optimizer) };
        let rehearsed = session.rehearse(&mut explored, min_gain)?;
        if !rehearsed.is_empty() {
            touched.set(true);
            rehearsed.perform(module, &mut explored)?;
        }
    }
    for note in notes(&explored, options.min_gain) {
        if matches!(note.subject, Subject::Denied | Subject::Doubtful) {
            let place = note.location.as_ref().map_or_else(String::new, |l| format!("{l}: "));
            diagnose(module, Severity::Warning, &format!("looptree: {place}{note}"));
        }
        if told {
            if options.remarks {
                // Nobody may be there to read it.
                let _ = writeln!(std::io::stderr(), "{}", line(&note));
            }
            tell(module, &note);
        }
    }
    Ok(())
}

/// As `looptree opt --remarks` prints it.
fn line(note: &Note) -> String {
    match &note.location {
        Some(place) => format!("{place}: remark: {note}"),
        None => format!("remark: {note}"),
    }
}

fn tell(module: &Module<'_>, note: &Note) {
    let Some(function) = module.function(&note.function) else { return };
    let kind = match note.subject {
        Subject::Changed => RemarkKind::Passed,
        Subject::LeftAlone | Subject::Denied | Subject::Doubtful => RemarkKind::Missed,
        Subject::NotUnderstood => RemarkKind::Analysis,
    };
    let place = note.location.as_ref().map(|l| SourceLocation {
        file: l.file.to_string(),
        directory: String::new(),
        line: l.line,
        column: l.column,
    });
    let said = note.text.iter().filter(|piece| **piece != Piece::Text(String::new()));
    let pieces: Vec<(Option<&str>, &str)> = said
        .map(|piece| match piece {
            Piece::Text(text) => (None, text.as_str()),
            Piece::Value(name, text) => (Some(*name), text.as_str()),
        })
        .collect();
    remark(function, kind, note.code, place.as_ref(), &pieces);
}

static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// What a panic says becomes part of a remark.
fn keep_panics_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            if let Ok(mut last) = LAST_PANIC.lock() {
                *last = Some(panic.to_string());
            }
        }));
    });
}
