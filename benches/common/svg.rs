//! Charts as SVG, without fonts or scripts. The colours can be seen on light and on dark pages.

use std::fmt::Write;

const STYLE: &str = "<style>text{font:13px system-ui,sans-serif;fill:#1f2328}.quiet{fill:#59636e}\
.line{fill:none;stroke-width:2}.grid{stroke:#8b949e;stroke-opacity:.35}\
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.quiet{fill:#9198a1}}</style>";

/// Colours that differ on white and on black, and for most people who are colour-blind (after Okabe and Ito).
const COLORS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8b949e", "#7f5f3f"];

pub struct Bar {
    pub label: String,
    pub value: f64,
    /// The text after the bar.
    pub note: String,
    /// Bars of one kind have the same colour.
    pub kind: usize,
}

/// Horizontal bars. An empty label leaves a gap.
pub fn bars(title: &str, subtitle: &str, bars: &[Bar]) -> String {
    const LEFT: f64 = 230.0;
    const WIDTH: f64 = 330.0;
    let most = bars.iter().map(|bar| bar.value).fold(1.0, f64::max);
    let mut body = String::new();
    let mut y = 58.0;
    for bar in bars {
        if bar.label.is_empty() {
            y += 10.0;
            continue;
        }
        let width = bar.value / most * WIDTH;
        let color = COLORS[bar.kind % COLORS.len()];
        let text = y + 13.0;
        let _ = writeln!(body, "<text x='{}' y='{text}' text-anchor='end'>{}</text>", LEFT - 8.0, bar.label);
        let _ = writeln!(body, "<rect x='{LEFT}' y='{y}' width='{width:.1}' height='17' rx='2' fill='{color}'/>");
        let _ = writeln!(body, "<text class='quiet' x='{:.1}' y='{text}'>{}</text>", LEFT + width + 7.0, bar.note);
        y += 23.0;
    }
    frame(760.0, y + 12.0, title, subtitle, &body)
}

pub struct Line {
    pub label: String,
    pub points: Vec<(f64, f64)>,
    /// Lines of one kind have the same colour.
    pub kind: usize,
    pub dashed: bool,
}

/// Curves on logarithmic axes.
pub fn curves(title: &str, subtitle: &str, x_label: &str, lines: &[Line]) -> String {
    const LEFT: f64 = 58.0;
    const TOP: f64 = 62.0;
    const WIDTH: f64 = 470.0;
    const HEIGHT: f64 = 320.0;
    let all = || lines.iter().flat_map(|line| &line.points);
    let range = |value: fn(&(f64, f64)) -> f64| {
        let low = all().map(value).fold(f64::INFINITY, f64::min);
        let high = all().map(value).fold(0.0, f64::max);
        (low.log10(), high.log10())
    };
    let (x_low, x_high) = range(|point| point.0);
    let (y_low, y_high) = range(|point| point.1);
    let (y_low, y_high) = (y_low - 0.1, y_high + 0.1);
    let x_of = |x: f64| LEFT + (x.log10() - x_low) / (x_high - x_low) * WIDTH;
    let y_of = |y: f64| TOP + HEIGHT - (y.log10() - y_low) / (y_high - y_low) * HEIGHT;

    let mut body = String::new();
    for power in x_low.ceil() as i32..=x_high.floor() as i32 {
        let x = x_of(10f64.powi(power));
        let text = super::report::thousands(10f64.powi(power));
        let _ = writeln!(body, "<path class='grid' d='M{x:.1} {TOP}v{HEIGHT}'/>");
        let y = TOP + HEIGHT + 18.0;
        let _ = writeln!(body, "<text class='quiet' x='{x:.1}' y='{y}' text-anchor='middle'>{text}</text>");
    }
    for power in -2..6 {
        for step in [1.0, 2.0, 5.0] {
            let value = step * 10f64.powi(power);
            if (y_low..=y_high).contains(&value.log10()) {
                let y = y_of(value);
                let _ = writeln!(body, "<path class='grid' d='M{LEFT} {y:.1}h{WIDTH}'/>");
                let (x, y) = (LEFT - 8.0, y + 4.0);
                let _ = writeln!(body, "<text class='quiet' x='{x}' y='{y:.1}' text-anchor='end'>{value}</text>");
            }
        }
    }
    let (x, y) = (LEFT + WIDTH / 2.0, TOP + HEIGHT + 40.0);
    let _ = writeln!(body, "<text class='quiet' x='{x}' y='{y}' text-anchor='middle'>{x_label}</text>");

    // The labels are at the ends of the lines, moved apart where they would overlap.
    let end = |line: &Line| line.points.last().map_or(0.0, |point| y_of(point.1));
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by(|&a, &b| end(&lines[a]).total_cmp(&end(&lines[b])));
    let mut label_y = f64::NEG_INFINITY;
    let total = 16.0 * lines.len() as f64;
    for (place, &at) in order.iter().enumerate() {
        let line = &lines[at];
        let color = COLORS[line.kind % COLORS.len()];
        let dash = if line.dashed { " stroke-dasharray='6 4'" } else { "" };
        let points: Vec<_> = line.points.iter().map(|&(x, y)| format!("{:.1} {:.1}", x_of(x), y_of(y))).collect();
        let _ = writeln!(body, "<path class='line' stroke='{color}'{dash} d='M{}'/>", points.join("L"));
        let room_below = TOP + HEIGHT - (total - 16.0 * place as f64) + 16.0;
        label_y = (label_y + 16.0).max(end(line)).min(room_below.max(label_y + 16.0));
        let (x, tick) = (LEFT + WIDTH + 8.0, end(line));
        let _ = writeln!(
            body,
            "<path class='line' stroke='{color}'{dash} style='stroke-width:1.5' d='M{} {tick:.1}L{} {label_y:.1}h14'/>",
            LEFT + WIDTH + 1.0,
            x + 8.0
        );
        let _ = writeln!(body, "<text x='{}' y='{:.1}'>{}</text>", x + 27.0, label_y + 4.0, line.label);
    }
    frame(760.0, TOP + HEIGHT + 54.0, title, subtitle, &body)
}

fn frame(width: f64, height: f64, title: &str, subtitle: &str, body: &str) -> String {
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' role='img' aria-label='{title}'>\n\
         {STYLE}\n<text x='12' y='24' style='font-weight:600;font-size:16px'>{title}</text>\n\
         <text class='quiet' x='12' y='44'>{subtitle}</text>\n{body}</svg>\n"
    )
}
