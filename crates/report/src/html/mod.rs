//! The report as one HTML file. It asks for nothing from anywhere (its content security policy forbids it), is read
//! without JavaScript, and is printed like paper.
mod axis;
mod depth;
mod glance;
mod panel;
mod spectrum;
mod strip;
mod svg;
mod thin;
mod view;

use crate::Analysis;
use crate::words;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, UndefinedBehavior, context};
use std::fmt;

const PAGE: &str = include_str!("page/report.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");

/// `sha256-…` of the style sheet and of the script, for the content security policy: nothing else in the page may
/// style or run, whatever a name in the data looks like. A test compares them.
const STYLE_HASH: &str = "sha256-BmysCIEZl7pibyRzAi/s/4FNRaj5/LoEWOZHuIUfL8E=";
const SCRIPT_HASH: &str = "sha256-o9nWGQnhdFk9FqnP2PA3qsgr//tNAzS9D/sIit1zZE8=";

/// The template could not be filled: a defect of this program.
#[derive(Debug)]
pub struct HtmlError(minijinja::Error);

impl fmt::Display for HtmlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the report's template could not be filled: {:#}", self.0)
    }
}

impl std::error::Error for HtmlError {}

/// The whole report as one HTML document.
///
/// # Errors
/// Only by a defect of the template.
pub fn render_html(analysis: &Analysis) -> Result<String, HtmlError> {
    environment()
        .and_then(|env| {
            let page = env.get_template("report.html")?;
            page.render(context! {
                a => Value::from(Serde(analysis)),
                v => Value::from(Serde(view::View::of(analysis))),
                style => STYLE,
                script => SCRIPT,
                style_hash => STYLE_HASH,
                script_hash => SCRIPT_HASH,
            })
        })
        .map_err(HtmlError)
}

fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut env = Environment::new();
    // A misspelt name must fail a test, not leave a hole in a report.
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    env.add_template("report.html", PAGE)?;
    fn or_dash(value: Option<f64>, text: impl Fn(f64) -> String) -> String {
        value.map_or_else(|| "–".to_owned(), text)
    }
    env.add_filter("figure", |v: Option<f64>| or_dash(v, words::figure));
    env.add_filter("count", |v: Option<f64>| or_dash(v, words::count));
    env.add_filter("ms", |v: Option<f64>| or_dash(v, words::ms));
    env.add_filter("mib", |v: Option<f64>| or_dash(v, words::mib));
    env.add_filter("duration", |v: Option<f64>| or_dash(v, words::duration));
    env.add_filter("percent", |v: Option<f64>| or_dash(v, words::percent));
    env.add_filter("seconds", |v: Option<f64>| or_dash(v, words::seconds));
    env.add_filter("bytes", |v: Option<f64>| or_dash(v, words::bytes));
    env.add_filter("offset", |v: Option<f64>| or_dash(v, words::offset));
    Ok(env)
}
