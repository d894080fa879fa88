//! Metadata: reading it, hints on loops, debug locations, and making new nodes.

use std::marker::PhantomData;

use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;

use super::error::{Result, require};
use super::ffi;
use super::inst::Inst;
use super::module::Module;
use super::strings::copy_str;
use super::value::Value;

/// A string, node, or value that annotates IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Metadata<'m> {
    raw: LLVMMetadataRef,
    owner: PhantomData<&'m Module<'m>>,
}

/// What metadata is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataKind<'m> {
    /// Text.
    String(String),
    /// Operands, some of which may be absent.
    Node(Vec<Option<Metadata<'m>>>),
    /// A constant, mostly.
    Value(Value<'m>),
    /// Something else.
    Other,
}

/// A property in `!llvm.loop`, such as `llvm.loop.unroll.count` = 4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopHint {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: HintValue,
}

/// The value of a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HintValue {
    /// The name says it all.
    Flag,
    /// `i1`.
    Bool(bool),
    /// A wider integer.
    Int(i64),
    /// Something else, such as a list of access groups.
    Other,
}

/// A place in source code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// As the compiler was told, relative to `directory`.
    pub file: String,
    /// Empty where unknown.
    pub directory: String,
    /// From 1; 0 for code without a line.
    pub line: u32,
    /// From 1; 0 where unknown.
    pub column: u32,
}

impl<'m> Metadata<'m> {
    /// # Safety
    /// `raw` is metadata that lives for `'m`.
    pub(crate) unsafe fn from_raw(raw: LLVMMetadataRef) -> Metadata<'m> {
        Metadata { raw, owner: PhantomData }
    }

    /// # Safety
    /// `raw` is null or metadata that lives for `'m`.
    pub(crate) unsafe fn from_nullable(raw: LLVMMetadataRef) -> Option<Metadata<'m>> {
        (!raw.is_null()).then_some(Metadata { raw, owner: PhantomData })
    }

    pub(crate) fn raw(self) -> LLVMMetadataRef {
        self.raw
    }

    /// What it is.
    pub fn kind(self) -> MetadataKind<'m> {
        // SAFETY: each query fits the kind; parts live as long as the whole.
        unsafe {
            match ffi::lt_md_kind(self.raw) {
                1 => {
                    let s = ffi::lt_md_string(self.raw);
                    MetadataKind::String(copy_str(s.data, s.len))
                }
                2 => {
                    let count = ffi::lt_md_num_operands(self.raw);
                    let operand = |i| Metadata::from_nullable(ffi::lt_md_operand(self.raw, i));
                    MetadataKind::Node((0..count).map(operand).collect())
                }
                3 => MetadataKind::Value(Value::from_raw(ffi::lt_md_value(self.raw))),
                _ => MetadataKind::Other,
            }
        }
    }

    /// Whether it is a node, which instructions may carry.
    pub fn is_node(self) -> bool {
        // SAFETY: valid metadata.
        unsafe { ffi::lt_md_kind(self.raw) == 2 }
    }

    /// The operands of a node that are present.
    pub fn operands(self) -> Vec<Metadata<'m>> {
        match self.kind() {
            MetadataKind::Node(operands) => operands.into_iter().flatten().collect(),
            _ => Vec::new(),
        }
    }

    /// The place that a debug location names, of the innermost inlined call.
    pub fn location(self) -> Option<SourceLocation> {
        // SAFETY: a location has a scope; scopes may lack a file, strings belong to LLVM.
        unsafe {
            if !ffi::lt_md_is_location(self.raw) {
                return None;
            }
            let (file, directory) = file(LLVMDILocationGetScope(self.raw));
            let (line, column) = (LLVMDILocationGetLine(self.raw), LLVMDILocationGetColumn(self.raw));
            Some(SourceLocation { file, directory, line, column })
        }
    }

    /// Where the subprogram is that this is; of other metadata, nothing is to be asked.
    pub(super) fn declaration(self) -> SourceLocation {
        // SAFETY: a subprogram is a scope.
        unsafe {
            let (file, directory) = file(self.raw);
            SourceLocation { file, directory, line: LLVMDISubprogramGetLine(self.raw), column: 0 }
        }
    }

    /// Of a location that was inlined: where the outermost call was.
    fn call_site(self) -> Metadata<'m> {
        let mut at = self;
        // SAFETY: only locations are asked, and what they were inlined at is a location.
        unsafe {
            while ffi::lt_md_is_location(at.raw)
                && let Some(outer) = Metadata::from_nullable(LLVMDILocationGetInlinedAt(at.raw))
            {
                at = outer;
            }
        }
        at
    }

    /// The hints of a `!llvm.loop` node; its first operand is the node itself.
    pub fn loop_hints(self) -> Vec<LoopHint> {
        self.operands().into_iter().filter(|&m| m != self).filter_map(hint).collect()
    }
}

