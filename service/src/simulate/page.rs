//! The report as a page: one file without scripts. What comes from the log is escaped.

use std::error::Error;
use std::fmt::Write as _;
use std::ops::Range;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use plotters::coord::Shift;
use plotters::coord::combinators::WithKeyPoints;
use plotters::coord::types::RangedCoordi64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::figures::{grouped, percent};
use super::report::{BARS, Changed, Key, Report, Rule, at};
use super::times::Slots;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn Error>>;

/// So many rules with denials are open at first.
const OPEN: usize = 4;
const WIDTH: u32 = 1_000;
/// Beside the plots over time: figures to the left, names to the right.
const LEFT: u32 = 60;
const RIGHT: u32 = 250;
const ROW: u32 = 22;
const AXIS: u32 = 26;
/// A bar ends at so many times what is usual: three quarters of the time there are fewer requests.
const FLOOD: f64 = 4.0;
/// The characters of a key that fit to the right.
const SHOWN: usize = 36;
/// The steps of an axis of time, in seconds.
const STEPS: [i64; 14] =
    [1, 5, 15, 60, 300, 900, 1_800, 3_600, 3 * 3_600, 6 * 3_600, 12 * 3_600, 86_400, 7 * 86_400, 28 * 86_400];

// Stand for the colours of the page, which differ in the dark.
const TEXT: RGBColor = RGBColor(0, 0, 1);
const MUTED: RGBColor = RGBColor(0, 0, 2);
const LINE: RGBColor = RGBColor(0, 0, 3);
const ALLOWED: RGBColor = RGBColor(0, 0, 4);
const DENIED: RGBColor = RGBColor(0, 0, 5);
const HEAT: [RGBColor; 5] =
    [RGBColor(0, 0, 6), RGBColor(0, 0, 7), RGBColor(0, 0, 8), RGBColor(0, 0, 9), RGBColor(0, 0, 10)];
const TRACK: RGBColor = RGBColor(0, 0, 11);
const COLOURS: [&str; 11] =
    ["text", "muted", "line", "allowed", "denied", "heat-1", "heat-2", "heat-3", "heat-4", "heat-5", "track"];

const STYLE: &str = include_str!("page.css");

/// The page.
///
/// # Errors
/// A plot cannot be drawn.
pub fn page(report: &Report) -> Result<String, String> {
    let mut html = String::new();
    write_page(report, &mut html).map_err(|error| format!("the page cannot be drawn: {error}"))?;
    Ok(html)
}

fn write_page(report: &Report, html: &mut String) -> Drawn {
    let denied = report.rules.iter().filter(|rule| rule.denied > 0).count();
    write!(
        html,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>rlaas simulate</title>\n\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body>\n\
         <header><h1>What these rules would have done</h1><p>{} to {}, in UTC</p></header>\n<dl class=\"figures\">",
        escape(&report.from),
        escape(&report.to)
    )?;
    for (name, value) in [
        ("requests", grouped(report.requests)),
        ("denied", grouped(report.denied)),
        ("of all requests", percent(report.denied, report.requests)),
        ("rules that deny", format!("{denied} of {}", report.rules.len() + report.unused.len())),
    ] {
        write!(html, "<div><dt>{name}</dt><dd>{value}</dd></div>")?;
    }
    html.push_str("</dl>\n");
    if !report.unused.is_empty() {
        write!(html, "<aside><b>No request matches {} of the rules.</b> They limit nothing:", report.unused.len())?;
        list(html, &report.unused)?;
        html.push_str("</aside>\n");
    }
    table(html, Rule::HEADS, report.rules.iter().map(Rule::row))?;
    for (number, rule) in report.rules.iter().enumerate() {
        let open = if number < OPEN && rule.denied > 0 || report.rules.len() == 1 { " open" } else { "" };
        write!(html, "<details{open}><summary><h2>{}</h2> <code>{}</code> ", escape(&rule.name), escape(&rule.terms))?;
        writeln!(html, "<span>{} denied</span></summary>", percent(rule.denied, rule.requests))?;
        write_rule(rule, report.slots, html)?;
        html.push_str("</details>\n");
    }
    if let Some(compared) = &report.compared {
        for (what, requests, keys) in compared.parts() {
            write!(html, "<section><h2>{what} with the other rules: {} requests</h2>", grouped(requests))?;
            table(html, Changed::HEADS, keys.iter().map(Changed::row))?;
            html.push_str("</section>\n");
        }
    }
    html.push_str("<footer>");
    list(html, &report.notes)?;
    html.push_str("</footer></body></html>\n");
    Ok(())
}

