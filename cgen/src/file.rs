//! A file of C: what functions need in front of them.

use crate::code::{Lines, mentions};
use crate::error::CgenError;
use crate::function::{Function, Variant, emit};
use crate::helpers::Helper;
use crate::lanes::{VectorType, vector_definition, vector_name};
use crate::names::Names;
use crate::types::{aliased, c_type};
use loop_tree::ScalarType;
use std::collections::BTreeSet;

/// A file of C that functions are added to.
#[derive(Default)]
pub struct File {
    names: Names,
    helpers: BTreeSet<Helper>,
    vectors: BTreeSet<VectorType>,
    functions: String,
}

impl File {
    /// An empty file.
    pub fn new() -> File {
        File::default()
    }

    /// Adds a function, whose name is as close to the one wanted as C allows.
    ///
    /// # Errors
    /// Where the tree cannot be said in C.
    pub fn add(&mut self, name: &str, variant: &Variant<'_>) -> Result<Function, CgenError> {
        let name = self.names.fresh(name);
        let mut lines = Lines::default();
        let own = self.names.fresh(&format!("{name}_variant"));
        let emitted = emit([&name, &own], variant, &mut lines)?;
        self.helpers.extend(emitted.helpers);
        self.vectors.extend(emitted.vectors);
        self.functions.push('\n');
        self.functions.push_str(&lines.text());
        Ok(emitted.function)
    }

    /// The text.
    pub fn text(&self) -> String {
        let mut body = String::new();
        for helper in self.helpers.iter().rev() {
            let call = format!("{}(", helper.name());
            if self.functions.contains(&call) || body.contains(&call) {
                body = format!("\n{}{body}", helper.definition());
            }
        }
        body.push_str(&self.functions);
        let mut out = String::from(HEAD);
        let uses = |words: &[&str]| words.iter().any(|w| body.contains(w));
        let calls = |w: &str| body.contains(&format!("{w}(")) || body.contains(&format!("{w}f("));
        if MATHS.split(' ').any(calls) || uses(&["INFINITY"]) {
            out.push_str("#include <math.h>\n");
        }
        if uses(&["bool", "true", "false"]) {
            out.push_str("#include <stdbool.h>\n");
        }
        if uses(&["cblas_"]) {
            out.push_str("#include <cblas.h>\n");
        }
        out.push_str("#include <stdint.h>\n");
        if uses(&["malloc(", "aligned_alloc("]) {
            out.push_str("#include <stdlib.h>\n");
        }
        if uses(&["memcpy(", "memset("]) {
            out.push_str("#include <string.h>\n");
        }
        if uses(&["thread_count(", "thread_number("]) {
            out.push_str("#ifdef _OPENMP\n#include <omp.h>\n#endif\n");
        }
        out.push_str(CONTRACTION);
        if uses(&["int128"]) {
            out.push_str("\n__extension__ typedef __int128 int128;\n");
        }
        for &ty in ScalarType::ALL {
            let name = aliased(ty);
            if body.lines().any(|line| mentions(line, &name)) {
                out.push_str(&format!("\ntypedef {} {name} __attribute__((may_alias));\n", c_type(ty)));
            }
        }
        let used = |v: &&VectorType| {
            let name = vector_name(**v);
            body.lines().any(|line| mentions(line, &name) || mentions(line, &format!("{name}_row")))
        };
        for (index, vector) in self.vectors.iter().filter(used).enumerate() {
            if index == 0 {
                out.push('\n');
            }
            out.push_str(&vector_definition(*vector));
        }
        out + &body
    }
}

const HEAD: &str = "/* Written by looptree. Results are those of the original, bit for bit, with -ffp-contract=off and without -ffast-math.\n   \
    Pointers are aligned as their types are. */\n";

const CONTRACTION: &str = "#ifdef __clang__\n#pragma STDC FP_CONTRACT OFF\n#endif\n";

/// Functions and macros of `math.h` that are called.
const MATHS: &str = "sqrt fabs fma floor ceil trunc rint nearbyint round fmin fmax copysign exp exp2 log log2 log10 sin cos pow fmod \
    isunordered islessgreater signbit";
