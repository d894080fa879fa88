//! The table as bars: gain over the original of each candidate, on a logarithmic scale around 1.

use super::report::Report;
use std::fmt::Write;

/// Ours first; peers in their order.
const COLOURS: [&str; 6] = ["#1b6ca8", "#e07b39", "#5a9e6f", "#8a6bb1", "#b0475b", "#7a7a7a"];
const BAR: f64 = 9.0;
const GAP: f64 = 8.0;
const LEFT: f64 = 170.0;
const TOP: f64 = 56.0;
const WIDTH: f64 = 620.0;

/// The chart as SVG.
pub fn svg(report: &Report) -> String {
    let names: Vec<&str> =
        std::iter::once("looptree").chain(report.geometric_mean_peers.iter().map(|(n, _)| &n[..])).collect();
    let mut groups: Vec<(&str, Vec<Option<f64>>)> = report
        .rows
        .iter()
        .map(|r| {
            let ratios = std::iter::once(r.predicted_best).chain(r.peers.iter().map(|p| p.ratio));
            (&r.kernel[..], ratios.collect())
        })
        .collect();
    let means = report.geometric_mean_peers.iter().map(|(_, mean)| Some(*mean));
    groups.push((
        "geometric mean",
        std::iter::once(Some(report.geometric_mean_predicted)).chain(means).collect(),
    ));
    let all = || groups.iter().flat_map(|(_, g)| g.iter().flatten().copied()).filter(|r| *r > 0.0);
    // Whole powers of two around everything.
    let low = all().fold(1.0, f64::min).log2().floor().max(-6.0);
    let high = all().fold(2.0, f64::max).log2().ceil().min(10.0);
    let x = |ratio: f64| LEFT + (ratio.max(1e-9).log2().clamp(low, high) - low) / (high - low) * WIDTH;
    let step = names.len() as f64 * BAR + GAP;
    let height = TOP + groups.len() as f64 * step + 12.0;

    let mut out = String::new();
    let _ = writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{:.0}" height="{height:.0}" font-family="sans-serif" font-size="11">"#,
        LEFT + WIDTH + 60.0
    );
    let _ = writeln!(out, r#"<rect width="100%" height="100%" fill="white"/>"#);
    let _ = writeln!(
        out,
        r#"<text x="8" y="16" font-size="13">Gain over clang -O3 {}</text>"#,
        escape(&report.flags.join(" "))
    );
    for (at, name) in names.iter().enumerate() {
        let (left, colour) = (LEFT + at as f64 * 110.0, COLOURS[at % COLOURS.len()]);
        let _ = writeln!(out, r#"<rect x="{left:.0}" y="24" width="10" height="10" fill="{colour}"/>"#);
        let _ = writeln!(out, r#"<text x="{:.0}" y="33">{}</text>"#, left + 14.0, escape(name));
    }
    for power in low as i32..=high as i32 {
        let (ratio, at) = (2.0_f64.powi(power), x(2.0_f64.powi(power)));
        let colour = if power == 0 { "#333" } else { "#ddd" };
        let _ = writeln!(
            out,
            r#"<line x1="{at:.1}" y1="{TOP:.0}" x2="{at:.1}" y2="{height:.0}" stroke="{colour}"/>"#
        );
        let _ =
            writeln!(out, r#"<text x="{at:.1}" y="{:.0}" text-anchor="middle">{ratio}x</text>"#, TOP - 6.0);
    }
    for (number, (name, ratios)) in groups.iter().enumerate() {
        let top = TOP + GAP / 2.0 + number as f64 * step;
        let middle = top + names.len() as f64 * BAR / 2.0 + 4.0;
        let _ = writeln!(
            out,
            r#"<text x="{:.0}" y="{middle:.1}" text-anchor="end">{}</text>"#,
            LEFT - 8.0,
            escape(name)
        );
        for (at, ratio) in ratios.iter().enumerate() {
            let Some(ratio) = ratio else { continue };
            let (from, to) = (x(1.0).min(x(*ratio)), x(1.0).max(x(*ratio)));
            let (y, colour) = (top + at as f64 * BAR, COLOURS[at % COLOURS.len()]);
            let _ = writeln!(
                out,
                r#"<rect x="{from:.1}" y="{y:.1}" width="{:.1}" height="{:.1}" fill="{colour}"><title>{}: {ratio:.2}x</title></rect>"#,
                (to - from).max(0.5),
                BAR - 1.0,
                escape(names.get(at).copied().unwrap_or("")),
            );
            if at == 0 {
                let _ = writeln!(
                    out,
                    r#"<text x="{:.1}" y="{:.1}" font-size="9">{ratio:.2}</text>"#,
                    to + 3.0,
                    y + BAR - 1.0
                );
            }
        }
    }
    out.push_str("</svg>\n");
    out
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::report::{PeerResult, Report, Row};
    use super::*;

    #[test]
    fn bars_lie_on_both_sides_of_one() {
        let peer = |ratio| PeerResult { name: "a<b".into(), ratio, other_results: false, failure: None };
        let row = |kernel: &str, ratio: f64, other| Row {
            kernel: kernel.into(),
            predicted_best: Some(ratio),
            peers: vec![peer(other)],
            ..Row::default()
        };
        let report = Report::new(Vec::new(), 1, vec![row("one", 4.0, Some(0.5)), row("two", 1.0, None)]);
        let text = svg(&report);
        // Two bars, one bar, two means; a legend of two and the ground.
        assert_eq!(text.matches("<rect").count(), 5 + 2 + 1);
        assert!(text.contains("a&lt;b: 0.50x") && text.contains(">0.5x<") && text.contains(">4x<"));
    }
}
