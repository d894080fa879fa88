//! Other compilers.

use crate::programs::Build;
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;
use std::str::FromStr;

/// A name and a command.
#[derive(Debug, Clone)]
pub struct Peer {
    pub name: String,
    command: String,
}

impl FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> Result<Peer, String> {
        let plain = |n: &str| !n.is_empty() && n.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
        match text.split_once('=') {
            Some((name, command)) if plain(name) && !command.trim().is_empty() => {
                Ok(Peer { name: name.to_string(), command: command.to_string() })
            }
            _ => Err("write NAME=COMMAND, with a name of letters, digits, -, _ and .".to_string()),
        }
    }
}

impl Peer {
    /// Builds the program. Macros and headers are those of all; every other flag is the peer's own.
    pub fn program(&self, build: Build<'_>, output: &Path) -> Result<()> {
        let sources = build.program.sources.iter().chain(&build.suite.shared);
        let sources: Vec<String> = sources.map(|s| s.display().to_string()).collect();
        let mut command;
        if self.command.contains("{out}") {
            // Words of its own, quoted for the shell.
            let quoted = |words: &[String]| {
                words.iter().map(|w| format!("'{}'", w.replace('\'', r"'\''"))).collect::<Vec<_>>().join(" ")
            };
            let text = self.command.replace("{sources}", &quoted(&sources));
            let text = text.replace("{flags}", &quoted(&build.preprocessor()));
            command = Command::new("sh");
            command.arg("-c").arg(text.replace("{out}", &quoted(&[output.display().to_string()])));
        } else {
            let mut words = self.command.split_whitespace();
            command = Command::new(words.next().unwrap_or_default());
            command.args(words).args(build.preprocessor()).args(sources).arg("-o").arg(output).arg("-lm");
        }
        let out = command.output().with_context(|| format!("cannot run {}", self.command))?;
        if !out.status.success() {
            bail!("{} fails:\n{}", self.command, String::from_utf8_lossy(&out.stderr));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_read() {
        let peer: Peer = "gcc=gcc -O3 -DX=1".parse().unwrap();
        assert_eq!((&peer.name[..], &peer.command[..]), ("gcc", "gcc -O3 -DX=1"));
        assert!("gcc".parse::<Peer>().is_err());
        assert!("../x=gcc".parse::<Peer>().is_err());
        assert!("x= ".parse::<Peer>().is_err());
    }
}