fn write_rule(rule: &Rule, slots: Slots, html: &mut String) -> Drawn {
    let mut facts = rule.facts();
    if !rule.place.is_empty() {
        facts.push(format!("the rule is{}", at(&rule.place)));
    }
    if !rule.prefix.is_empty() && rule.denied > 0 {
        facts.push(format!("all keys begin with {}", rule.prefix));
    }
    list(html, &facts)?;
    let highest = highest(rule, slots);
    let cut = if highest.1 > highest.0 {
        format!("; bars end at {:.1}, the highest is {:.1}", highest.0, highest.1)
    } else {
        String::new()
    };
    figure(html, &format!("Requests a second, by UTC{cut}"), (WIDTH, 190), |area| {
        over_time(area, rule, slots, highest.0)
    })?;
    if !rule.denied_most.is_empty() {
        let height = ROW * rule.denied_most.len() as u32 + AXIS;
        figure(
            html,
            "Keys denied most, and when, by UTC: the stronger the colour, the more denials",
            (WIDTH, height),
            |area| heat_map(area, rule, slots),
        )?;
    }
    figure(html, "Keys by their largest use of the limit", (WIDTH, 190), |area| use_of_keys(area, rule))?;
    if !rule.denied_most.is_empty() {
        let row = |key: &Key| {
            let [name, rest @ ..] = key.row();
            let [requests, denied, blocked, first, last] = rest;
            [rule.short(&name).to_owned(), requests, denied, blocked, first, last]
        };
        table(html, Key::HEADS, rule.denied_most.iter().map(row))?;
    }
    Ok(())
}

fn rate(count: u32, slots: Slots) -> f64 {
    f64::from(count) / slots.width.max(1) as f64
}

/// Up to where requests a second are drawn, and the most that there are: where one caller floods for a while, what is
/// usual is to be seen too.
fn highest(rule: &Rule, slots: Slots) -> (f64, f64) {
    let both = rule.allowed_at.iter().zip(&rule.denied_at).map(|(a, b)| rate(a.saturating_add(*b), slots));
    let mut rates: Vec<f64> = both.filter(|rate| *rate > 0.0).collect();
    rates.sort_by(f64::total_cmp);
    let (most, usual) = (rates.last().copied().unwrap_or(0.0), rates.get(rates.len() * 3 / 4).copied().unwrap_or(0.0));
    (most.min(usual * FLOOD), most)
}

/// Requests allowed and denied, one above the other.
fn over_time(area: &Area<'_>, rule: &Rule, slots: Slots, most: f64) -> Drawn {
    let rate = |count: u32| rate(count, slots);
    let both = || rule.allowed_at.iter().zip(&rule.denied_at);
    let mut chart = ChartBuilder::on(area)
        .margin_top(8)
        .margin_right(RIGHT)
        .x_label_area_size(AXIS)
        .y_label_area_size(LEFT)
        .build_cartesian_2d(axis(slots), 0.0..most * 1.05)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(LINE)
        .axis_style(LINE)
        .label_style(label(MUTED))
        .y_labels(4)
        .x_label_formatter(&|seconds| moment(*seconds, slots))
        .draw()?;
    let rates = || both().enumerate().map(|(slot, (allowed, denied))| (slot, rate(*allowed), rate(*denied)));
    let bar = |slot, low: f64, high: f64, colour: RGBColor| {
        let ends = [(slots.start_of(slot), low.min(most)), (slots.start_of(slot + 1), high.min(most))];
        Rectangle::new(ends, colour.filled())
    };
    chart
        .draw_series(rates().filter(|bars| bars.1 > 0.0).map(|(slot, allowed, _)| bar(slot, 0.0, allowed, ALLOWED)))?;
    chart.draw_series(
        rates().filter(|bars| bars.2 > 0.0).map(|(slot, allowed, denied)| bar(slot, allowed, allowed + denied, DENIED)),
    )?;
    let x = (WIDTH - RIGHT) as i32 + 16;
    for (y, colour, text) in [
        (16, DENIED, format!("{} denied", grouped(rule.denied))),
        (38, ALLOWED, format!("{} allowed", grouped(rule.requests - rule.denied))),
    ] {
        area.draw(&Rectangle::new([(x, y), (x + 12, y + 12)], colour.filled()))?;
        area.draw(&Text::new(text, (x + 20, y), label(TEXT)))?;
    }
    Ok(())
}

