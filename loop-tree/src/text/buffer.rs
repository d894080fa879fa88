//! Buffers: `alloc A[x0, x1] in [x1 : 64, x0 - 8*t0 : 8] on stack align 64 fill [8*t0..8*t0 + 8, 0..64] { ... }`.
//!
//! In brackets stand names for the array's subscripts, in parentheses names for the first dims of the accessing instance; then
//! subscript and extent of each dimension of the buffer. `fill [0..N] by S` keeps what the statement `S` computes of each element.
//! `alloc T { ... }` is a single element.

use super::parser::{Name, Parsed, Parser};
use super::print::Names;
use crate::{Buffer, BufferDim, Home, StmtId, Window, WindowRange};

impl Names<'_> {
    /// The head of a buffer, from `alloc` on.
    pub(super) fn buffer(&self, buffer: &Buffer) -> String {
        let mut out = format!("alloc {}", self.array(buffer.array));
        if *buffer == Buffer::scalar(buffer.array) {
            return out;
        }
        let names = |range: std::ops::Range<usize>| {
            range.map(|k| self.var(Buffer::index(k))).collect::<Vec<_>>().join(", ")
        };
        let count = buffer.index_count(self.kernel);
        let rank = count - buffer.instance_dims;
        if rank > 0 {
            out += &format!("[{}]", names(0..rank));
        }
        if buffer.instance_dims > 0 {
            out += &format!("({})", names(rank..count));
        }
        let dims: Vec<String> = buffer
            .dims
            .iter()
            .map(|d| format!("{} : {}", self.affine(&d.subscript), self.affine(&d.extent)))
            .collect();
        out += &format!(" in [{}] on {}", dims.join(", "), buffer.home.name());
        if buffer.alignment > 1 {
            out += &format!(" align {}", buffer.alignment);
        }
        for (word, window) in [("fill", &buffer.fill), ("write", &buffer.write_back)] {
            let Some(window) = window else { continue };
            let range = |r: &WindowRange| {
                format!("{}..{}", self.bounds("max", &r.lower), self.bounds("min", &r.upper))
            };
            let ranges: Vec<String> = window.0.iter().map(range).collect();
            out += &format!(" {word} [{}]", ranges.join(", "));
            if let Some(by) = buffer.by.filter(|_| word == "fill") {
                out += &format!(" by {}", self.statement(by));
            }
        }
        out
    }
}

impl Parser {
    /// What follows `alloc`, up to the block.
    pub(super) fn buffer(&mut self) -> Parsed<Buffer> {
        let span = self.span();
        let array = self.array_name()?;
        if self.is("{") {
            return Ok(Buffer::scalar(array));
        }
        let rank = self.tables.arrays[array.index()].rank();
        let mut names = Vec::new();
        if self.eat("[") {
            self.index_names("]", &mut names)?;
        }
        if names.len() != rank {
            let message = format!("{} names for {rank} subscripts", names.len());
            return self.error(message, self.since(span.start));
        }
        if self.eat("(") {
            self.index_names(")", &mut names)?;
        }
        self.expect_word("in")?;
        self.expect("[")?;
        let depth = self.scope.len();
        for (k, name) in names.iter().enumerate() {
            self.tables.names.insert(name.clone(), Name::Var(Buffer::index(k)));
            self.scope.push((Buffer::index(k), false));
        }
        let dims = self.until("]", Self::buffer_dim);
        self.scope.truncate(depth);
        for name in &names {
            self.tables.names.remove(name);
        }
        let dims = dims?;
        self.expect_word("on")?;
        let home = self.eat_name(Home::ALL, Home::name);
        let Some(home) = home else { return self.unexpected("`registers`, `stack` or `heap`") };
        let alignment = if self.eat_word("align") { self.small_number("an alignment")? } else { 1 };
        let fill = if self.eat_word("fill") { Some(self.window()?) } else { None };
        let by = if fill.is_some() && self.eat_word("by") { Some(self.known_statement()?) } else { None };
        let write_back = if self.eat_word("write") { Some(self.window()?) } else { None };
        let instance_dims = names.len() - rank;
        Ok(Buffer { array, instance_dims, dims, fill, by, write_back, home, alignment })
    }

    fn known_statement(&mut self) -> Parsed<StmtId> {
        let (name, span) = self.name("a statement")?;
        match self.tables.statement_names.get(&name) {
            Some(id) => Ok(*id),
            None => self.error(format!("the statement `{name}` is not defined"), span),
        }
    }

    fn index_names(&mut self, end: &'static str, names: &mut Vec<std::sync::Arc<str>>) -> Parsed<()> {
        self.until(end, |p| {
            let (name, span) = p.name("a name for a subscript")?;
            if p.tables.names.contains_key(&name) || names.contains(&name) {
                return p.error(format!("the name `{name}` is taken"), span);
            }
            names.push(name);
            Ok(())
        })
        .map(drop)
    }

    fn buffer_dim(&mut self) -> Parsed<BufferDim> {
        let subscript = self.affine()?;
        self.expect(":")?;
        Ok(BufferDim { subscript, extent: self.affine()? })
    }

    fn window(&mut self) -> Parsed<Window> {
        self.expect("[")?;
        let ranges = self.until("]", |p| {
            let lower = p.bounds("max")?;
            p.expect("..")?;
            Ok(WindowRange { lower, upper: p.bounds("min")? })
        });
        ranges.map(Window)
    }
}
