//! Typed indices into the tables of a [`Kernel`](crate::Kernel).

macro_rules! index {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);
        impl $name {
            /// The index as a position in its table.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
            /// The id at a position in its table. Tables hold fewer than 2^32 entries.
            #[inline]
            pub const fn new(index: usize) -> Self {
                Self(index as u32)
            }
        }
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

index!(
    /// A variable of a tree: an *original* induction variable of the kernel (below
    /// [`Kernel::var_count`](crate::Kernel::var_count)), or a *fresh* one that a transformation introduced.
    VarId, "v"
);
index!(
    /// A symbolic integer parameter.
    ParamId, "p"
);
index!(
    /// A memory object; scalars that cross statements are arrays of dimension zero.
    ArrayId, "A"
);
index!(
    /// A statement.
    StmtId, "S"
);
index!(
    /// An operation within one statement.
    OpId, "%"
);
index!(
    /// An access within one statement.
    AccessId, "a"
);
