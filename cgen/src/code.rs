//! C expressions as text, and how tightly they bind.

/// How tightly an expression binds, from the tightest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Level {
    Primary,
    Unary,
    Product,
    Sum,
    Shift,
    Order,
    Equality,
    Bits,
    Both,
    Either,
    Choice,
}

/// C text of an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Code {
    pub(crate) text: String,
    pub(crate) level: Level,
}

impl Code {
    pub(crate) fn new(text: impl Into<String>, level: Level) -> Code {
        Code { text: text.into(), level }
    }

    pub(crate) fn primary(text: impl Into<String>) -> Code {
        Code::new(text, Level::Primary)
    }

    /// The text as an operand where expressions up to a level need no parentheses.
    pub(crate) fn within(&self, level: Level) -> String {
        if self.level <= level { self.text.clone() } else { format!("({})", self.text) }
    }

    /// `a op b`, which groups as written. Operands of operators whose precedence people confuse get parentheses.
    pub(crate) fn binary(a: &Code, op: &str, b: &Code, level: Level) -> Code {
        let (left, right) = match level {
            Level::Product => (Level::Product, Level::Unary),
            Level::Sum => (Level::Sum, Level::Product),
            Level::Order | Level::Equality => (Level::Sum, Level::Sum),
            Level::Both => (Level::Both, Level::Equality),
            // Compilers warn of `a && b || c`.
            Level::Either if a.level == Level::Either => (Level::Either, Level::Equality),
            Level::Either => (Level::Equality, Level::Equality),
            _ => (Level::Unary, Level::Unary),
        };
        Code::new(format!("{} {op} {}", a.within(left), b.within(right)), level)
    }

    pub(crate) fn cast(ty: &str, a: &Code) -> Code {
        Code::new(format!("({ty}){}", a.within(Level::Unary)), Level::Unary)
    }

    /// An operator in front; two of them in a row would be another operator.
    pub(crate) fn prefix(op: &str, a: &Code) -> Code {
        Code::new(format!("{op}{}", a.within(Level::Primary)), Level::Unary)
    }

    pub(crate) fn call(function: &str, arguments: &[&Code]) -> Code {
        let all: Vec<&str> = arguments.iter().map(|a| &*a.text).collect();
        Code::primary(format!("{function}({})", all.join(", ")))
    }

    pub(crate) fn choice(condition: &Code, yes: &Code, no: &Code) -> Code {
        let of = |c: &Code| c.within(Level::Equality);
        Code::new(format!("{} ? {} : {}", of(condition), of(yes), of(no)), Level::Choice)
    }
}

/// Lines with their depth.
#[derive(Default, Debug)]
pub(crate) struct Lines {
    pub(crate) all: Vec<(usize, String)>,
    pub(crate) depth: usize,
}

impl Lines {
    pub(crate) fn push(&mut self, line: impl Into<String>) {
        self.all.push((self.depth, line.into()));
    }

    /// A line of the preprocessor.
    pub(crate) fn directive(&mut self, line: &str) {
        self.all.push((0, line.to_string()));
    }

    pub(crate) fn open(&mut self, head: &str) {
        self.push(if head.is_empty() { "{".to_string() } else { format!("{head} {{") });
        self.depth += 1;
    }

    /// The conjunction of tests, a line each.
    pub(crate) fn open_if(&mut self, tests: &[Code]) {
        let last = tests.len().saturating_sub(1);
        for (index, test) in tests.iter().enumerate() {
            let begin = if index == 0 { "if (" } else { "    " };
            let end = if index == last { ") {" } else { " &&" };
            self.push(format!(
                "{begin}{}{end}",
                if last == 0 { test.text.clone() } else { test.within(Level::Equality) }
            ));
        }
        self.depth += 1;
    }

    pub(crate) fn close_else(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.push("} else {");
        self.depth += 1;
    }

    pub(crate) fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.push("}");
    }

    /// Whether a name occurs.
    pub(crate) fn mention(&self, name: &str) -> bool {
        self.all.iter().any(|(_, line)| mentions(line, name))
    }

    /// Whether it occurs other than as what is assigned to.
    pub(crate) fn read(&self, name: &str) -> bool {
        self.all.iter().any(|(_, line)| tokens(line).any(|(at, t)| t == name && (at > 0 || !assigns(line))))
    }

    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        for (depth, line) in &self.all {
            if !line.is_empty() {
                (0..*depth).for_each(|_| out.push_str("  "));
                out.push_str(line);
            }
            out.push('\n');
        }
        out
    }
}

/// Whether a name occurs in a line.
pub(crate) fn mentions(line: &str, name: &str) -> bool {
    tokens(line).any(|(_, t)| t == name)
}

/// Names and numbers in front of comments, with whether the line begins with them.
pub(crate) fn names(line: &str) -> impl Iterator<Item = (bool, &str)> {
    tokens(line).map(|(at, name)| (at == 0, name))
}

/// Names and numbers in front of comments, with where they begin.
fn tokens(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let line = line.split("/*").next().unwrap_or_default();
    let start = line.as_ptr() as usize;
    let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| !w.is_empty());
    words.map(move |w| (w.as_ptr() as usize - start, w))
}

/// Whether a line is an assignment to the variable that it begins with.
pub(crate) fn assigns(line: &str) -> bool {
    line.split(' ').nth(1).is_some_and(|op| op.ends_with('='))
}
