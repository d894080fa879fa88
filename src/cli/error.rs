//! Errors of the command, each with what to do about it.

use miette::{Diagnostic, NamedSource, SourceSpan};
use std::path::{Path, PathBuf};

/// What ends a command.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum CliError {
    /// A file cannot be read.
    #[error("cannot read {}", place(file, "standard input"))]
    #[diagnostic(code(input::read), help("check the path and its permissions"))]
    Read {
        /// The file.
        file: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}", place(file, "standard output"))]
    #[diagnostic(
        code(output::write),
        help("check that the directory exists and is writable; nothing was written")
    )]
    Write {
        /// The file.
        file: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// A program cannot be run.
    #[error("cannot run {program}")]
    #[diagnostic(code(input::clang), help("install clang-22, or name it in LOOPTREE_CLANG"))]
    Run {
        /// The program.
        program: String,
        /// The reason.
        source: std::io::Error,
    },
    /// Text with an error at a place.
    #[error("{message}")]
    #[diagnostic(code(input::syntax))]
    Syntax {
        /// What is wrong.
        message: String,
        /// What to do.
        #[help]
        help: Option<String>,
        /// The text.
        #[source_code]
        text: NamedSource<String>,
        /// The place.
        #[label("here")]
        span: SourceSpan,
    },
    /// The same, where the lines concerned are too long to be shown.
    #[error("{}:{line}:{column}: {message}", file.display())]
    #[diagnostic(code(input::syntax))]
    SyntaxFar {
        /// The file.
        file: PathBuf,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What is wrong.
        message: String,
        /// What to do.
        #[help]
        help: Option<String>,
    },
    /// LLVM does not accept the input.
    #[error("{message}")]
    #[diagnostic(code(input::llvm))]
    Llvm {
        /// The file, the place in it where there is one, and LLVM's words.
        message: String,
        /// What to do.
        #[help]
        help: String,
    },
    /// clang fails on the input.
    #[error("clang-22 does not compile {}", file.display())]
    #[diagnostic(code(input::clang), help("flags for clang follow `--`, for example `-- -Iinclude -DN=100`"))]
    Clang {
        /// The file.
        file: PathBuf,
        /// clang's words, which are shown in front of ours, in clang's own lines.
        message: String,
    },
    /// The input is fine, but what was asked for is not in it.
    #[error("{message}")]
    #[diagnostic(code(input::request))]
    NotThere {
        /// What is missing.
        message: String,
        /// What to do.
        #[help]
        help: String,
    },
    /// An option's value makes no sense.
    #[error("{message}")]
    #[diagnostic(code(usage::value))]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do.
        #[help]
        help: String,
    },
    /// The request failed.
    #[error("{message}")]
    #[diagnostic(code(request::failed))]
    Failed {
        /// What happened.
        message: String,
        /// What to do.
        #[help]
        help: String,
    },
}

/// A file's name; `-` is a stream.
fn place(file: &Path, stream: &str) -> String {
    if file.as_os_str() == "-" { stream.to_string() } else { file.display().to_string() }
}

impl CliError {
    /// What another program says of it.
    pub fn said(&self) -> Option<&str> {
        match self {
            CliError::Clang { message, .. } => Some(message),
            _ => None,
        }
    }

    /// See the exit codes of the [command](super).
    pub fn exit_code(&self) -> u8 {
        match self {
            CliError::Usage { .. } => 2,
            CliError::Failed { .. } | CliError::NotThere { .. } | CliError::Write { .. } => 1,
            _ => 3,
        }
    }

    /// Whether the reader of standard output is gone, which is no news to anybody.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, CliError::Write { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe)
    }
}
