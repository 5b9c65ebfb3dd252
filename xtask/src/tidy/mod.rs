//! Invariants of the source tree that neither the compiler nor a lint knows. Each violation is one line:
//! `file:line: what, what to do`. Nothing is built and nothing is fetched.
mod arrows;
mod code;
mod documents;
mod origin;
mod tree;

use anyhow::{Result, ensure};
use std::fmt;
use std::path::Path;
use tree::{File, read};

/// One violation.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    path: String,
    /// From 1; 0 for the whole file.
    line: usize,
    what: String,
}

impl Problem {
    fn new(path: &str, line: usize, what: impl Into<String>) -> Problem {
        Problem { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line.max(1), self.what)
    }
}

/// True when there is nothing to complain about.
pub fn run(root: &Path) -> Result<bool> {
    let files = read(root)?;
    ensure!(files.iter().any(|f| f.path == "Cargo.toml"), "{} is not the workspace", root.display());
    let problems = check(&files, root);
    problems.iter().for_each(|problem| println!("{problem}"));
    match problems.len() {
        0 => println!("tidy: {} files, nothing to complain about", files.len()),
        n => println!("tidy: {n} problems in {} files", files.len()),
    }
    Ok(problems.is_empty())
}

fn check(files: &[File], root: &Path) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files {
        code::check(file, &mut problems);
        arrows::check(file, &mut problems);
        origin::check(file, root, &mut problems);
    }
    code::crates(files, &mut problems);
    documents::check(files, &mut problems);
    problems.sort();
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_tree_is_tidy() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let problems = check(&read(root).unwrap(), root);
        let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
        assert!(lines.is_empty(), "{}", lines.join("\n"));
    }

    #[test]
    fn a_problem_is_a_line_an_editor_can_jump_to() {
        assert_eq!(Problem::new("a/b.rs", 7, "x: do y").to_string(), "a/b.rs:7: x: do y");
        assert_eq!(Problem::new("a/b.rs", 0, "x").to_string(), "a/b.rs:1: x");
    }
}
