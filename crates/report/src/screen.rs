//! The live screen: progress, the attempt that runs, what came out so far, the cluster, the last notes.
//!
//! It only draws [`Live`]; the terminal and its events belong to the caller.
use crate::live::Live;
use crate::words;
use fathom_model::Phase;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Gauge, Paragraph, Row, Sparkline, Table};

/// How the screen is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScreenOptions {
    /// Use colours.
    pub color: bool,
}

#[derive(Clone, Copy)]
enum Tone {
    Rate,
    Good,
    Bad,
    Soft,
}

impl ScreenOptions {
    fn style(self, tone: Tone) -> Style {
        let plain = Style::default();
        match (self.color, tone) {
            (true, Tone::Rate) => plain.fg(Color::Cyan),
            (true, Tone::Good) => plain.fg(Color::Green),
            (true, Tone::Bad) => plain.fg(Color::LightRed).add_modifier(Modifier::BOLD),
            (true, Tone::Soft) => plain.fg(Color::DarkGray),
            (false, Tone::Bad) => plain.add_modifier(Modifier::BOLD),
            (false, _) => plain,
        }
    }
}

/// Draws one frame. Every size of terminal is served; what has no room is left out, the numbers of the running
/// attempt last of all.
pub fn draw(frame: &mut Frame<'_>, live: &Live, options: ScreenOptions) {
    let area = frame.area();
    let results = (live.results.len() as u16 + 3).min(area.height / 3);
    let rows = Layout::vertical([
        Constraint::Length(3),
        Constraint::Length(4),
        Constraint::Min(4),
        Constraint::Length(if live.results.is_empty() { 0 } else { results }),
        Constraint::Length(6.min(area.height / 4)),
    ]);
    let [progress, numbers, spark, table, notes] = rows.areas(area);
    draw_progress(frame, progress, live, options);
    draw_numbers(frame, numbers, live, options);
    draw_spark(frame, spark, live, options);
    draw_results(frame, table, live, options);
    draw_notes(frame, notes, live, options);
}

fn draw_progress(frame: &mut Frame<'_>, area: Rect, live: &Live, options: ScreenOptions) {
    let done = live.done as f64 / live.total().max(1) as f64;
    let label = format!(
        "{} of {} attempts · {} gone · about {} left",
        live.done,
        live.total(),
        words::clock(live.elapsed_s()),
        words::clock(live.left_s())
    );
    let gauge = Gauge::default()
        .block(Block::default().borders(Borders::ALL).title(" fathom "))
        .gauge_style(options.style(Tone::Rate))
        .ratio(done.clamp(0.0, 1.0))
        .label(label);
    frame.render_widget(gauge, area);
}

fn draw_numbers(frame: &mut Frame<'_>, area: Rect, live: &Live, options: ScreenOptions) {
    let current = &live.current;
    let mut title = match &current.step {
        Some(step) => format!(" {} #{} ", words::plain(&step.name), current.repeat + 1),
        None => " waiting ".to_owned(),
    };
    let mut line: Vec<Span<'_>> = Vec::new();
    if let Some((done, total, unit)) = &current.preparing {
        title.push_str("preparing ");
        line.push(Span::raw(format!("{} of {} {unit}", words::count(*done as f64), words::count(*total as f64))));
    } else if let Some(second) = &current.last {
        title.push_str(match second.phase {
            Phase::Ramp => "ramp ",
            Phase::Measure => "measuring ",
            Phase::Drain => "draining ",
        });
        let ns = |value: Option<u64>| value.map_or_else(|| "–".to_owned(), |ns| words::duration(ns as f64));
        let strong = options.style(Tone::Rate).add_modifier(Modifier::BOLD);
        line.push(Span::styled(format!("{} IOPS", words::figure(second.ops_per_s)), strong));
        line.push(Span::raw(format!("   {} MiB/s", words::mib(second.bytes_per_s))));
        line.push(Span::raw(format!("   p50 {}", ns(second.response.p50_ns))));
        line.push(Span::raw(format!("   p99 {}", ns(second.response.p99_ns))));
        line.push(Span::raw(format!("   max {}", ns(second.response.max_ns))));
    }
    let health = live.health();
    let tone = if health == "HEALTH_OK" { Tone::Good } else { Tone::Bad };
    let errors = format!("{} in this run", words::plural(live.errors, "error"));
    let error_tone = if live.errors > 0 { Tone::Bad } else { Tone::Soft };
    let state = Line::from(vec![
        Span::styled(if health.is_empty() { "cluster not asked yet".to_owned() } else { health }, options.style(tone)),
        Span::raw("   "),
        Span::styled(errors, options.style(error_tone)),
    ]);
    let block = Block::default().borders(Borders::ALL).title(title);
    frame.render_widget(Paragraph::new(vec![Line::from(line), state]).block(block), area);
}

fn draw_spark(frame: &mut Frame<'_>, area: Rect, live: &Live, options: ScreenOptions) {
    let room = usize::from(area.width.saturating_sub(2));
    let history = &live.current.history;
    let shown: Vec<u64> = history.iter().skip(history.len().saturating_sub(room)).copied().collect();
    let high = shown.iter().max().copied().unwrap_or(0);
    let title = format!(" IOPS, second by second, top is {} ", words::count(high as f64));
    let spark = Sparkline::default()
        .block(Block::default().borders(Borders::ALL).title(title))
        .style(options.style(Tone::Rate))
        .data(&shown);
    frame.render_widget(spark, area);
}

fn draw_results(frame: &mut Frame<'_>, area: Rect, live: &Live, options: ScreenOptions) {
    if area.height < 3 {
        return;
    }
    let cell = |value: Option<f64>, text: fn(f64) -> String| value.map_or_else(|| "–".to_owned(), text);
    let room = usize::from(area.height.saturating_sub(3));
    let rows = live.results.iter().rev().take(room).map(|r| {
        let p99 = r.response.p99_ns.map(|ns| ns as f64);
        let row = Row::new(vec![
            format!("{} #{}", r.step, r.repeat + 1),
            cell(r.ops_per_s, words::figure),
            cell(r.bytes_per_s, words::mib),
            cell(r.response.mean_ns, words::duration),
            cell(p99, words::duration),
            words::count(r.errors as f64),
        ]);
        row.style(if r.errors > 0 || r.ops_per_s.is_none() { options.style(Tone::Bad) } else { Style::default() })
    });
    let widths = [
        Constraint::Min(20),
        Constraint::Length(9),
        Constraint::Length(9),
        Constraint::Length(9),
        Constraint::Length(9),
        Constraint::Length(7),
    ];
    let head = Row::new(["ended", "IOPS", "MiB/s", "mean", "p99", "errors"]).style(options.style(Tone::Soft));
    let table = Table::new(rows, widths).header(head).block(Block::default().borders(Borders::ALL).title(" results "));
    frame.render_widget(table, area);
}

fn draw_notes(frame: &mut Frame<'_>, area: Rect, live: &Live, options: ScreenOptions) {
    let start = live.started_unix_ns.unwrap_or(0);
    let room = usize::from(area.height.saturating_sub(2));
    let lines: Vec<Line<'_>> = live
        .notes
        .iter()
        .skip(live.notes.len().saturating_sub(room))
        .map(|(at, text)| {
            let when = words::offset(at.saturating_sub(start) as f64 / 1e9);
            Line::from(vec![Span::styled(format!("{when}  "), options.style(Tone::Soft)), Span::raw(text.clone())])
        })
        .collect();
    let block = Block::default().borders(Borders::ALL).title(" notes ");
    frame.render_widget(Paragraph::new(lines).block(block), area);
}
