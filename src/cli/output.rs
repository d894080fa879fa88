//! Output files are written whole or not at all; what is said beside them is said where anybody listens.

use super::error::CliError;
use super::terminal;
use looptree::irgen::llvm::{Module, is_bitcode};
use std::fmt::Display;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;

/// Standard output, where programs that run in this process have another one.
static OWN: OnceLock<File> = OnceLock::new();

/// From now on what is measured prints to standard error: it runs in this process, and what it prints is no part of a module or table.
pub fn keep_for_itself() -> Result<(), CliError> {
    let failed = |source: std::io::Error| CliError::Write { file: "-".into(), source };
    if OWN.get().is_none() {
        // Asked while it is what it was.
        let (_, _) = (terminal::width(), console::colors_enabled());
        let own = rustix::io::dup(rustix::stdio::stdout()).map_err(|e| failed(e.into()))?;
        rustix::stdio::dup2_stdout(rustix::stdio::stderr()).map_err(|e| failed(e.into()))?;
        // Nobody else sets it.
        let _ = OWN.set(File::from(own));
    }
    Ok(())
}

/// Writes to a file, by way of a temporary one beside it, or to standard output (`-`).
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let failed = |source| CliError::Write { file: path.to_owned(), source };
    if path.as_os_str() == "-" {
        let mut out: Box<dyn Write> = match OWN.get() {
            Some(own) => Box::new(own),
            None => Box::new(std::io::stdout().lock()),
        };
        return out.write_all(bytes).and_then(|()| out.flush()).map_err(failed);
    }
    // A device or pipe cannot be replaced by a file, and of a link that which it leads to is.
    let found = path.canonicalize();
    if path.exists() && (found.is_err() || !path.is_file()) {
        return std::fs::write(path, bytes).map_err(failed);
    }
    let path = found.as_deref().unwrap_or(path);
    let directory = match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".looptree-");
    // As any new file; less what the user masks.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(directory).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    if let Ok(old) = std::fs::metadata(path) {
        file.as_file().set_permissions(old.permissions()).map_err(failed)?;
    }
    file.persist(path).map_err(|e| failed(e.error))?;
    Ok(())
}

/// How IR is written: `.bc` files get bitcode, all others text.
#[derive(Clone, Copy)]
pub struct IrForm {
    bitcode: bool,
}

impl IrForm {
    /// That of a file of this name; `-` is standard output.
    pub fn of(path: &Path) -> IrForm {
        IrForm { bitcode: path.extension().is_some_and(|e| e == "bc") }
    }

    /// Whether IR is in this form as it was read.
    pub fn is_of(self, bytes: &[u8]) -> bool {
        self.bitcode == is_bitcode(bytes)
    }

    /// The module in this form.
    pub fn written(self, module: &Module<'_>) -> Vec<u8> {
        if self.bitcode { module.to_bitcode() } else { module.to_string().into_bytes() }
    }
}

/// Prints to standard output.
pub fn print(text: &str) -> Result<(), CliError> {
    write(Path::new("-"), text.as_bytes())
}

/// A line on standard error. Nobody may be there to read it, which is no reason to fail.
pub fn say(line: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