/// Name and directory of a scope's file; empty where it has none.
///
/// # Safety
/// `scope` is a debug scope.
unsafe fn file(scope: LLVMMetadataRef) -> (String, String) {
    // SAFETY: scopes may lack a file, strings belong to LLVM.
    unsafe {
        let file = LLVMDIScopeGetFile(scope);
        if file.is_null() {
            return (String::new(), String::new());
        }
        let mut len = 0;
        let name = LLVMDIFileGetFilename(file, &mut len);
        let name = copy_str(name, len as usize);
        let directory = LLVMDIFileGetDirectory(file, &mut len);
        (name, copy_str(directory, len as usize))
    }
}

fn hint(property: Metadata<'_>) -> Option<LoopHint> {
    let operands = match property.kind() {
        MetadataKind::String(name) => return Some(LoopHint { name, value: HintValue::Flag }),
        MetadataKind::Node(operands) => operands,
        _ => return None,
    };
    let MetadataKind::String(name) = (*operands.first()?)?.kind() else { return None };
    let value = match operands.get(1) {
        None => HintValue::Flag,
        Some(Some(m)) => match m.kind() {
            MetadataKind::Value(v) => match v.const_int().map(i64::try_from) {
                Some(Ok(n)) if v.ty().kind() == super::TypeKind::Integer(1) => HintValue::Bool(n != 0),
                Some(Ok(n)) => HintValue::Int(n),
                _ => HintValue::Other,
            },
            _ => HintValue::Other,
        },
        Some(None) => HintValue::Other,
    };
    Some(LoopHint { name, value })
}

impl<'m> Inst<'m> {
    /// Metadata by kind: `tbaa`, `alias.scope`, `noalias`, `llvm.loop`, `dbg`, ...
    pub fn metadata(self, kind: &str) -> Option<Metadata<'m>> {
        // SAFETY: an instruction and a string; null where there is none.
        unsafe { Metadata::from_nullable(ffi::lt_get_metadata(self.raw(), kind.as_ptr().cast(), kind.len())) }
    }

    /// Attaches a node, or removes what is there.
    pub fn set_metadata(self, kind: &str, node: Option<Metadata<'m>>) -> Result<()> {
        let operation = "set metadata";
        // SAFETY: an instruction, a string, and a node of its context, of the form that `dbg` asks for.
        unsafe {
            let cx = LLVMGetTypeContext(LLVMTypeOf(self.raw()));
            if let Some(node) = node {
                require(ffi::lt_md_node_in(node.raw, cx), operation, "no node of this context")?;
                let fits = kind != "dbg" || ffi::lt_md_is_location(node.raw);
                require(fits, operation, "`dbg` takes locations")?;
            }
            let raw = node.map_or(std::ptr::null_mut(), Metadata::raw);
            ffi::lt_set_metadata(self.raw(), kind.as_ptr().cast(), kind.len(), raw);
        }
        Ok(())
    }

    /// Its place in the source.
    pub fn location(self) -> Option<SourceLocation> {
        self.metadata("dbg")?.location()
    }

    /// Where it is in the function that it stands in: of inlined code, where the call was.
    pub fn location_in_function(self) -> Option<SourceLocation> {
        self.metadata("dbg")?.call_site().location()
    }

    /// Where the loop begins, as `!llvm.loop` says on a latch's branch.
    pub fn loop_location(self) -> Option<SourceLocation> {
        self.metadata("llvm.loop")?.operands().into_iter().find_map(Metadata::location)
    }

    /// Where the loop's text begins and ends, as far as that is said on a latch's branch.
    pub fn loop_range(self) -> (Option<SourceLocation>, Option<SourceLocation>) {
        let operands = self.metadata("llvm.loop").map(Metadata::operands).unwrap_or_default();
        let mut places = operands.into_iter().filter_map(Metadata::location);
        (places.next(), places.next())
    }

    /// Where it begins in the function that it stands in.
    pub fn loop_location_in_function(self) -> Option<SourceLocation> {
        self.metadata("llvm.loop")?.operands().into_iter().find_map(|m| m.call_site().location())
    }

    /// What `!llvm.loop` asks for, on a latch's branch.
    pub fn loop_hints(self) -> Vec<LoopHint> {
        self.metadata("llvm.loop").map(Metadata::loop_hints).unwrap_or_default()
    }
}

impl<'c> Module<'c> {
    fn cx(&self) -> LLVMContextRef {
        self.context().raw()
    }

