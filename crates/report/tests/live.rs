//! Progress: plain lines and the screen, from a stream of events.
#![allow(clippy::unwrap_used)]
mod support;

use fathom_model::*;
use fathom_report::{Live, PlainProgress, ScreenOptions, draw};
use ratatui::{Terminal, backend::TestBackend};
use support::*;

fn quiet_run() -> RunData {
    let mut run = sample_run();
    // The read's drain overlaps the attempts after it in this synthetic run; a real run does not go on before it ends.
    run.attempts.retain(|a| a.id < 7);
    run
}

#[test]
fn lines_of_a_run() {
    let run = quiet_run();
    let mut plain = PlainProgress::new(&run.steps, 3);
    let lines: Vec<String> = events(&run).iter().flat_map(|e| plain.lines(e)).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn at_most_one_line_per_second_and_attempt() {
    let mut run = quiet_run();
    run.attempts.truncate(1);
    let attempt = &mut run.attempts[0];
    attempt.samples = attempt
        .samples
        .iter()
        .flat_map(|s| {
            (0..10).map(|part| Sample {
                start_ns: s.start_ns + part * SECOND / 10,
                end_ns: s.start_ns + (part + 1) * SECOND / 10,
                ..s.clone()
            })
        })
        .collect();
    close(attempt, StopReason::Duration);
    let mut plain = PlainProgress::new(&run.steps, 3);
    let lines: Vec<String> = events(&run).iter().flat_map(|e| plain.lines(e)).collect();
    let seconds = lines.iter().filter(|l| l.contains("IOPS") && !l.contains("ended")).count();
    assert_eq!(seconds, 12, "{lines:#?}");
}

fn screen(width: u16, height: u16, until: usize) -> String {
    let run = quiet_run();
    let mut live = Live::new(&run.steps, 3);
    for event in events(&run).iter().take(until) {
        live.apply(event);
    }
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, &live, ScreenOptions { color: false })).unwrap();
    terminal.backend().to_string()
}

#[test]
fn screen_in_the_middle_of_an_attempt() {
    insta::assert_snapshot!(screen(100, 30, 190));
}

#[test]
fn every_size_of_terminal_is_served() {
    for (width, height) in [(1, 1), (10, 3), (20, 8), (40, 12), (300, 100)] {
        for until in [0, 3, 60, 10_000] {
            screen(width, height, until);
        }
    }
}

#[test]
fn hostile_texts_do_not_draw_on_the_terminal() {
    let mut run = quiet_run();
    run.steps[0].name = "a\u{1b}[2Jb".to_owned();
    run.notes.push((START, "x\u{7}\u{1b}]0;t".to_owned()));
    let mut plain = PlainProgress::new(&run.steps, 3);
    for line in events(&run).iter().flat_map(|e| plain.lines(e)) {
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
}