/// A row for each key: the darker, the more denials.
fn heat_map(area: &Area<'_>, rule: &Rule, slots: Slots) -> Drawn {
    let keys = &rule.denied_most;
    let rows = keys.len() as i32;
    let most = keys.iter().flat_map(|key| &key.denied_at).max().copied().unwrap_or(1).max(1);
    let mut chart = ChartBuilder::on(area)
        .margin_left(LEFT)
        .margin_right(RIGHT)
        .x_label_area_size(AXIS)
        .build_cartesian_2d(axis(slots), 0..rows)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .axis_style(LINE)
        .label_style(label(MUTED))
        .x_label_formatter(&|seconds| moment(*seconds, slots))
        .draw()?;
    for (row, key) in (0..rows).rev().zip(keys) {
        let ends = [(slots.start_of(0), row), (slots.start_of(slots.len), row + 1)];
        let mut track = Rectangle::new(ends, TRACK.filled());
        track.set_margin(2, 2, 0, 0);
        chart.draw_series([track])?;
        let cells = key.denied_at.iter().enumerate().filter(|(_, count)| **count > 0);
        chart.draw_series(cells.map(|(slot, count)| {
            // By the logarithm: a key that is denied now and then is to be seen too.
            let part = f64::from(*count).ln_1p() / f64::from(most).ln_1p();
            let colour = HEAT[((part * HEAT.len() as f64) as usize).min(HEAT.len() - 1)];
            let corners = [(slots.start_of(slot), row), (slots.start_of(slot + 1), row + 1)];
            let mut cell = Rectangle::new(corners, colour.filled());
            cell.set_margin(2, 2, 0, 0);
            cell
        }))?;
    }
    for (number, key) in (0..).zip(keys) {
        let middle = number * ROW as i32 + ROW as i32 / 2;
        let count = label(MUTED).pos(Pos::new(HPos::Right, VPos::Center));
        area.draw(&Text::new(grouped(key.denied), (LEFT as i32 - 8, middle), count))?;
        let name = label(TEXT).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(shortened(rule.short(&key.key)), ((WIDTH - RIGHT) as i32 + 16, middle), name))?;
    }
    Ok(())
}

/// How many keys used how much of the limit.
fn use_of_keys(area: &Area<'_>, rule: &Rule) -> Drawn {
    let most = rule.use_of_keys.iter().max().copied().unwrap_or(1).max(1);
    let mut chart = ChartBuilder::on(area)
        .margin_top(20)
        .margin_left(LEFT)
        .margin_right(RIGHT)
        .x_label_area_size(AXIS)
        .build_cartesian_2d((0..BARS - 1).into_segmented(), 0.0..most as f64)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .axis_style(LINE)
        .label_style(label(MUTED))
        .x_labels(BARS)
        .x_label_formatter(&|segment| match segment {
            SegmentValue::CenterOf(bar) if *bar == BARS - 1 => "denied".to_owned(),
            SegmentValue::CenterOf(bar) => format!("≤ {} %", (bar + 1) * 10),
            _ => String::new(),
        })
        .draw()?;
    let bars = || rule.use_of_keys.iter().copied().enumerate().filter(|(_, keys)| *keys > 0);
    chart.draw_series(bars().map(|(bar, keys)| {
        let colour = if bar == BARS - 1 { DENIED } else { ALLOWED };
        let corners = [(SegmentValue::Exact(bar), 0.0), (SegmentValue::Exact(bar + 1), keys as f64)];
        let mut bar = Rectangle::new(corners, colour.filled());
        bar.set_margin(0, 0, 6, 6);
        bar
    }))?;
    let count = label(TEXT).pos(Pos::new(HPos::Center, VPos::Bottom));
    let at = |(bar, keys): (usize, u64)| {
        Text::new(grouped(keys), (SegmentValue::CenterOf(bar), keys as f64 + most as f64 * 0.03), count.clone())
    };
    chart.draw_series(bars().map(at))?;
    Ok(())
}

