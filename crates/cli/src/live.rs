//! What is shown while a run goes on, and what Ctrl-C does.
//!
//! On a terminal a live screen in the last lines (no alternate screen, no raw mode: whatever ends the program, the
//! terminal stays usable and the scroll-back stays there); elsewhere a line a second.
use crate::fail::Fail;
use fathom_model::{Event, ExitCode};
use fathom_report::{Live, PlainProgress, ScreenOptions, draw};
use fathom_run::{Campaign, Observer};
use ratatui::{Terminal, TerminalOptions, Viewport, backend::CrosstermBackend, layout::Position};
use std::{
    io::{IsTerminal as _, Stderr, Write as _},
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

/// Lines of the live screen.
const SCREEN_LINES: u16 = 24;
/// Shortest time between two drawings.
const DRAW: Duration = Duration::from_millis(200);

/// The first SIGINT or SIGTERM asks the run to end in order; a second one ends the process at once. What is left behind
/// then is in the ledger.
pub fn on_signals() -> Result<Arc<AtomicBool>, Fail> {
    let cancel = Arc::new(AtomicBool::new(false));
    let fail = |e: std::io::Error| Fail::new(ExitCode::Internal, format!("cannot handle signals: {e}"));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, ExitCode::Interrupted as i32, Arc::clone(&cancel))
            .map_err(fail)?;
        signal_hook::flag::register(signal, Arc::clone(&cancel)).map_err(fail)?;
    }
    Ok(cancel)
}

/// Who watches the run.
pub fn observers(campaign: &Campaign, quiet: bool) -> Vec<Observer> {
    if quiet {
        return Vec::new();
    }
    if std::io::stderr().is_terminal()
        && let Some(screen) = Screen::open(campaign)
    {
        return vec![screen.observer()];
    }
    let mut plain = PlainProgress::new(&campaign.steps, campaign.repeats);
    vec![Box::new(move |event: &Event| {
        for line in plain.lines(event) {
            // A reader that went away must not end the run.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    })]
}

struct Screen {
    terminal: Terminal<CrosstermBackend<Stderr>>,
    live: Live,
    options: ScreenOptions,
    drawn: Option<Instant>,
}

impl Screen {
    fn open(campaign: &Campaign) -> Option<Screen> {
        let viewport = Viewport::Inline(SCREEN_LINES);
        let terminal =
            Terminal::with_options(CrosstermBackend::new(std::io::stderr()), TerminalOptions { viewport }).ok()?;
        let color = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        let live = Live::new(&campaign.steps, campaign.repeats);
        Some(Screen { terminal, live, options: ScreenOptions { color }, drawn: None })
    }

    fn observer(mut self) -> Observer {
        Box::new(move |event: &Event| {
            self.live.apply(event);
            if self.drawn.is_none_or(|at| at.elapsed() >= DRAW) {
                self.draw();
            }
        })
    }

    fn draw(&mut self) {
        self.drawn = Some(Instant::now());
        let (live, options) = (&self.live, self.options);
        let _ = self.terminal.draw(|frame| {
            draw(frame, live, options);
            // A cursor that has a place is not hidden: it would stay so if the program is killed.
            let area = frame.area();
            frame.set_cursor_position(Position::new(area.x, area.bottom().saturating_sub(1)));
        });
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.draw();
        let _ = writeln!(std::io::stderr());
    }
}
