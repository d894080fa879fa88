//! Index expressions with the arithmetic of C.

/// Integer types of C on a 64-bit Unix.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum IntType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl IntType {
    /// All of them.
    pub const ALL: [IntType; 8] = [
        IntType::I8,
        IntType::U8,
        IntType::I16,
        IntType::U16,
        IntType::I32,
        IntType::U32,
        IntType::I64,
        IntType::U64,
    ];

    /// Width.
    pub fn bits(self) -> u32 {
        match self {
            IntType::I8 | IntType::U8 => 8,
            IntType::I16 | IntType::U16 => 16,
            IntType::I32 | IntType::U32 => 32,
            IntType::I64 | IntType::U64 => 64,
        }
    }

    /// Whether it is signed.
    pub fn is_signed(self) -> bool {
        matches!(self, IntType::I8 | IntType::I16 | IntType::I32 | IntType::I64)
    }

    /// The unsigned type of the same width.
    pub fn unsigned(self) -> IntType {
        match self {
            IntType::I8 | IntType::U8 => IntType::U8,
            IntType::I16 | IntType::U16 => IntType::U16,
            IntType::I32 | IntType::U32 => IntType::U32,
            IntType::I64 | IntType::U64 => IntType::U64,
        }
    }

    /// In C.
    pub fn name(self) -> &'static str {
        match self {
            IntType::I8 => "signed char",
            IntType::U8 => "unsigned char",
            IntType::I16 => "short",
            IntType::U16 => "unsigned short",
            IntType::I32 => "int",
            IntType::U32 => "unsigned",
            IntType::I64 => "long",
            IntType::U64 => "unsigned long",
        }
    }

    /// After the integer promotions.
    pub fn promoted(self) -> IntType {
        if self.bits() < 32 { IntType::I32 } else { self }
    }

    /// Whether it can represent the value.
    pub fn holds(self, value: i128) -> bool {
        self.wrap(value) == value
    }

    /// The value converted to the type.
    pub fn wrap(self, value: i128) -> i128 {
        let low = value & ((1i128 << self.bits()) - 1);
        if self.is_signed() && low >> (self.bits() - 1) & 1 == 1 { low - (1i128 << self.bits()) } else { low }
    }

    /// The type in which C computes with both.
    pub fn common(self, other: IntType) -> IntType {
        let (a, b) = (self.promoted(), other.promoted());
        match a.bits().cmp(&b.bits()) {
            std::cmp::Ordering::Less => b,
            std::cmp::Ordering::Greater => a,
            std::cmp::Ordering::Equal if a.is_signed() => b,
            std::cmp::Ordering::Equal => a,
        }
    }
}

/// An index expression: of loop variables, parameters and constants, mostly affine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Index {
    /// An `int`.
    Constant(i64),
    /// A loop variable.
    Var(usize),
    /// A parameter.
    Param(usize),
    /// Sum.
    Add(Box<Index>, Box<Index>),
    /// Difference.
    Sub(Box<Index>, Box<Index>),
    /// Product with an `int`, or of two expressions.
    Mul(Box<Index>, Box<Index>),
    /// Quotient by a positive constant.
    Div(Box<Index>, i64),
    /// Remainder by a positive constant.
    Rem(Box<Index>, i64),
    /// Bitwise and with a constant.
    And(Box<Index>, i64),
    /// A conversion.
    Convert(IntType, Box<Index>),
    /// Where the first is less than the second, the third, else the fourth.
    Choose(Box<[Index; 4]>),
}

/// Values and types of variables and parameters.
pub trait Scope {
    /// A loop variable, if it is bound.
    fn var(&self, var: usize) -> Option<(IntType, i128)>;
    /// A parameter, if there is one.
    fn param(&self, param: usize) -> Option<(IntType, i128)>;
}

impl Index {
    /// Sum.
    pub fn plus(self, other: Index) -> Index {
        Index::Add(Box::new(self), Box::new(other))
    }

    /// Sum with a constant; the same where that is zero.
    pub fn offset(self, by: i64) -> Index {
        match by {
            0 => self,
            _ if by < 0 => Index::Sub(Box::new(self), Box::new(Index::Constant(-by))),
            _ => self.plus(Index::Constant(by)),
        }
    }

