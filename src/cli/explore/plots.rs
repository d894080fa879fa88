//! Single plots as files: the gains of the variants of a nest by rank, and the roofline with each variant on it. The report draws
//! the same, and more, in a browser.

use super::document::{RegionSummary, VariantSummary};
use super::roofline::{Roofline, Slope};
use crate::cli::error::CliError;
use crate::cli::output;
use looptree::cost_model::Term;
use std::fmt::Write;
use std::path::Path;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = HEIGHT - 46.0;
const PREDICTED: &str = "#1b6ca8";
const MEASURED: &str = "#e07b39";

/// Writes `REGION.gains.svg`, and `REGION.roofline.svg` where something is computed.
pub fn write(summary: &RegionSummary, directory: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(directory)
        .map_err(|source| CliError::Write { file: directory.to_owned(), source })?;
    let name = summary.region.replace(['/', '\\', '#'], "-");
    let plot = |kind: &str, text: &str| {
        output::write(&directory.join(format!("{name}.{kind}.svg")), text.as_bytes())
    };
    plot("gains", &gains(summary))?;
    match roofline(summary) {
        Some(text) => plot("roofline", &text),
        None => Ok(()),
    }
}

/// A logarithmic axis.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// Around all of these, with some room; of values that are not positive nothing is drawn.
    fn around(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
        let shown = values.filter(|v| v.is_finite() && *v > 0.0);
        let (low, high) = shown.fold((f64::MAX, f64::MIN_POSITIVE), |(l, h), v| (l.min(v), h.max(v)));
        Axis { low: low / 1.5, high: high * 1.5, from, to }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln();
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Round numbers on it.
    fn ticks(&self) -> Vec<f64> {
        let (low, high) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let steps: &[f64] = if self.high / self.low > 200.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let all = (low..=high).flat_map(|e| steps.iter().map(move |s| s * 10_f64.powi(e)));
        all.filter(|v| (self.low..=self.high).contains(v)).collect()
    }
}

fn gains(summary: &RegionSummary) -> String {
    let variants = &summary.variants;
    let both = |v: &VariantSummary| [Some(v.predicted_ratio), v.measured_ratio];
    let all = variants.iter().flat_map(both).flatten();
    let y = Axis::around(all.chain([1.0]), BOTTOM, TOP);
    let step = (RIGHT - LEFT) / variants.len().max(1) as f64;
    let mut out = frame(summary, "gain by rank; bars: predicted, diamonds: measured, line: the original");
    horizontal(&mut out, &y);
    for v in variants {
        let left = LEFT + v.rank as f64 * step;
        let (from, to) = (y.at(1.0), y.at(v.predicted_ratio));
        let _ = writeln!(
            out,
            r#"<rect x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}" fill="{PREDICTED}">{}</rect>"#,
            left + 0.1 * step,
            from.min(to),
            0.8 * step,
            (from - to).abs().max(0.5),
            title(v)
        );
        if let Some(ratio) = v.measured_ratio {
            diamond(&mut out, left + step / 2.0, y.at(ratio), v);
        }
    }
    line(&mut out, (LEFT, y.at(1.0)), (RIGHT, y.at(1.0)), "#333");
    text(&mut out, ((LEFT + RIGHT) / 2.0, HEIGHT - 12.0), "middle", "variants, the best predicted first");
    out + "</svg>\n"
}

/// At the level below the caches if anything comes from there, else at the next one above.
fn roofline(summary: &RegionSummary) -> Option<String> {
    let roofline = summary.details.as_ref()?.roofline.as_ref()?;
    let (slope, points) = roofline.slopes.iter().rev().find_map(|slope| {
        let points = points(summary, roofline, slope);
        (!points.is_empty()).then_some((slope, points))
    })?;
    let peak = roofline.ceilings.last()?.per_cycle;
    let ridge = peak / slope.per_cycle;
    let speeds = points.iter().flat_map(|p| [Some(p.predicted), p.measured]).flatten();
    let lowest = roofline.ceilings.first()?.per_cycle / 2.0;
    let y = Axis::around(speeds.chain([peak, lowest]), BOTTOM, TOP);
    let x = Axis::around(points.iter().map(|p| p.intensity).chain([ridge / 4.0, ridge * 8.0]), LEFT, RIGHT);
    let mut out =
        frame(summary, &format!("{} per cycle; circles: predicted, diamonds: measured", roofline.unit));
    horizontal(&mut out, &y);
    for tick in x.ticks() {
        text(&mut out, (x.at(tick), BOTTOM + 14.0), "middle", &number(tick));
    }
    let start = x.low.max(y.low / slope.per_cycle);
    line(&mut out, (x.at(start), y.at(start * slope.per_cycle)), (x.at(ridge), y.at(peak)), "#333");
    for ceiling in &roofline.ceilings {
        let (from, height) = (ceiling.per_cycle / slope.per_cycle, y.at(ceiling.per_cycle));
        line(&mut out, (x.at(from), height), (RIGHT, height), "#333");
        let label = format!("{}: {}", ceiling.name, number(ceiling.per_cycle));
        text(&mut out, (RIGHT - 4.0, height - 4.0), "end", &label);
    }
    for p in &points {
        let _ = writeln!(
            out,
            r#"<circle cx="{:.1}" cy="{:.1}" r="4" fill="{PREDICTED}" fill-opacity="0.7">{}</circle>"#,
            x.at(p.intensity),
            y.at(p.predicted),
            title(p.variant)
        );
        if let Some(speed) = p.measured {
            diamond(&mut out, x.at(p.intensity), y.at(speed), p.variant);
        }
    }
    let label = format!(
        "{} per byte from {}, of which come {} per cycle",
        roofline.unit,
        slope.from,
        number(slope.per_cycle)
    );
    text(&mut out, ((LEFT + RIGHT) / 2.0, HEIGHT - 12.0), "middle", &label);
    Some(out + "</svg>\n")
}

