//! A scalable picture as text. Colours and fonts come from the page's style sheet, so that pictures follow light,
//! dark and print.
use std::fmt::Write as _;

/// Escapes text for HTML and SVG, in content and in quoted attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Not allowed in XML at all, not even escaped.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A number for a coordinate: a tenth of a pixel is enough and keeps the file small.
fn px(value: f64) -> String {
    let value = if value.is_finite() { value } else { 0.0 };
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// Which side of the point a text stands on.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A picture being drawn.
pub(super) struct Svg {
    head: String,
    body: String,
}

impl Svg {
    /// `title` is read out by screen readers in place of the picture.
    pub(super) fn new(width: f64, height: f64, class: &str, title: &str) -> Svg {
        let title = escape(title);
        let (w, h) = (px(width), px(height));
        let head = format!(
            "<svg class=\"{class}\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" role=\"img\" \
             aria-label=\"{title}\"><title>{title}</title>"
        );
        Svg { head, body: String::new() }
    }

    /// An attribute of the picture itself, for scripts.
    pub(super) fn data(&mut self, name: &str, value: &str) {
        let attribute = format!(" data-{name}=\"{}\"", escape(value));
        if let Some(at) = self.head.find('>') {
            self.head.insert_str(at, &attribute);
        }
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let _ = write!(
            self.body,
            "<line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            px(from.0),
            px(from.1),
            px(to.0),
            px(to.1)
        );
    }

    /// A rectangle; `title` is shown by browsers when the pointer rests on it.
    pub(super) fn rect(&mut self, class: &str, at: (f64, f64), size: (f64, f64), title: &str) {
        let _ = write!(
            self.body,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            px(at.0),
            px(at.1),
            px(size.0.max(0.0)),
            px(size.1.max(0.0))
        );
        self.close("rect", title);
    }

    pub(super) fn circle(&mut self, class: &str, at: (f64, f64), radius: f64, title: &str) {
        let _ =
            write!(self.body, "<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"{}\"", px(at.0), px(at.1), px(radius));
        self.close("circle", title);
    }

    fn close(&mut self, element: &str, title: &str) {
        if title.is_empty() {
            self.body.push_str("/>");
        } else {
            let _ = write!(self.body, "><title>{}</title></{element}>", escape(title));
        }
    }

    pub(super) fn text(&mut self, class: &str, at: (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = write!(
            self.body,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            px(at.0),
            px(at.1),
            escape(text)
        );
    }

    /// A line through points; `None` interrupts it, a point alone becomes a dot.
    pub(super) fn path(&mut self, class: &str, points: impl Iterator<Item = Option<(f64, f64)>>) {
        let mut runs: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
        for point in points {
            match (point, runs.last_mut()) {
                (Some(point), Some(run)) => run.push(point),
                _ => runs.push(Vec::new()),
            }
        }
        let mut d = String::new();
        for run in &runs {
            match run.as_slice() {
                [] => {}
                [one] => self.circle(&format!("{class} dot"), *one, 1.8, ""),
                [first, rest @ ..] => {
                    let _ = write!(d, "M{} {}", px(first.0), px(first.1));
                    rest.iter().for_each(|p| {
                        let _ = write!(d, "L{} {}", px(p.0), px(p.1));
                    });
                }
            }
        }
        if !d.is_empty() {
            let _ = write!(self.body, "<path class=\"{class}\" d=\"{d}\"/>");
        }
    }

    pub(super) fn finish(self) -> String {
        format!("{}{}</svg>", self.head, self.body)
    }
}
