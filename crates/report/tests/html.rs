//! What the HTML report must do: well-formed, self-contained, small, and safe with hostile names.
#![allow(clippy::unwrap_used)]
#[path = "support/digest.rs"]
mod digest;
mod support;

use fathom_report::{analyse, render_html};
use support::*;

fn page() -> String {
    render_html(&analyse(&sample_run())).unwrap()
}

/// Checks nesting, quoting and entities; returns every tag with its attributes.
fn tags(html: &str) -> Vec<String> {
    const VOID: [&str; 3] = ["meta", "br", "hr"];
    const RAW: [&str; 2] = ["style", "script"];
    let mut rest = html.strip_prefix("<!DOCTYPE html>").unwrap();
    let mut open: Vec<String> = Vec::new();
    let mut all = Vec::new();
    while let Some(at) = rest.find('<') {
        let text = &rest[..at];
        assert!(!text.contains('>'), "stray > in {text:?}");
        for entity in text.split('&').skip(1) {
            let end = entity.find(';').unwrap_or_else(|| panic!("bare & before {entity:.20}"));
            assert!(entity[..end].chars().all(|c| c.is_ascii_alphanumeric() || c == '#'), "{entity:.20}");
        }
        let mut quoted = false;
        let end = rest[at..].find(|c| {
            quoted ^= c == '"';
            c == '>' && !quoted
        });
        let end = at + end.unwrap_or_else(|| panic!("unclosed tag at {:.80}", &rest[at..]));
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap().to_owned();
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name.as_str()), "closing {name}, open {open:?}");
        } else if !VOID.contains(&name.as_str()) && !tag.ends_with('/') {
            if RAW.contains(&name.as_str()) {
                rest = &rest[rest.find(&format!("</{name}>")).unwrap()..];
            }
            open.push(name);
        }
        all.push(tag.to_owned());
    }
    assert!(open.is_empty(), "never closed: {open:?}");
    all
}

#[test]
fn is_well_formed_and_ids_are_unique() {
    let html = page();
    let mut ids: Vec<&str> = html.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id appears twice");
    let tags = tags(&html);
    for target in tags.iter().filter_map(|t| t.split("href=\"#").nth(1)).map(|r| r.split('"').next().unwrap()) {
        assert!(ids.contains(&target), "link to nowhere: {target}");
    }
}

#[test]
fn asks_for_nothing_from_anywhere() {
    let html = page();
    assert!(!html.contains("@import") && !html.contains("url("));
    for tag in tags(&html) {
        let name = tag.split(' ').next().unwrap();
        assert!(!["link", "img", "iframe", "object", "embed", "base", "form", "use", "image"].contains(&name), "{tag}");
        assert!(!tag.contains(" src=") && !tag.contains(" style=") && !tag.contains(" on"), "{tag}");
        assert!(!tag.contains("href=\"") || tag.contains("href=\"#"), "{tag}");
    }
    assert!(!html.contains("http://") && !html.contains("https://"));
}

#[test]
fn the_policy_allows_exactly_our_style_and_script() {
    let html = page();
    let policy = html.split("Content-Security-Policy\" content=\"").nth(1).unwrap().split('"').next().unwrap();
    let policy = policy.replace("&#x27;", "'").replace("&#x2f;", "/").replace("&#39;", "'").replace("&#x2B;", "+");
    for (name, directive) in [("style", "style-src"), ("script", "script-src")] {
        let body = html.split(&format!("<{name}>")).nth(1).unwrap().split(&format!("</{name}>")).next().unwrap();
        let hash = format!("{directive} 'sha256-{}'", digest::sha256_base64(body));
        assert!(policy.contains(&hash), "put {hash} into html/mod.rs; the policy is {policy}");
    }
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"));
}

#[test]
fn hostile_names_stay_text() {
    let evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ a }}]]>&\u{0}\u{1b}[2J";
    let mut run = sample_run();
    run.info.name = evil.to_owned();
    run.info.command = evil.to_owned();
    run.info.build = evil.to_owned();
    run.info.fsid = evil.to_owned();
    for step in &mut run.steps {
        step.name = format!("{evil}{}", step.name);
        step.layer = evil.to_owned();
        step.params.insert(evil.to_owned(), evil.into());
        step.params.insert("pool".to_owned(), evil.into());
    }
    for finding in &mut run.findings {
        for text in
            [&mut finding.id, &mut finding.title, &mut finding.evidence, &mut finding.advice, &mut finding.source]
        {
            *text = evil.to_owned();
        }
        finding.step = Some(evil.to_owned());
    }
    for (_, tick) in &mut run.ticks {
        tick.health.push_str(evil);
        tick.checks.push((evil.to_owned(), evil.to_owned()));
    }
    for attempt in &mut run.attempts {
        attempt.host = evil.to_owned();
        attempt.stuck.iter_mut().for_each(|(_, op)| op.target = evil.to_owned());
        let stop = fathom_model::StopReason::WorkerLost { error: evil.to_owned() };
        attempt.end.iter_mut().for_each(|end| end.stop = stop.clone());
    }
    for fact in &mut run.facts {
        fact.source.push_str(evil);
        fact.error = Some(evil.to_owned());
    }
    run.notes.push((START, evil.to_owned()));
    let html = render_html(&analyse(&run)).unwrap();
    let tags = tags(&html);
    assert_eq!(tags.iter().filter(|t| t.starts_with("script")).count(), 1);
    assert!(tags.iter().all(|t| !t.starts_with("img")));
    // Markup of ours that a hostile text could open or close: as many as with harmless names.
    assert!(html.contains("&lt;script&gt;"));
}

#[test]
fn a_survey_of_36_attempts_stays_under_a_megabyte() {
    let html = render_html(&analyse(&survey(36))).unwrap();
    assert!(html.len() < 1_000_000, "{} bytes", html.len());
    tags(&html);
}

#[test]
fn a_long_series_is_thinned_and_says_so() {
    let mut run = sample_run();
    let template = run.attempts[0].samples[3].clone();
    run.attempts.truncate(1);
    run.attempts[0].samples.extend((12..4000).map(|s| fathom_model::Sample {
        start_ns: s * SECOND,
        end_ns: (s + 1) * SECOND,
        ..template.clone()
    }));
    let html = render_html(&analyse(&run)).unwrap();
    assert!(html.contains("intervals to a point") && html.contains("intervals to a row"));
    assert!(html.len() < 400_000, "{} bytes", html.len());
}

#[test]
fn runs_with_nothing_in_them_have_a_page() {
    let mut run = sample_run();
    run.attempts.clear();
    tags(&render_html(&analyse(&run)).unwrap());
    run.steps.clear();
    run.ticks.clear();
    run.findings.clear();
    run.facts.clear();
    run.ledger.clear();
    run.info.ended_unix_ns = None;
    tags(&render_html(&analyse(&run)).unwrap());
}

#[test]
fn same_run_same_page() {
    assert_eq!(page(), page());
}