    /// A string.
    pub fn md_string(&self, text: &str) -> Metadata<'_> {
        // SAFETY: LLVM copies the text.
        unsafe { Metadata::from_raw(LLVMMDStringInContext2(self.cx(), text.as_ptr().cast(), text.len())) }
    }

    /// A constant.
    pub fn md_constant<'m>(&'m self, value: Value<'m>) -> Result<Metadata<'m>> {
        require(value.is_constant() && value.ty().context() == self.cx(), "metadata", "no constant")?;
        // SAFETY: a constant of this context.
        Ok(unsafe { Metadata::from_raw(LLVMValueAsMetadata(value.raw())) })
    }

    /// Metadata as an argument of a call.
    pub fn md_value<'m>(&'m self, metadata: Metadata<'m>) -> Value<'m> {
        // SAFETY: metadata of this context.
        unsafe { Value::from_raw(LLVMMetadataAsValue(self.cx(), metadata.raw)) }
    }

    /// A node; equal ones are the same.
    pub fn md_node<'m>(&'m self, operands: &[Metadata<'m>]) -> Metadata<'m> {
        let mut raw: Vec<_> = operands.iter().map(|m| m.raw).collect();
        // SAFETY: valid operands; LLVM reads them only during the call.
        unsafe { Metadata::from_raw(LLVMMDNodeInContext2(self.cx(), raw.as_mut_ptr(), raw.len())) }
    }

    /// A node that is its own first operand, as loops, alias domains and scopes need: never equal to another.
    pub fn md_self<'m>(&'m self, rest: &[Metadata<'m>]) -> Metadata<'m> {
        let mut raw: Vec<_> = rest.iter().map(|m| m.raw).collect();
        // SAFETY: as above.
        unsafe { Metadata::from_raw(ffi::lt_md_self(self.cx(), raw.as_mut_ptr(), raw.len())) }
    }

    /// A new access group, for `llvm.access.group` and [`Module::parallel_accesses`].
    pub fn access_group(&self) -> Metadata<'_> {
        // SAFETY: a valid context.
        unsafe { Metadata::from_raw(ffi::lt_md_distinct(self.cx())) }
    }

    /// A property of a loop: a name, or a name and a value.
    pub fn loop_property(&self, hint: &LoopHint) -> Result<Metadata<'_>> {
        let name = self.md_string(&hint.name);
        let value = match hint.value {
            HintValue::Flag => return Ok(self.md_node(&[name])),
            HintValue::Bool(b) => self.context().i1().const_int(b.into())?,
            HintValue::Int(n) => {
                let fits = i32::try_from(n).is_ok();
                let ty = if fits { self.context().i32() } else { self.context().i64() };
                ty.const_int(n.into())?
            }
            HintValue::Other => {
                return Err(super::LlvmError::argument("loop property", "its value is not understood"));
            }
        };
        Ok(self.md_node(&[name, self.md_constant(value)?]))
    }

    /// The property that accesses of these groups do not depend on each other across iterations.
    pub fn parallel_accesses<'m>(&'m self, groups: &[Metadata<'m>]) -> Metadata<'m> {
        let mut operands = vec![self.md_string("llvm.loop.parallel_accesses")];
        operands.extend_from_slice(groups);
        self.md_node(&operands)
    }

    /// A new loop, to be attached to its latch's branch as `llvm.loop`.
    pub fn loop_id<'m>(&'m self, properties: &[Metadata<'m>]) -> Metadata<'m> {
        self.md_self(properties)
    }

    /// A new alias domain.
    pub fn alias_domain(&self, name: &str) -> Metadata<'_> {
        self.md_self(&[self.md_string(name)])
    }

    /// A new alias scope of a domain; lists of scopes are nodes ([`Module::md_node`]).
    pub fn alias_scope<'m>(&'m self, domain: Metadata<'m>, name: &str) -> Metadata<'m> {
        self.md_self(&[domain, self.md_string(name)])
    }

    /// The union of two lists of scopes.
    pub fn concat<'m>(
        &'m self,
        a: Option<Metadata<'m>>,
        b: Option<Metadata<'m>>,
    ) -> Result<Option<Metadata<'m>>> {
        let lists = [a, b].into_iter().flatten().all(Metadata::is_node);
        require(lists, "concatenate", "a list is no node")?;
        let raw = |m: Option<Metadata<'m>>| m.map_or(std::ptr::null_mut(), Metadata::raw);
        // SAFETY: nodes or null.
        Ok(unsafe { Metadata::from_nullable(ffi::lt_md_concat(raw(a), raw(b))) })
    }
}
