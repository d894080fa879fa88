//! The manual: what the file of each transformation says at its top. The examples there are executed.

use crate::Registry;

/// The documentation at the top of a source file.
pub(crate) fn top(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect()
}

impl Registry {
    /// A page of all transformations that have documentation, in order, in Markdown; or of the one of that name.
    pub fn manual(&self, name: Option<&str>) -> String {
        let mut page = String::new();
        for registration in self.iter().filter(|r| name.is_none_or(|name| name == r.name())) {
            let text = registration.manual();
            // One file may hold several transformations.
            if !text.is_empty() && !page.contains(&*text) {
                page += &format!("{}## {text}", if page.is_empty() { "" } else { "\n" });
            }
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{kernel, parameters, sorted};
    use crate::{Recipe, Registry};
    use loop_tree::{Kernel, text};
    use std::sync::Arc;

    /// What stands in the block that begins with this line.
    fn block<'t>(text: &'t str, head: &str) -> &'t str {
        let (_, rest) =
            text.split_once(&format!("```{head}\n")).unwrap_or_else(|| panic!("no {head} in {text}"));
        rest.split_once("```").expect("the end of the block").0
    }

    /// The kernel of an example: as it stands, or with statements `S(i, j)` that do nothing.
    fn example(before: &str) -> Arc<Kernel> {
        if before.contains(':') {
            let program = text::parse(&format!("nest @example[N, M] {{ {before} }}"));
            return program.unwrap_or_else(|e| panic!("{before}: {e}")).kernel;
        }
        let mut statements: Vec<(String, String)> = Vec::new();
        for (at, _) in before.match_indices('(').filter(|(at, _)| before[..*at].ends_with(char::is_uppercase))
        {
            let dims = before[at + 1..].split_once(')').expect("a parenthesis").0;
            let statement = (before[at - 1..at].to_string(), dims.replace(',', " "));
            if !statements.contains(&statement) {
                statements.push(statement);
            }
        }
        let names: Vec<(&str, &str)> = statements.iter().map(|(n, d)| (n.as_str(), d.as_str())).collect();
        let mut kernel = kernel(&names);
        kernel.original = text::parse_tree(&kernel, before).unwrap_or_else(|e| panic!("{before}: {e}"));
        Arc::new(kernel)
    }

    #[test]
    fn examples_are_true() {
        let registry = Registry::standard();
        for registration in registry.iter() {
            let manual = registration.manual();
            let (before, recipe, after) =
                (block(&manual, "lt before"), block(&manual, "recipe"), block(&manual, "lt after"));
            let kernel = example(before);
            let step = Recipe::parse(recipe, &registry).unwrap_or_else(|e| panic!("{recipe}: {e}"));
            let found = step.replay(&kernel, &kernel.original).unwrap_or_else(|e| panic!("{e}"));
            let expected = text::parse_tree(&kernel, after).unwrap_or_else(|e| panic!("{after}: {e}"));
            let print = |tree| text::print_tree(&kernel, tree);
            assert!(found == expected, "{recipe}\nexpected\n{}found\n{}", print(&expected), print(&found));
            // Instances of an empty loop are lost, and others are computed again.
            let changes = matches!(registration.name(), "sink" | "forward" | "merge");
            for params in parameters().filter(|_| !changes) {
                let [before, after] = [&kernel.original, &found].map(|tree| sorted(&kernel, tree, &params));
                assert_eq!(before, after, "{recipe}: instances for {params:?}");
            }
        }
    }

    #[test]
    fn each_transformation_is_on_the_page_once() {
        let registry = Registry::standard();
        let page = registry.manual(None);
        for registration in registry.iter() {
            let manual = registry.manual(Some(registration.name()));
            assert!(
                manual.starts_with("## ") && page.matches(&manual).count() == 1,
                "{}",
                registration.name()
            );
        }
        assert_eq!(registry.manual(Some("fold")), "");
    }
}
