//! Reports: data in, bytes out. A stored run becomes an [`Analysis`], and that becomes text, HTML, JSON or CSV.
//!
//! This crate does no I/O and reads no clock: a report is a function of the stored run and of nothing else, so the
//! same run gives the same bytes on any machine at any time.
#![forbid(unsafe_code)]

mod analysis;
mod cells;
mod context;
mod csv;
mod html;
mod json;
mod live;
mod plain;
mod screen;
mod text;
mod words;

pub use analysis::*;
pub use context::{ContextLine, ContextSection};
pub use csv::series_csv;
pub use html::{HtmlError, render_html};
pub use json::{SCHEMA_DOC, to_json};
pub use live::{Change, Live, LiveResult, LiveSecond};
pub use plain::PlainProgress;
pub use screen::{ScreenOptions, draw};
pub use text::{TextOptions, render_text};
