//! The document of `explore` as a page for a browser: one file, which asks nobody for anything.
//!
//! `report/page.html` is the frame. What is seen is made from the document by the scripts, which put text into the page as text
//! only.

/// In the order in which they use one another.
const SCRIPTS: [&str; 7] = [
    include_str!("report/elements.js"),
    include_str!("report/plots.js"),
    include_str!("report/spaces.js"),
    include_str!("report/trees.js"),
    include_str!("report/tables.js"),
    include_str!("report/nest.js"),
    include_str!("report/main.js"),
];

/// The page.
pub fn page(json: &str) -> String {
    let style = include_str!("report/style.css");
    let mut page = String::with_capacity(json.len() + 100_000);
    for piece in include_str!("report/page.html").split_inclusive("-->") {
        match piece.rsplit_once("<!--") {
            Some((before, "STYLE-->")) => page.extend([before, style]),
            Some((before, "DOCUMENT-->")) => page.extend([before, &embedded(json)]),
            Some((before, "SCRIPTS-->")) => {
                page.push_str(before);
                page.extend(SCRIPTS);
            }
            _ => page.push_str(piece),
        }
    }
    page
}

/// JSON that ends no script element, and begins none: `<` stands in strings only.
fn embedded(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_the_document() {
        let json =
            serde_json::json!({ "name": "</script><script>alert(1)</script><!-- STYLE-->" }).to_string();
        let page = page(&json);
        let (_, rest) = page.split_once("type=\"application/json\">").expect("a document");
        let (own, _) = rest.split_once("</script>").expect("its end");
        let back: serde_json::Value = serde_json::from_str(own).expect("JSON");
        assert_eq!(back.to_string(), json);
        assert!(!page.contains("<!--"), "a piece is missing");
    }

    #[test]
    fn nothing_is_asked_of_the_network() {
        let page = page("{}");
        assert!(page.contains("default-src 'none'"));
        for word in ["http:", "https:", "//cdn", "src=", "@import", "innerHTML"] {
            let found = page.replace("http://www.w3.org/2000/svg", "").matches(word).count();
            assert_eq!(found, 0, "{word}");
        }
    }
}
