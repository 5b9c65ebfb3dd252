//! Arrows between crates, as ARCHITECTURE.md draws them.
use super::Problem;
use super::tree::File;

/// Each crate and all it may depend on, tests included.
const ARROWS: [(&str, &[&str]); 9] = [
    ("crates/model", &[]),
    ("crates/stats", &[]),
    ("crates/ceph", &["model"]),
    ("crates/report", &["model", "stats", "ceph"]),
    ("crates/load", &["model", "stats"]),
    ("crates/run", &["model", "load", "stats", "ceph"]),
    ("crates/lab", &["model"]),
    ("crates/cli", &["model", "stats", "ceph", "report", "load", "run", "lab"]),
    ("xtask", &["model"]),
];

pub fn check(file: &File, problems: &mut Vec<Problem>) {
    let Some(dir) = file.path.strip_suffix("/Cargo.toml") else { return };
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == dir) else {
        let what = "a crate without arrows: add it to ARCHITECTURE.md and to `ARROWS` in xtask/src/tidy/arrows.rs";
        problems.push(Problem::new(&file.path, 0, what));
        return;
    };
    let mut in_dependencies = false;
    for (line, text) in file.lines() {
        let text = text.trim();
        if let Some(section) = text.strip_prefix('[') {
            in_dependencies = section.trim_end_matches(']').ends_with("dependencies");
            // [dependencies.fathom-x]
            if let Some((_, name)) = section.trim_end_matches(']').split_once("dependencies.") {
                arrow(name, allowed, file, line, problems);
            }
        } else if in_dependencies {
            arrow(text, allowed, file, line, problems);
        }
    }
}

fn arrow(text: &str, allowed: &[&str], file: &File, line: usize, problems: &mut Vec<Problem>) {
    let Some(rest) = text.trim_matches('"').strip_prefix("fathom-") else { return };
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '-').collect();
    if !allowed.contains(&name.as_str()) {
        let what = format!("no arrow leads from here to {name}: move the code, or change ARCHITECTURE.md first");
        problems.push(Problem::new(&file.path, line, what));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let mut problems = Vec::new();
        check(&File::of(path, text), &mut problems);
        problems.into_iter().map(|p| p.line).collect()
    }

    #[test]
    fn arrows_lead_one_way() {
        let text = "[package]\nname = \"fathom-load\"\n[dependencies]\nfathom-model.workspace = true\n\
                    fathom-run = { path = \"../run\" }\n[dev-dependencies]\nfathom-ceph.workspace = true\n\
                    [dependencies.fathom-lab]\n[target.'cfg(unix)'.dependencies]\nfathom-cli.workspace = true\n";
        assert_eq!(lines("crates/load/Cargo.toml", text), [5, 7, 8, 10]);
        assert_eq!(lines("crates/stats/Cargo.toml", "[dependencies]\nfathom-model.workspace = true\n"), [2]);
        assert_eq!(lines("crates/other/Cargo.toml", ""), [0]);
        assert!(lines("Cargo.toml", "[workspace.dependencies]\nfathom-run = { path = \"crates/run\" }\n").is_empty());
    }
}
