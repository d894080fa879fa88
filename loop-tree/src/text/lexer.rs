//! Tokens of `.lt` text, with their spans.

use super::elaborate::op_flag;
use super::{MAX_BYTES, TextError};
use std::ops::Range;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tok {
    /// A word; may be a keyword.
    Ident(String),
    /// A name in quotes; never a keyword.
    Quoted(String),
    Int(u64),
    /// `0x...`: an integer, or the bits of a floating-point number.
    Hex(u64),
    /// Digits with a point or an exponent; converted once the type is known, so that it is rounded once.
    Float(String),
    Punct(&'static str),
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub tok: Tok,
    pub span: Range<usize>,
}

/// Longest first.
const PUNCTUATION: &[&str] = &[
    "..", ">=", "<=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=", "<<", ">>", "{", "}", "[", "]", "(",
    ")", "@", ":", ",", "=", "+", "-", "*", "/", "%", "?", "<", ">", "!", "#", "&", "|", "^",
];

/// Words with a meaning; names equal to one are written in quotes.
const RESERVED: &str = "
    affine alias alloc array assume call ceil cmp const else false floor for if in kept let library load
    local loop max maywrite memory min mod nest nocall nooverlap opaque out parallel pure read require
    scalar select statement step store test true until variables variant vector version when write
";

/// A name as it must be written: in quotes where it is not a plain word, or has a meaning.
pub fn quoted(name: &str) -> String {
    let mut chars = name.chars();
    let plain = chars.next().is_some_and(is_start)
        && chars.all(|c| is_start(c) || c.is_ascii_digit() || c == '.')
        && !name.ends_with('.')
        && !name.contains("..")
        && !is_reserved(name);
    if plain { name.to_string() } else { string(name) }
}

/// The name of an array: types and flags may stand before one, so that their names are in quotes here too.
pub(super) fn quoted_array(name: &str) -> String {
    let before = crate::ScalarType::from_name(name).is_some() || op_flag(name).is_some();
    if before { string(name) } else { quoted(name) }
}

/// A string literal.
pub(super) fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.split_whitespace().any(|reserved| reserved == word)
}

fn is_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '$'
}

/// The name that text consists of, if it is just that: a word, or anything in quotes.
pub fn unquoted(text: &str) -> Option<String> {
    match tokens(text).ok()?.as_slice() {
        [Token { tok: Tok::Ident(name) | Tok::Quoted(name), .. }, _] => Some(name.clone()),
        _ => None,
    }
}

fn error(message: impl Into<String>, span: Range<usize>) -> TextError {
    TextError { message: message.into(), help: None, span }
}

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, TextError> {
    if text.len() > MAX_BYTES {
        return Err(error(format!("the text is longer than {MAX_BYTES} bytes"), 0..0));
    }
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let word_end = |mut at: usize| {
        let part = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'$';
        while part(byte(at)) || byte(at) == b'.' && part(byte(at + 1)) {
            at += 1;
        }
        at
    };
    let mut list = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let tok = match bytes[at] {
            b' ' | b'\t' | b'\r' | b'\n' => {
                at += 1;
                continue;
            }
            b';' => {
                at = line_end(bytes, at);
                continue;
            }
            b'/' if byte(at + 1) == b'/' => {
                at = line_end(bytes, at);
                continue;
            }
            b'"' => {
                let (value, end) = quoted_token(text, at)?;
                at = end;
                Tok::Quoted(value)
            }
            b'0'..=b'9' => {
                let (tok, end) = number(text, at)?;
                at = end;
                tok
            }
            b if is_start(b as char) => {
                at = word_end(at);
                Tok::Ident(text[start..at].to_string())
            }
            _ => match PUNCTUATION.iter().find(|p| bytes[at..].starts_with(p.as_bytes())) {
                Some(p) => {
                    at += p.len();
                    Tok::Punct(p)
                }
                None => {
                    let c = text[at..].chars().next().unwrap_or('?');
                    return Err(error(format!("unexpected character {c:?}"), at..at + c.len_utf8()));
                }
            },
        };
        list.push(Token { tok, span: start..at });
    }
    list.push(Token { tok: Tok::End, span: text.len()..text.len() });
    Ok(list)
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| at + n)
}

fn number(text: &str, start: usize) -> Result<(Tok, usize), TextError> {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let digits = |mut at: usize| {
        while byte(at).is_ascii_digit() {
            at += 1;
        }
        at
    };
    let word = |mut at: usize| {
        while byte(at).is_ascii_alphanumeric() || byte(at) == b'_' {
            at += 1;
        }
        at
    };
    let too_large = |end: usize| {
        let mut e = error("this number does not fit in 64 bits", start..end);
        e.help = Some("use a smaller number".into());
        e
    };
    if byte(start) == b'0' && byte(start + 1) == b'x' {
        let end = word(start + 2);
        let value = &text[start + 2..end];
        if value.is_empty() || !value.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(error("a hexadecimal number needs digits 0-9, a-f", start..end));
        }
        let value = u64::from_str_radix(value, 16).map_err(|_| too_large(end))?;
        return Ok((Tok::Hex(value), end));
    }
    let mut end = digits(start);
    let mut float = false;
    if byte(end) == b'.' && byte(end + 1).is_ascii_digit() {
        float = true;
        end = digits(end + 1);
    }
    if matches!(byte(end), b'e' | b'E') {
        let sign = usize::from(matches!(byte(end + 1), b'+' | b'-'));
        if byte(end + 1 + sign).is_ascii_digit() {
            float = true;
            end = digits(end + 1 + sign);
        }
    }
    let stop = word(end);
    if stop != end {
        return Err(error("a number is followed by letters", start..stop));
    }
    if float {
        return Ok((Tok::Float(text[start..end].to_string()), end));
    }
    Ok((Tok::Int(text[start..end].parse().map_err(|_| too_large(end))?), end))
}

fn quoted_token(text: &str, start: usize) -> Result<(String, usize), TextError> {
    let mut value = String::new();
    let mut chars = text[start + 1..].char_indices();
    let bad = |at: usize, len: usize| error("unknown escape", start + 1 + at..start + 1 + at + len);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((value, start + 1 + at + 1)),
            '\n' => break,
            '\\' => match chars.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, c @ ('"' | '\\'))) => value.push(c),
                Some((_, 'u')) => {
                    let rest = &text[start + 1 + at + 2..];
                    let code = rest.strip_prefix('{').and_then(|r| r.split_once('}')).map(|(hex, _)| hex);
                    let c = code
                        .and_then(|hex| u32::from_str_radix(hex, 16).ok())
                        .and_then(char::from_u32)
                        .ok_or_else(|| bad(at, 2))?;
                    value.push(c);
                    while chars.next().is_some_and(|(_, c)| c != '}') {}
                }
                _ => return Err(bad(at, 1)),
            },
            c => value.push(c),
        }
    }
    Err(error("this string does not end on its line", start..start + 1))
}
