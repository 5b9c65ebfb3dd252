//! Prints a report of the synthetic run of the tests, to look at: `sample_report text|html|json|csv`.
#[path = "../tests/support/mod.rs"]
mod support;

fn main() {
    let run = if std::env::args().nth(2).is_some() { support::survey(36) } else { support::sample_run() };
    let analysis = fathom_report::analyse(&run);
    match std::env::args().nth(1).as_deref() {
        Some("json") => print!("{}", fathom_report::to_json(&analysis).unwrap_or_default()),
        Some("html") => print!("{}", fathom_report::render_html(&analysis).expect("template")),
        Some("csv") => print!("{}", fathom_report::series_csv(&analysis)),
        _ => {
            let options = fathom_report::TextOptions { width: 100, color: false };
            print!("{}", fathom_report::render_text(&analysis, options));
        }
    }
}