/// Draws a plot into the page.
fn figure(html: &mut String, caption: &str, size: (u32, u32), draw: impl FnOnce(&Area<'_>) -> Drawn) -> Drawn {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        draw(&area)?;
        area.present()?;
    }
    for (number, name) in COLOURS.iter().enumerate() {
        svg = svg.replace(&format!("\"#{:06X}\"", number + 1), &format!("\"var(--{name})\""));
    }
    writeln!(html, "<figure><figcaption>{caption}</figcaption><div class=\"wide\">{svg}</div></figure>")?;
    Ok(())
}

fn label(colour: RGBColor) -> TextStyle<'static> {
    ("sans-serif", 14).into_font().color(&colour)
}

/// The time of the plots, with at most ten marks at full minutes, hours or days.
fn axis(slots: Slots) -> WithKeyPoints<RangedCoordi64> {
    let range: Range<i64> = slots.start..slots.start_of(slots.len.max(1));
    let step = step(slots);
    let first = range.start + (step - range.start.rem_euclid(step)) % step;
    let marks = (0..10).map(|mark| first + mark * step).take_while(|mark| *mark < range.end).collect();
    range.with_key_points(marks)
}

fn step(slots: Slots) -> i64 {
    let length = slots.width * slots.len as i64;
    STEPS.into_iter().find(|step| length / step < 10).unwrap_or(length / 9)
}

fn moment(seconds: i64, slots: Slots) -> String {
    let step = step(slots);
    let form = if step >= 86_400 {
        "%e %b"
    } else if step >= 60 {
        "%H:%M"
    } else {
        "%H:%M:%S"
    };
    let time = Timestamp::from_second(seconds).unwrap_or_default().to_zoned(TimeZone::UTC);
    let form = if step < 86_400 && seconds % 86_400 == 0 { "%e %b" } else { form };
    time.strftime(form).to_string()
}

/// The beginning of a long key, and its end.
fn shortened(key: &str) -> String {
    let count = key.chars().count();
    if count <= SHOWN {
        return key.to_owned();
    }
    let half = SHOWN / 2;
    let (begin, end): (String, String) =
        (key.chars().take(half).collect(), key.chars().skip(count - half + 1).collect());
    format!("{begin}…{end}")
}

fn table<const N: usize>(
    html: &mut String,
    heads: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> Result<(), std::fmt::Error> {
    html.push_str("<div class=\"wide\"><table><tr>");
    heads.iter().try_for_each(|head| write!(html, "<th>{head}</th>"))?;
    html.push_str("</tr>\n");
    for row in rows {
        html.push_str("<tr>");
        row.iter().try_for_each(|cell| write!(html, "<td>{}</td>", escape(cell)))?;
        html.push_str("</tr>\n");
    }
    html.push_str("</table></div>\n");
    Ok(())
}

fn list(html: &mut String, items: &[String]) -> Result<(), std::fmt::Error> {
    html.push_str("<ul>");
    items.iter().try_for_each(|item| write!(html, "<li>{}</li>", escape(item)))?;
    html.push_str("</ul>\n");
    Ok(())
}

/// Text for the content of an element.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
