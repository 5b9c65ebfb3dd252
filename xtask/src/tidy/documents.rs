//! Documents say what the code says: exit codes and layers.
use super::Problem;
use super::tree::File;
use fathom_model::ExitCode;

const README: &str = "README.md";
const LAYERS: &str = "crates/load/src/layers/mod.rs";

pub fn check(files: &[File], problems: &mut Vec<Problem>) {
    let Some(readme) = files.iter().find(|f| f.path == README) else {
        problems.push(Problem::new(README, 0, "there is none: write what this is"));
        return;
    };
    exit_codes(readme, problems);
    match files.iter().find(|f| f.path == LAYERS).and_then(layers) {
        Some(names) => listed(readme, &names, problems),
        None => problems.push(Problem::new(LAYERS, 0, "no `LAYERS` found: change xtask/src/tidy/documents.rs with it")),
    }
}

/// Rows `| 2 | the command line … |` below the heading.
fn exit_codes(readme: &File, problems: &mut Vec<Problem>) {
    let Some((heading, _)) = readme.lines().find(|(_, l)| *l == "## Exit codes") else {
        problems.push(Problem::new(README, 0, "no section `## Exit codes`: copy the table from `fathom --help`"));
        return;
    };
    let rows = readme.lines().skip(heading).take_while(|(_, l)| !l.starts_with('#'));
    let found: Vec<(usize, String, &str)> = rows
        .filter_map(|(line, text)| {
            let (code, meaning) = text.strip_prefix('|')?.strip_suffix('|')?.split_once('|')?;
            let code = code.trim();
            code.parse::<u8>().ok().map(|_| (line, code.to_owned(), meaning.trim()))
        })
        .collect();
    for (n, (code, meaning)) in ExitCode::TABLE.iter().enumerate() {
        let row = format!("| {} | {meaning} |", *code as u8);
        match found.get(n) {
            Some((_, code_text, text)) if *code_text == (*code as u8).to_string() && text == meaning => {}
            Some((line, ..)) => problems.push(Problem::new(README, *line, format!("this row should be `{row}`"))),
            None => problems.push(Problem::new(README, heading, format!("the row `{row}` is missing"))),
        }
    }
    for (line, ..) in found.iter().skip(ExitCode::TABLE.len()) {
        problems.push(Problem::new(README, *line, "no such exit code in crates/model/src/exit.rs: remove the row"));
    }
}

/// Modules in `LAYERS … = &[&null::Null, &rados::Rados];`, which are the layers' names.
fn layers(file: &File) -> Option<Vec<&str>> {
    let (_, list) = file.text.split_once("static LAYERS")?.1.split_once('=')?;
    let (list, _) = list.trim_start().strip_prefix("&[")?.split_once(']')?;
    let names: Vec<&str> = list.split('&').filter_map(|l| l.split_once("::")).map(|(name, _)| name.trim()).collect();
    (!names.is_empty()).then_some(names)
}

fn listed(readme: &File, names: &[&str], problems: &mut Vec<Problem>) {
    for name in names {
        if !readme.text.contains(&format!("**{name}**")) && !readme.text.contains(&format!("`{name}`")) {
            problems.push(Problem::new(README, 0, format!("layer {name} is not listed: add **{name}** to the layers")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readme(rows: &[String]) -> File {
        File::of(
            README,
            &format!("# x\n\n## Exit codes\n\n| code | meaning |\n| --- | --- |\n{}\n\n## y\n", rows.join("\n")),
        )
    }

    fn table() -> Vec<String> {
        ExitCode::TABLE.iter().map(|(code, meaning)| format!("| {} | {meaning} |", *code as u8)).collect()
    }

    fn found(rows: &[String]) -> Vec<usize> {
        let mut problems = Vec::new();
        exit_codes(&readme(rows), &mut problems);
        problems.into_iter().map(|p| p.line).collect()
    }

    #[test]
    fn the_table_of_exit_codes_is_the_programs() {
        let mut rows = table();
        assert!(found(&rows).is_empty());
        rows[1] = "| 1 | something else |".into();
        assert_eq!(found(&rows), [8]);
        rows = table();
        rows.push("| 99 | more |".into());
        assert_eq!(found(&rows), [7 + ExitCode::TABLE.len()]);
        rows.truncate(ExitCode::TABLE.len() - 1);
        assert_eq!(found(&rows), [3]);
    }

    #[test]
    fn layers_are_found_and_must_be_listed() {
        let code = "pub static LAYERS: &[&dyn Layer] =\n    &[&null::Null, &rados::Rados];\n";
        let file = File::of(LAYERS, code);
        let names = layers(&file).unwrap();
        assert_eq!(names, ["null", "rados"]);
        let mut problems = Vec::new();
        listed(&File::of(README, "Layers: **null**."), &names, &mut problems);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].what.contains("layer rados"));
    }
}
