//! What a trace came to as one self-contained page: three curves over time, and tables that say the same.

use std::fmt::Write as _;

use apportion_core::decision::clock;

use super::play::{Played, Sample};
use super::report::{FRAGMENTATION, Summary, lines, percent, share, verdict};
use super::trace::Trace;
use crate::cli::commands::run::page_head;
use crate::cli::text::escape;

/// Pixels.
const LEFT: f64 = 70.0;
const WIDTH: f64 = 1100.0;
const HEIGHT: f64 = 150.0;
const GAP: f64 = 60.0;

const STYLE: &str = "
.curve{fill:none;stroke:var(--placed);stroke-width:1.5}.area{fill:var(--placed);opacity:.15}td+td,th+th{text-align:right}
";

/// A curve: its title, and what it is at a time.
type Curve<'c> = (&'c str, Box<dyn Fn(&Sample) -> u64 + 'c>, fn(u64) -> String);

/// The page.
pub(super) fn write(trace: &Trace, played: &Played, summary: &Summary, kubernetes: &str) -> String {
    let title = escape(&verdict(trace, played, summary));
    let mut page = page_head(&title, STYLE);
    let _ = writeln!(page, "<h1>{title}</h1>\n<p>Simulated for {}. {FRAGMENTATION}</p>", escape(kubernetes));
    let total = played.total;
    let curves: [Curve<'_>; 3] = [
        ("GPUs in use", Box::new(move |sample| share(sample.used, total)), percent),
        ("Pods waiting", Box::new(|sample| sample.waiting), |number| number.to_string()),
        ("Fragmentation", Box::new(|sample| sample.fragmentation), percent),
    ];
    picture(&mut page, played, &curves);
    page.push_str("<h2>In numbers</h2>\n<table>\n<tbody>\n");
    for (name, value) in lines(trace, played, summary) {
        let _ = writeln!(page, "<tr><td>{name}</td><td>{}</td></tr>", escape(&value));
    }
    page.push_str("</tbody>\n</table>\n");
    table(&mut page, played);
    page.push_str("</body>\n</html>\n");
    page
}

#[expect(clippy::cast_precision_loss, reason = "places in a picture")]
fn picture(page: &mut String, played: &Played, curves: &[Curve<'_>]) {
    let end = played.end_millis.max(1) as f64;
    let x = |millis: u64| (millis as f64 / end).mul_add(WIDTH, LEFT);
    let mut drawn = String::new();
    let mut top = 24.0;
    for (title, value, words) in curves {
        let most = played.samples.iter().map(value.as_ref()).max().unwrap_or_default();
        let y = |number: u64| top + HEIGHT - HEIGHT * number as f64 / most.max(1) as f64;
        let bottom = top + HEIGHT;
        let _ = write!(
            drawn,
            "<g><text x=\"{LEFT}\" y=\"{:.0}\">{title}</text>\
             <line x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{bottom:.0}\" y2=\"{bottom:.0}\"/>\
             <line x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{top:.0}\" y2=\"{top:.0}\"/>\
             <text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\" class=\"faint\">{}</text>\
             <text x=\"{:.0}\" y=\"{bottom:.0}\" text-anchor=\"end\" class=\"faint\">0</text>",
            top - 8.0,
            LEFT + WIDTH,
            LEFT + WIDTH,
            LEFT - 6.0,
            top + 4.0,
            words(most),
            LEFT - 6.0,
        );
        // A measurement holds until the next one.
        let mut path = String::new();
        for (index, sample) in played.samples.iter().enumerate() {
            let (x, y) = (x(sample.at_millis), y(value(sample)));
            let _ = match index {
                0 => write!(path, "M{x:.1} {y:.1}"),
                _ => write!(path, "H{x:.1}V{y:.1}"),
            };
        }
        let first = played.samples.first().map_or(LEFT, |sample| x(sample.at_millis));
        let _ = writeln!(
            drawn,
            "<path class=\"area\" d=\"{path}V{bottom:.1}H{first:.1}Z\"/><path class=\"curve\" d=\"{path}\"/></g>"
        );
        top += HEIGHT + GAP;
    }
    let bottom = top - GAP;
    for tick in 0..=4_u64 {
        let at = played.end_millis.saturating_mul(tick) / 4;
        let anchor = ["start", "middle", "middle", "middle", "end"].get(usize::try_from(tick).unwrap_or_default());
        let _ = write!(
            drawn,
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"{}\" class=\"faint\">{}</text>",
            x(at),
            bottom + 18.0,
            anchor.unwrap_or(&"middle"),
            clock(at - at % 1000)
        );
    }
    let _ = write!(
        page,
        "<figure>\n<svg viewBox=\"0 0 {:.0} {:.0}\" role=\"img\" aria-label=\"GPUs in use, Pods waiting and fragmentation over time; the table below says the same\">\n{drawn}\n</svg>\n</figure>\n",
        LEFT + WIDTH + 20.0,
        bottom + 30.0
    );
}

fn table(page: &mut String, played: &Played) {
    page.push_str(
        "<h2>Over time</h2>\n<table>\n<thead><tr><th>Time</th><th>Running</th><th>Waiting</th><th>GPUs in use</th><th>Fragmentation</th></tr></thead>\n<tbody>\n",
    );
    for Sample { at_millis, running, waiting, used, fragmentation } in &played.samples {
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{running}</td><td>{waiting}</td><td>{}</td><td>{}</td></tr>",
            clock(*at_millis),
            percent(share(*used, played.total)),
            percent(*fragmentation)
        );
    }
    page.push_str("</tbody>\n</table>\n");
}
