//! The files of the source tree: everything below the root but what `.gitignore` leaves out.
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;

/// A file; `text` is empty for what is not UTF-8.
#[derive(Debug)]
pub struct File {
    /// Relative to the root, with `/`.
    pub path: String,
    pub text: String,
}

impl File {
    #[cfg(test)]
    pub fn of(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    /// Lines with their numbers, from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(n, line)| (n + 1, line))
    }

    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }
}

/// Reads them all, in order of their paths.
pub fn read(root: &Path) -> Result<Vec<File>> {
    let ignore = fs::read_to_string(root.join(".gitignore")).unwrap_or_default();
    let mut files = Vec::new();
    walk(root, "", &ignored(&ignore), &mut files).with_context(|| format!("reading {}", root.display()))?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// The two forms of patterns this project uses: `/name` at the root, `*.ext` anywhere.
fn ignored(gitignore: &str) -> Vec<&str> {
    gitignore.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')).chain(["/.git"]).collect()
}

fn is_ignored(path: &str, patterns: &[&str]) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_prefix('*') {
        Some(ext) => path.ends_with(ext),
        None => pattern.strip_prefix('/').is_some_and(|name| name.trim_end_matches('/') == path),
    })
}

fn walk(root: &Path, below: &str, patterns: &[&str], files: &mut Vec<File>) -> Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        if is_ignored(&path, patterns) {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(root, &path, patterns, files)?;
        } else if kind.is_file() {
            let text = String::from_utf8(fs::read(entry.path())?).unwrap_or_default();
            files.push(File { path, text });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_ignores_is_left_out() {
        let patterns = ignored("/target\n# x\n\n/results/\n*.profraw\n");
        for (path, is) in [("target", true), ("results", true), (".git", true), ("a/b.profraw", true)] {
            assert_eq!(is_ignored(path, &patterns), is, "{path}");
        }
        for path in ["crates/target", "src/lib.rs", ".github"] {
            assert!(!is_ignored(path, &patterns), "{path}");
        }
    }
}