/// A variant under the roof.
struct Point<'a> {
    variant: &'a VariantSummary,
    /// Operations per byte.
    intensity: f64,
    /// Operations per cycle.
    predicted: f64,
    measured: Option<f64>,
}

fn points<'a>(summary: &'a RegionSummary, roofline: &Roofline, slope: &Slope) -> Vec<Point<'a>> {
    let point = |variant: &'a VariantSummary| {
        let bytes = moved(&variant.cost.as_ref()?.terms, &slope.term);
        let per_nanosecond = |seconds: f64| roofline.operations / (seconds * 1e9) / roofline.gigahertz;
        (bytes > 0.0).then(|| Point {
            variant,
            intensity: roofline.operations / bytes,
            predicted: roofline.operations / variant.cycles.max(1.0),
            measured: variant.seconds.filter(|s| *s > 0.0).map(per_nanosecond),
        })
    };
    summary.variants.iter().filter_map(point).collect()
}

/// Bytes that the terms move into a level.
fn moved(terms: &[Term], name: &str) -> f64 {
    terms.iter().map(|t| if t.name == name { t.bytes } else { 0.0 } + moved(&t.parts, name)).sum()
}

fn frame(summary: &RegionSummary, what: &str) -> String {
    let place = summary.location.as_deref().map_or_else(String::new, |l| format!(" ({l})"));
    let mut out = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="11">"#
    );
    let _ = writeln!(out, "\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>");
    text(&mut out, (LEFT, 14.0), "start", &format!("{}{place}", summary.name));
    text(&mut out, (LEFT, 28.0), "start", what);
    out
}

/// Lines across, with their numbers.
fn horizontal(out: &mut String, y: &Axis) {
    for tick in y.ticks() {
        line(out, (LEFT, y.at(tick)), (RIGHT, y.at(tick)), "#ddd");
        text(out, (LEFT - 6.0, y.at(tick) + 4.0), "end", &number(tick));
    }
}

fn line(out: &mut String, from: (f64, f64), to: (f64, f64), colour: &str) {
    let ((x1, y1), (x2, y2)) = (from, to);
    let _ = writeln!(out, r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" stroke="{colour}"/>"#);
}

fn text(out: &mut String, (x, y): (f64, f64), anchor: &str, said: &str) {
    let said = escape(said);
    let _ = writeln!(out, r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{said}</text>"#);
}

fn diamond(out: &mut String, x: f64, y: f64, variant: &VariantSummary) {
    let _ = writeln!(
        out,
        r#"<path d="M{:.1} {y:.1}L{x:.1} {:.1}L{:.1} {y:.1}L{x:.1} {:.1}Z" fill="{MEASURED}">{}</path>"#,
        x - 5.0,
        y - 5.0,
        x + 5.0,
        y + 5.0,
        title(variant)
    );
}

/// What a pointer over the mark is told.
fn title(variant: &VariantSummary) -> String {
    let recipe = if variant.recipe.is_empty() { "the original" } else { &variant.recipe };
    let measured = variant.measured_ratio.map_or_else(String::new, |r| format!(", measured {r:.2}x"));
    let ratio = variant.predicted_ratio;
    format!(
        "<title>{}</title>",
        escape(&format!("#{} {recipe}: predicted {ratio:.2}x{measured}", variant.rank))
    )
}

fn number(value: f64) -> String {
    format!("{}", (value * 1000.0).round() / 1000.0)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_hold_what_is_shown() {
        let axis = Axis::around([0.5, 8.0, 0.0, f64::NAN].into_iter(), 100.0, 0.0);
        assert!(axis.at(0.5) < 100.0 && axis.at(8.0) > 0.0 && axis.at(1.0) > axis.at(2.0));
        assert_eq!(axis.ticks(), [0.5, 1.0, 2.0, 5.0, 10.0]);
        assert_eq!((axis.at(0.0), axis.at(1e9)), (100.0, 0.0));
        // Of nothing there is an axis, too, on which all is somewhere.
        let empty = Axis::around(std::iter::empty(), 0.0, 1.0);
        assert!(empty.at(1.0).is_finite());
    }
}
