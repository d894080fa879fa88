//! Calls of library functions in the place of nests.

use crate::arith::Use;
use crate::code::{Code, Level};
use crate::emitter::Emitter;
use crate::error::CgenError;
use loop_tree::{Argument, Call, Returned};

impl Emitter<'_> {
    /// The call, where there is something to do.
    pub(crate) fn library_call(&mut self, call: &Call) -> Result<(), CgenError> {
        let positive = call.runs();
        if positive.is_always() {
            return self.called(call);
        }
        let test = self.condition(&positive)?;
        self.block(&format!("if ({})", test.text), |e| e.called(call))
    }

    fn called(&mut self, call: &Call) -> Result<(), CgenError> {
        let arguments: Vec<String> =
            call.arguments.iter().map(|a| self.argument(a)).collect::<Result<_, _>>()?;
        let text = format!("{}({})", call.function, arguments.join(", "));
        match &call.returns {
            Returned::Nothing | Returned::Pointer => self.out.push(format!("{text};")),
            Returned::Added(array, subscripts) => {
                let element = self.in_array(*array, subscripts)?.code;
                self.out.push(format!("{} += {text};", element.text));
            }
        }
        Ok(())
    }

    fn argument(&self, argument: &Argument) -> Result<String, CgenError> {
        Ok(match argument {
            Argument::Pointer(array, subscripts) => {
                Code::prefix("&", &self.in_array(*array, subscripts)?.code).text
            }
            Argument::Size(factors) => {
                let mut product: Option<Code> = None;
                for factor in factors {
                    let code = Code::cast("size_t", &self.int(factor, Use::Value)?.code);
                    product = Some(match product {
                        None => code,
                        Some(p) => Code::binary(&p, "*", &code, Level::Product),
                    });
                }
                product.map_or_else(|| "1".to_string(), |p| p.text)
            }
            Argument::Int(e) => Code::cast("int", &self.int(e, Use::Value)?.code).text,
            Argument::Word(name, _) => name.to_string(),
            Argument::Number(c) => self.constant(*c).code.text,
            Argument::Value { array, subscripts, negative } => {
                let code = self.in_array(*array, subscripts)?.code;
                if *negative { Code::prefix("-", &code).text } else { code.text }
            }
        })
    }
}
