//! Nothing in the tree tells on which machine it was made, or takes packages from anywhere but crates.io.
use super::Problem;
use super::tree::File;
use std::path::Path;

/// Where people's and machines' own directories are. In two parts, so that this file does not complain about itself.
const HOMES: [&str; 3] = [concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Us", "ers/")];
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";
/// Parents of checkouts that say nothing about a machine.
const ANYWHERE: [&str; 5] = ["/", "/tmp", "/opt", "/srv", "/usr/src"];

pub fn check(file: &File, root: &Path, problems: &mut Vec<Problem>) {
    let local = local(root);
    for (line, text) in file.lines() {
        let home = HOMES.iter().find(|home| is_path(text, home));
        if let Some(path) = home.copied().or_else(|| local.iter().map(String::as_str).find(|p| is_path(text, p))) {
            let what = format!("`{path}…` is a path of one machine: make it relative, or a variable");
            problems.push(Problem::new(&file.path, line, what));
        }
        if let Some(what) = elsewhere(&file.path, text) {
            problems.push(Problem::new(&file.path, line, what));
        }
    }
}

/// This checkout's own path, and its parent's where that says something.
fn local(root: &Path) -> Vec<String> {
    let parent = root.parent().filter(|p| !ANYWHERE.iter().any(|a| Path::new(a) == *p));
    [Some(root), parent].into_iter().flatten().map(|p| format!("{}/", p.display())).collect()
}

/// True when `path` begins a path in `text`, instead of being in the middle of a longer one or of an address.
fn is_path(text: &str, path: &str) -> bool {
    text.match_indices(path)
        .any(|(at, _)| text[..at].chars().next_back().is_none_or(|c| !(c.is_alphanumeric() || "._-~/}".contains(c))))
}

/// Packages from another place than crates.io.
fn elsewhere(path: &str, text: &str) -> Option<String> {
    let text = text.trim();
    match path {
        "Cargo.lock" => {
            let source = text.strip_prefix("source = ")?.trim_matches('"');
            (source != CRATES_IO).then(|| format!("{source} is not crates.io: use a released crate"))
        }
        _ if path.ends_with(".cargo/config.toml") => {
            let other = ["[source", "[registr", "registry =", "replace-with"].iter().any(|key| text.starts_with(key));
            other.then(|| "a registry of one machine: put it into that machine's own configuration".to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str, root: &str) -> usize {
        let mut problems = Vec::new();
        check(&File::of(path, text), Path::new(root), &mut problems);
        problems.len()
    }

    #[test]
    fn paths_of_one_machine() {
        let [home, own, _] = HOMES;
        for text in [format!("cd {home}me/x"), format!("\"{own}.cargo\""), "at /checkouts/this/a.rs".into()] {
            assert_eq!(found("README.md", &text, "/checkouts/this"), 1, "{text}");
        }
        assert_eq!(found("a.md", "/checkouts/that/b", "/checkouts/this"), 1, "the neighbour");
        for text in ["https://x.org/checkouts/this/a", "/etc/ceph/ceph.conf", "$HOME/.cargo", "a/checkouts/this/"] {
            assert_eq!(found("README.md", text, "/checkouts/this"), 0, "{text}");
        }
        assert_eq!(found("README.md", "/tmp/l/ceph.conf", "/tmp/this"), 0);
    }

    #[test]
    fn packages_from_elsewhere() {
        assert_eq!(found("Cargo.lock", &format!("source = \"{CRATES_IO}\""), "/tmp/x"), 0);
        assert_eq!(found("Cargo.lock", "source = \"git+https://github.com/a/b\"", "/tmp/x"), 1);
        assert_eq!(found(".cargo/config.toml", "[source.crates-io]", "/tmp/x"), 1);
        assert_eq!(found(".cargo/config.toml", "[alias]\nxtask = \"run\"", "/tmp/x"), 0);
    }
}
