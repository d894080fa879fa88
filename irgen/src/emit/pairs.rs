//! Many ranges compared with each other: a table on the stack, and a loop over its pairs. In line, 28 arrays take 50 KB, and clang, most of
//! all its vectoriser of straight-line code, 2 s.

use super::check::Range;
use super::{EmitError, Emitter};
use crate::llvm::{GepFlags, HintValue, IntPredicate, LoopHint, Opcode, PoisonFlags, Value};
use std::collections::BTreeMap;

/// Ranges of one table at most: 1 KiB, what LLVM inlines into functions that call themselves.
const MOST: usize = 64;

/// Alignment of an end of a range, in bytes.
const END: u32 = 8;

/// Two rows of a table.
type Pair = [usize; 2];

impl<'m> Emitter<'m, '_> {
    /// Whether `all` holds and no range overlaps the other one of its pair. Goes on in a new block.
    pub(super) fn all_apart(
        &mut self,
        mut all: Value<'m>,
        pairs: &[[Range<'m>; 2]],
    ) -> Result<Value<'m>, EmitError> {
        let mut ranges: Vec<Range<'m>> = Vec::new();
        let mut number = |range: Range<'m>| {
            ranges.iter().position(|known| *known == range).unwrap_or_else(|| {
                ranges.push(range);
                ranges.len() - 1
            })
        };
        let pairs: Vec<Pair> = pairs.iter().map(|pair| pair.map(&mut number)).collect();
        // Parts whose pairs are of one table each.
        let part = if ranges.len() <= MOST { MOST } else { MOST / 2 };
        let mut tables: BTreeMap<Pair, Vec<Pair>> = BTreeMap::new();
        for pair in pairs {
            let mut parts = pair.map(|range| range / part);
            parts.sort_unstable();
            tables.entry(parts).or_default().push(pair);
        }
        let context = self.module.context();
        let here = self.place()?;
        let first = here.function().entry().and_then(|entry| entry.insts().into_iter().find(|i| !i.is_phi()));
        let ends = context.i64().const_int(2 * ranges.len().min(MOST) as i128)?;
        if let Some(first) = first {
            self.builder.position_before(first)?;
        }
        let table = self.builder.alloca(context.i64(), Some(ends), "looptree.ranges")?.value();
        self.builder.position_at_end(here)?;
        for pairs in tables.values() {
            all = self.apart_by_table(all, table, &ranges, pairs)?;
        }
        Ok(all)
    }

    fn apart_by_table(
        &mut self,
        mut all: Value<'m>,
        table: Value<'m>,
        ranges: &[Range<'m>],
        pairs: &[Pair],
    ) -> Result<Value<'m>, EmitError> {
        let (context, none) = (self.module.context(), PoisonFlags::empty());
        let (int, wide) = (context.i64(), context.int(128)?);
        let lives = |e: &Self, name| e.builder.intrinsic(name, context.void(), &[table], "");
        lives(self, "llvm.lifetime.start")?;
        let mut rows: BTreeMap<usize, u8> = pairs.iter().flatten().map(|range| (*range, 0)).collect();
        for (row, (range, at)) in rows.iter_mut().enumerate() {
            // In units of one end, of which a row has two.
            let what = "so many ranges in one table";
            *at = u8::try_from(2 * row).map_err(|_| EmitError::Unsupported { what })?;
            let (start, end) = ranges[*range];
            let b = &self.builder;
            // What has no address is compared exactly, or not at all.
            let both = b.binary(Opcode::Or, start, end, none, "")?;
            let fits = b.icmp(IntPredicate::Ult, both, wide.const_int(1 << 64)?, "")?;
            all = b.binary(Opcode::And, all, fits, none, "")?;
            for (end, at) in [(start, *at), (end, *at + 1)] {
                let narrow = b.cast(Opcode::Trunc, end, int, none, "")?;
                let place = b.gep(int, table, &[int.const_int(at.into())?], GepFlags::INBOUNDS, "")?;
                b.store(narrow, place, END)?;
            }
        }
        let bytes: Vec<u8> = pairs.iter().flatten().map(|range| rows[range]).collect();
        let list = self.module.add_bytes("looptree.pairs", &bytes)?.value();

        let before = self.place()?;
        let (head, after) =
            (self.builder.append_block("looptree.pair")?, self.builder.append_block("looptree.pairs")?);
        self.builder.br(head)?;
        self.builder.position_at_end(head)?;
        let b = &self.builder;
        let counter = b.phi(int, "")?;
        let so_far = b.phi(context.i1(), "")?;
        let next = b.binary(Opcode::Add, counter.value(), int.const_int(2)?, none, "")?;
        let range = |second| -> Result<Range<'m>, EmitError> {
            let at = b.binary(Opcode::Add, counter.value(), int.const_int(second)?, none, "")?;
            let at = b.gep(context.i8(), list, &[at], GepFlags::INBOUNDS, "")?;
            let row = b.load(context.i8(), at, 1, "")?.value();
            let row = b.cast(Opcode::ZExt, row, int, none, "")?;
            let start = b.gep(int, table, &[row], GepFlags::INBOUNDS, "")?;
            let end = b.gep(int, start, &[int.const_int(1)?], GepFlags::INBOUNDS, "")?;
            Ok((b.load(int, start, END, "")?.value(), b.load(int, end, END, "")?.value()))
        };
        let ((a_start, a_end), (b_start, b_end)) = (range(0)?, range(1)?);
        let first = b.icmp(IntPredicate::Ule, a_end, b_start, "")?;
        let second = b.icmp(IntPredicate::Ule, b_end, a_start, "")?;
        let apart = b.binary(Opcode::Or, first, second, none, "")?;
        let still = b.binary(Opcode::And, so_far.value(), apart, none, "")?;
        let more = b.icmp(IntPredicate::Ult, next, int.const_int(bytes.len() as i128)?, "")?;
        let latch = b.cond_br(more, head, after)?;
        counter.add_incoming(int.const_int(0)?, before)?;
        counter.add_incoming(next, head)?;
        so_far.add_incoming(all, before)?;
        so_far.add_incoming(still, head)?;
        // Small is what it is for.
        let off = |name: &str, value| self.module.loop_property(&LoopHint { name: name.into(), value });
        let properties = [
            off("llvm.loop.vectorize.enable", HintValue::Bool(false))?,
            off("llvm.loop.unroll.disable", HintValue::Flag)?,
        ];
        latch.set_metadata("llvm.loop", Some(self.module.loop_id(&properties)))?;
        self.builder.position_at_end(after)?;
        lives(self, "llvm.lifetime.end")?;
        Ok(still)
    }
}
