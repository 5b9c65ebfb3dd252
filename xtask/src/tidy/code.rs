//! Rules about Rust sources: length, names, leftovers, where unsafe code may be.
use super::Problem;
use super::tree::File;

const LINES_MAX: usize = 600;
/// The rule is to say what a file is about; these words say that nobody knows.
const NO_NAMES: [&str; 7] = ["util", "utils", "helper", "helpers", "common", "manager", "misc"];
/// Written in two parts, so that this file does not complain about itself.
const LEFTOVERS: [(&str, &str); 3] = [
    (concat!("todo", "!("), "finish it"),
    (concat!("unimplemented", "!("), "finish it"),
    (IGNORED, "run the test or remove it: a test that never runs proves nothing"),
];
const IGNORED: &str = concat!("#[", "ignore");
/// A file that passes this to itself runs its ignored tests: they are processes that another test needs.
const RUNS_IGNORED: &str = concat!("\"--", "ignored\"");
const UNSAFE: &str = concat!("un", "safe");
/// The only places for unsafe code.
const UNSAFE_DIRS: [&str; 1] = ["crates/load/src/sys/"];
/// The crate that may not forbid it as a whole.
const UNSAFE_CRATE: &str = "crates/load";
/// Crates without I/O and clock; clippy enforces it by their own `clippy.toml`.
const PURE: [&str; 4] = ["ceph", "model", "report", "stats"];

/// Rules about one file.
pub fn check(file: &File, problems: &mut Vec<Problem>) {
    if !file.is_rust() {
        return;
    }
    let length = file.text.lines().count();
    if length > LINES_MAX {
        let what = format!("{length} lines, more than {LINES_MAX}: split it by noun");
        problems.push(Problem::new(&file.path, LINES_MAX + 1, what));
    }
    for part in file.path.split('/') {
        let stem = part.trim_end_matches(".rs");
        if NO_NAMES.contains(&stem) {
            problems.push(Problem::new(
                &file.path,
                0,
                format!("`{stem}` says nothing: name it after what it is about"),
            ));
        }
    }
    let may = UNSAFE_DIRS.iter().any(|dir| file.path.starts_with(dir));
    for (line, text) in file.lines().filter(|(_, text)| !is_comment(text)) {
        for (word, advice) in LEFTOVERS {
            if text.contains(word) && !(word == IGNORED && file.text.contains(RUNS_IGNORED)) {
                problems.push(Problem::new(&file.path, line, format!("`{word}`: {advice}")));
            }
        }
        if !may && is_unsafe(text) {
            let what = format!("{UNSAFE} code outside of {}: move it there", UNSAFE_DIRS.join(", "));
            problems.push(Problem::new(&file.path, line, what));
        }
    }
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// A block, function, trait or implementation; the name of the lint is none of these.
fn is_unsafe(line: &str) -> bool {
    line.match_indices(UNSAFE).any(|(at, word)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].trim_start();
        let spaced = line[at + word.len()..].starts_with([' ', '{']);
        before.is_none_or(|c| c.is_whitespace() || "({=".contains(c))
            && spaced
            && ["{", "fn ", "impl", "trait ", "extern"].iter().any(|next| after.starts_with(next))
    })
}

/// Rules about each crate's root and settings.
pub fn crates(files: &[File], problems: &mut Vec<Problem>) {
    let dirs = files.iter().filter_map(|f| f.path.strip_suffix("/Cargo.toml"));
    for dir in dirs.filter(|dir| dir.starts_with("crates/") || *dir == "xtask") {
        let attribute = if dir == UNSAFE_CRATE { "deny" } else { "forbid" };
        let attribute = format!("#![{attribute}({UNSAFE}_code)]");
        for root in ["src/lib.rs", "src/main.rs"].map(|root| format!("{dir}/{root}")) {
            let Some(file) = files.iter().find(|f| f.path == root) else { continue };
            if !file.text.contains(&attribute) {
                problems.push(Problem::new(
                    &root,
                    0,
                    format!("`{attribute}` is missing: add it after the module's text"),
                ));
            }
        }
    }
    for dir in PURE.map(|name| format!("crates/{name}")) {
        let path = format!("{dir}/clippy.toml");
        let settings = files.iter().find(|f| f.path == path);
        for key in ["disallowed-methods", "disallowed-types"] {
            if !settings.is_some_and(|f| f.text.contains(key)) {
                let what = format!("no `{key}`: this crate is pure, copy the file from another pure crate");
                problems.push(Problem::new(&path, 0, what));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<Problem> {
        let mut problems = Vec::new();
        check(&File::of(path, text), &mut problems);
        problems
    }

    #[test]
    fn long_files_and_names_that_say_nothing() {
        assert_eq!(found("crates/run/src/store.rs", &"x\n".repeat(600)), []);
        assert_eq!(found("crates/run/src/store.rs", &"x\n".repeat(601))[0].line, 601);
        assert_eq!(found("crates/run/src/utils.rs", "").len(), 1);
        assert_eq!(found("crates/run/src/common/x.rs", "").len(), 1);
        assert_eq!(found("crates/run/src/commons.rs", ""), []);
        assert_eq!(found("docs/utils.md", "").len(), 0);
    }

    #[test]
    fn leftovers_in_code_and_not_in_comments() {
        let [todo, _, ignore] = LEFTOVERS.map(|(word, _)| word);
        assert_eq!(found("crates/run/src/a.rs", &format!("fn a() {{\n    {todo})\n}}"))[0].line, 2);
        assert_eq!(found("crates/run/src/a.rs", &format!("{ignore}]\n")).len(), 1);
        assert_eq!(found("crates/run/src/a.rs", &format!("{ignore}]\nargs([{RUNS_IGNORED}])")), []);
        assert_eq!(found("crates/run/src/a.rs", &format!("// {todo})\n")), []);
    }

    #[test]
    fn where_it_may_be() {
        let block = format!("    let a = {UNSAFE} {{ b() }};");
        for path in ["crates/run/src/a.rs", "crates/load/src/driver.rs", "crates/load/tests/a.rs"] {
            assert_eq!(found(path, &block).len(), 1, "{path}");
        }
        assert_eq!(found("crates/load/src/sys/a.rs", &block), []);
        for good in [format!("#![forbid({UNSAFE}_code)]"), format!("{UNSAFE}ly {{"), format!("// {UNSAFE} {{")] {
            assert_eq!(found("crates/run/src/a.rs", &good), [], "{good}");
        }
        for bad in ["fn a()", "impl Send for A {}", "extern \"C\" {", "trait A {}"] {
            assert_eq!(found("crates/run/src/a.rs", &format!("{UNSAFE} {bad}")).len(), 1, "{bad}");
        }
    }

    #[test]
    fn crates_forbid_it_and_pure_ones_have_their_settings() {
        let mut files = vec![
            File::of("crates/run/Cargo.toml", ""),
            File::of("crates/run/src/lib.rs", ""),
            File::of("crates/load/Cargo.toml", ""),
            File::of("crates/load/src/lib.rs", &format!("#![deny({UNSAFE}_code)]")),
        ];
        for name in PURE {
            files.push(File::of(
                &format!("crates/{name}/clippy.toml"),
                "disallowed-methods = []\ndisallowed-types = []",
            ));
        }
        let mut problems = Vec::new();
        crates(&files, &mut problems);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].path, "crates/run/src/lib.rs");
        files.pop();
        problems.clear();
        crates(&files, &mut problems);
        assert_eq!(problems.len(), 3);
    }
}
