//! The timeline as one self-contained page: a picture, its legend, and a table that says the same. No script, nothing loaded.

use std::fmt::Write as _;

use apportion_core::control_plane::Happening;
use apportion_core::decision::clock;

use super::lanes::{Lane, Scale, State, lanes};
use super::timeline::{Played, is_main, words};
use crate::cli::text::escape;

/// Lanes that are drawn; the table has all moments.
const MAX_LANES: usize = 300;

/// Rows of the table.
const MAX_ROWS: usize = 5000;

/// Pixels.
const NAMES: f64 = 300.0;
const WIDTH: f64 = 900.0;
const ROW: f64 = 22.0;
const TOP: f64 = 40.0;

const STYLE: &str = "
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--faint:#59636e;--line:#d1d9e0;--pending:#9a6700;--placed:#0969da;
--running:#1a7f37;--ended:#6e7781;--ending:#bc4c00;--idle:#afb8c1;--allocated:#8250df;--mark:#cf222e}
@media(prefers-color-scheme:dark){:root{--paper:#0d1117;--ink:#e6edf3;--faint:#9198a1;--line:#30363d;--pending:#d29922;
--placed:#4493f8;--running:#3fb950;--ended:#8b949e;--ending:#db6d28;--idle:#484f58;--allocated:#ab7df8;--mark:#f85149}}
body{margin:2rem auto;max-width:1280px;padding:0 1rem;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
h1{font-size:1.35rem;margin:0}h2{font-size:1.05rem;margin:2rem 0 .5rem}p{margin:.25rem 0;color:var(--faint)}
figure{margin:1.5rem 0;overflow-x:auto}svg{min-width:900px;width:100%;height:auto}
svg text{fill:var(--ink);font:12px system-ui,sans-serif}svg .faint{fill:var(--faint)}svg .in{fill:var(--paper);font-size:11px}
svg line{stroke:var(--line)}svg .mark{stroke:var(--mark);stroke-dasharray:4 3}
.pending{fill:url(#pending)}.placed{fill:var(--placed)}.running{fill:var(--running)}.ended{fill:var(--ended)}
.ending{fill:url(#ending)}.idle{fill:var(--idle)}.allocated{fill:var(--allocated)}
ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;padding:0;list-style:none}li svg{min-width:0;width:1rem;height:1rem;vertical-align:-.15rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.2rem .75rem .2rem 0;border-bottom:1px solid var(--line)}
td:first-child{white-space:nowrap;font-variant-numeric:tabular-nums}.minor{color:var(--faint)}
";

/// The beginning of a page, up to its body. The title is escaped.
pub(crate) fn page_head(title: &str, style: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{title}</title>\n<style>{STYLE}{style}</style>\n</head>\n<body>\n"
    )
}

/// The page.
pub(crate) fn write(played: &Played, kubernetes: &str) -> String {
    let all = lanes(&played.moments, &played.report, played.end_millis);
    let shown = all.get(..MAX_LANES).unwrap_or(&all);
    let placed = played.report.pods.iter().filter(|pod| pod.node.is_some()).count();
    let verdict =
        format!("{placed} of {} Pods have a node after {}", played.report.pods.len(), clock(played.end_millis));
    let mut page = page_head(&verdict, "");
    let _ = write!(
        page,
        "<h1>{verdict}</h1>\n\
         <p>Simulated for {}, from {} on. Long pauses are drawn short.</p>\n",
        escape(kubernetes),
        escape(&played.start.to_string())
    );
    legend(&mut page, shown);
    picture(&mut page, played, shown);
    if all.len() > shown.len() {
        let _ = writeln!(page, "<p>{} more lanes are not drawn.</p>", all.len().saturating_sub(shown.len()));
    }
    table(&mut page, played);
    page.push_str("</body>\n</html>\n");
    page
}

fn legend(page: &mut String, lanes: &[Lane]) {
    page.push_str("<ul>");
    for state in State::ALL {
        if lanes.iter().flat_map(|lane| &lane.bars).any(|bar| bar.state == state) {
            let name = state.text();
            let _ = write!(
                page,
                "<li><svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><rect width=\"16\" height=\"16\" class=\"{name}\"/></svg> {name}</li>"
            );
        }
    }
    page.push_str("</ul>\n");
}

fn picture(page: &mut String, played: &Played, lanes: &[Lane]) {
    let scale = Scale::new(&played.moments, played.end_millis);
    let x = |time: u64| scale.place(time).mul_add(WIDTH, NAMES);
    let mut y = TOP;
    let mut rows = String::new();
    for lane in lanes {
        let name = escape(&lane.object.to_string());
        let _ = write!(
            rows,
            "<g><text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{}</text>",
            NAMES - 8.0,
            y + 15.0,
            escape(&short(&lane.object.to_string(), 44))
        );
        for bar in &lane.bars {
            let (from, width) = (x(bar.from), (x(bar.to) - x(bar.from)).max(2.0));
            let label = if bar.label.is_empty() { String::new() } else { format!(", {}", escape(&bar.label)) };
            let _ = write!(
                rows,
                "<rect x=\"{from:.1}\" y=\"{:.0}\" width=\"{width:.1}\" height=\"16\" rx=\"2\" class=\"{}\"><title>{name}: {}{label}, {} to {}</title></rect>",
                y + 3.0,
                bar.state.text(),
                bar.state.text(),
                clock(bar.from),
                clock(bar.to)
            );
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small positive width")]
            let letters = (width / 6.5) as usize;
            let inside = if bar.label.is_empty() { bar.state.text() } else { &bar.label };
            if letters >= 4 && !matches!(bar.state, State::Pending | State::Ending) {
                let _ = write!(
                    rows,
                    "<text x=\"{:.1}\" y=\"{:.0}\" class=\"in\">{}</text>",
                    from + 4.0,
                    y + 15.0,
                    escape(&short(inside, letters))
                );
            }
        }
        rows.push_str("</g>\n");
        y += ROW;
    }
    let (height, bottom) = (y + 12.0, y);
    let mut frame = String::new();
    let mut free = f64::MIN;
    for (time, place) in scale.ticks() {
        let at = place.mul_add(WIDTH, NAMES);
        if at < free {
            continue;
        }
        free = at + 56.0;
        let _ = write!(
            frame,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{:.0}\" y2=\"{bottom:.0}\"/><text x=\"{at:.1}\" y=\"16\" class=\"faint\">{}</text>",
            TOP - 14.0,
            clock(*time)
        );
    }
    for moment in played.moments.iter().filter(|moment| moment.happened == Happening::Requested) {
        let at = x(moment.at_millis);
        let _ = write!(
            frame,
            "<line class=\"mark\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{:.0}\" y2=\"{bottom:.0}\"><title>{}: {}</title></line>",
            TOP - 14.0,
            clock(moment.at_millis),
            escape(&moment.detail)
        );
    }
    let _ = write!(
        page,
        "<figure>\n<svg viewBox=\"0 0 {:.0} {height:.0}\" role=\"img\" aria-label=\"Pods and claims over time; the table below says the same\">\n<defs>{}{}</defs>\n{frame}\n{rows}</svg>\n</figure>\n",
        NAMES + WIDTH + 60.0,
        hatch("pending"),
        hatch("ending")
    );
}

/// A pattern that tells a state without its colour.
fn hatch(name: &str) -> String {
    format!(
        "<pattern id=\"{name}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect width=\"3\" height=\"6\" style=\"fill:var(--{name})\"/></pattern>"
    )
}

fn table(page: &mut String, played: &Played) {
    page.push_str(
        "<h2>What happens</h2>\n<table>\n<thead><tr><th>Time</th><th>Object</th><th>What</th></tr></thead>\n<tbody>\n",
    );
    for moment in played.moments.iter().take(MAX_ROWS) {
        let class = if is_main(moment.happened) { "" } else { " class=\"minor\"" };
        let _ = writeln!(
            page,
            "<tr{class}><td>{}</td><td>{}</td><td>{}</td></tr>",
            clock(moment.at_millis),
            escape(&moment.object.to_string()),
            escape(&words(moment))
        );
    }
    page.push_str("</tbody>\n</table>\n");
    let more = played.moments.len().saturating_sub(MAX_ROWS);
    if more > 0 {
        let _ = writeln!(page, "<p>{more} more moments are left out; the JSON form has all.</p>");
    }
}

/// The text, cut to so many characters.
fn short(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    let kept: String = text.chars().take(length.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_the_user_is_no_markup() {
        assert_eq!(escape("<script>'\"&\u{1b}"), "&lt;script&gt;&#39;&quot;&amp;\\u{1B}");
    }
}
