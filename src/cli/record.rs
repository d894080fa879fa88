//! Remarks in LLVM's format of optimisation records: YAML documents, one for each remark.

use looptree::tree::SourceLocation;
use std::fmt::Write;

/// What a remark tells.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Something was done.
    Passed,
    /// Something was not done.
    Missed,
    /// What was found out.
    Analysis,
}

/// One remark.
pub struct Remark<'a> {
    /// What it tells.
    pub kind: Kind,
    /// Name of the pass.
    pub pass: &'a str,
    /// A stable short name.
    pub name: &'a str,
    /// The function.
    pub function: &'a str,
    /// Where, if that is known.
    pub location: Option<&'a SourceLocation>,
    /// The text, in pieces under names; `String` where a piece has none.
    pub pieces: &'a [(&'a str, String)],
}

/// Adds a remark to a record.
pub fn add(record: &mut String, remark: &Remark<'_>) {
    let kind = match remark.kind {
        Kind::Passed => "Passed",
        Kind::Missed => "Missed",
        Kind::Analysis => "Analysis",
    };
    let _ =
        writeln!(record, "--- !{kind}\nPass:            {}\nName:            {}", remark.pass, remark.name);
    if let Some(l) = remark.location {
        let _ = writeln!(
            record,
            "DebugLoc:        {{ File: {}, Line: {}, Column: {} }}",
            quoted(&l.file),
            l.line,
            l.column
        );
    }
    let _ = writeln!(record, "Function:        {}\nArgs:", quoted(remark.function));
    for (name, text) in remark.pieces {
        let _ = writeln!(record, "  - {:<15} {}", format!("{name}:"), quoted(text));
    }
    record.push_str("...\n");
}

/// A YAML scalar that is text whatever it holds.
fn quoted(text: &str) -> String {
    if text.chars().any(char::is_control) {
        // The escapes of JSON are also YAML's.
        return serde_json::Value::from(text).to_string();
    }
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_is_a_document() {
        let location = SourceLocation { file: "it's.c".into(), line: 3, column: 5 };
        let mut record = String::new();
        let pieces = [("String", "fused: ".to_string()), ("Loop", "i\n".to_string())];
        let (pass, name, function) = ("looptree-fuse", "Fused", "f");
        add(
            &mut record,
            &Remark { kind: Kind::Passed, pass, name, function, location: Some(&location), pieces: &pieces },
        );
        let expected = "--- !Passed\nPass:            looptree-fuse\nName:            Fused\n\
            DebugLoc:        { File: 'it''s.c', Line: 3, Column: 5 }\nFunction:        'f'\nArgs:\n  \
            - String:         'fused: '\n  - Loop:           \"i\\n\"\n...\n";
        assert_eq!(record, expected);
    }
}