    /// Type and value as C computes them; `None` where a signed operation overflows, or something is not bound.
    pub fn eval(&self, scope: &dyn Scope) -> Option<(IntType, i128)> {
        let binary = |a: &Index, b: &Index, f: &dyn Fn(i128, i128) -> Option<i128>| {
            let ((ta, a), (tb, b)) = (a.eval(scope)?, b.eval(scope)?);
            let ty = ta.common(tb);
            let value = f(ty.wrap(a), ty.wrap(b))?;
            match ty.is_signed() {
                true => ty.holds(value).then_some((ty, value)),
                false => Some((ty, ty.wrap(value))),
            }
        };
        match self {
            Index::Constant(c) => {
                let ty = if IntType::I32.holds(i128::from(*c)) { IntType::I32 } else { IntType::I64 };
                Some((ty, i128::from(*c)))
            }
            Index::Var(v) => scope.var(*v),
            Index::Param(p) => scope.param(*p),
            Index::Add(a, b) => binary(a, b, &|a, b| a.checked_add(b)),
            Index::Sub(a, b) => binary(a, b, &|a, b| a.checked_sub(b)),
            Index::Mul(a, b) => binary(a, b, &|a, b| a.checked_mul(b)),
            // C truncates towards zero.
            Index::Div(a, d) => binary(a, &Index::Constant(*d), &|a, d| a.checked_div(d)),
            Index::Rem(a, d) => binary(a, &Index::Constant(*d), &|a, d| a.checked_rem(d)),
            Index::And(a, m) => binary(a, &Index::Constant(*m), &|a, m| Some(a & m)),
            Index::Convert(ty, a) => {
                let (_, value) = a.eval(scope)?;
                Some((*ty, ty.wrap(value)))
            }
            Index::Choose(of) => {
                let [(ta, a), (tb, b)] = [of[0].eval(scope)?, of[1].eval(scope)?];
                let [(then, yes), (other, no)] = [of[2].eval(scope)?, of[3].eval(scope)?];
                let (compared, ty) = (ta.common(tb), then.common(other));
                Some((ty, ty.wrap(if compared.wrap(a) < compared.wrap(b) { yes } else { no })))
            }
        }
    }

    /// C, in parentheses where it is more than a name.
    pub fn text(&self) -> String {
        match self {
            Index::Constant(c) if *c < 0 => format!("({c})"),
            Index::Constant(c) if !IntType::I32.holds(i128::from(*c)) => format!("{c}L"),
            Index::Constant(c) => c.to_string(),
            Index::Var(v) => format!("i{v}"),
            Index::Param(p) => format!("n{p}"),
            Index::Add(a, b) => format!("({} + {})", a.text(), b.text()),
            Index::Sub(a, b) => format!("({} - {})", a.text(), b.text()),
            Index::Mul(a, b) => format!("({} * {})", a.text(), b.text()),
            Index::Div(a, d) => format!("({} / {d})", a.text()),
            Index::Rem(a, d) => format!("({} % {d})", a.text()),
            Index::And(a, m) => format!("({} & {m})", a.text()),
            Index::Convert(ty, a) => format!("(({}){})", ty.name(), a.text()),
            Index::Choose(of) => {
                let [a, b, yes, no] = of.each_ref().map(Index::text);
                format!("({a} < {b} ? {yes} : {no})")
            }
        }
    }

    /// Direct operands.
    pub fn operands(&self) -> Vec<&Index> {
        match self {
            Index::Constant(_) | Index::Var(_) | Index::Param(_) => vec![],
            Index::Add(a, b) | Index::Sub(a, b) | Index::Mul(a, b) => vec![a, b],
            Index::Div(a, _) | Index::Rem(a, _) | Index::And(a, _) | Index::Convert(_, a) => vec![a],
            Index::Choose(of) => of.iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(IntType, i128);
    impl Scope for Fixed {
        fn var(&self, _: usize) -> Option<(IntType, i128)> {
            Some((self.0, self.1))
        }
        fn param(&self, _: usize) -> Option<(IntType, i128)> {
            None
        }
    }

    #[test]
    fn arithmetic_is_that_of_c() {
        let down = Index::Var(0).offset(-1);
        assert_eq!(down.eval(&Fixed(IntType::U32, 0)), Some((IntType::U32, (1 << 32) - 1)));
        assert_eq!(down.eval(&Fixed(IntType::U8, 0)), Some((IntType::I32, -1)));
        assert_eq!(down.eval(&Fixed(IntType::I32, i128::from(i32::MIN))), None);
        assert_eq!(
            Index::Rem(Box::new(Index::Var(0)), 3).eval(&Fixed(IntType::I64, -7)),
            Some((IntType::I64, -1))
        );
        assert_eq!(IntType::U32.common(IntType::I64), IntType::I64);
        assert_eq!(IntType::U32.common(IntType::I32), IntType::U32);
        assert_eq!(IntType::I8.wrap(200), -56);
        let chosen = |of: [i64; 2]| {
            Index::Choose(Box::new([
                Index::Var(0),
                Index::Constant(1),
                Index::Constant(of[0]),
                Index::Constant(of[1]),
            ]))
        };
        assert_eq!(chosen([7, 8]).eval(&Fixed(IntType::I32, 0)), Some((IntType::I32, 7)));
        // -1 is a large unsigned number.
        assert_eq!(chosen([7, 8]).eval(&Fixed(IntType::U32, -1)), Some((IntType::I32, 8)));
    }
}
