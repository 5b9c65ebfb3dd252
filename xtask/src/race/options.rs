//! Flags of the races.
use anyhow::{Context as _, Result, bail, ensure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What was asked for.
pub struct Options {
    values: BTreeMap<String, String>,
    pub json: bool,
}

impl Options {
    /// Reads `--flag VALUE` and `--json`.
    pub fn parse(args: &[&str], known: &[&str]) -> Result<Options> {
        let mut options = Options { values: BTreeMap::new(), json: false };
        let mut args = args.iter();
        while let Some(&arg) = args.next() {
            if arg == "--json" {
                options.json = true;
                continue;
            }
            ensure!(known.contains(&arg), "there is no {arg} here; `cargo xtask help` shows what there is");
            let value = args.next().with_context(|| format!("{arg} needs a value"))?;
            options.values.insert(arg.to_owned(), (*value).to_owned());
        }
        Ok(options)
    }

    pub fn text(&self, flag: &str) -> Option<&str> {
        self.values.get(flag).map(String::as_str)
    }

    /// A whole number from 1 to 1000.
    pub fn count(&self, flag: &str, default: u32) -> Result<u32> {
        let Some(text) = self.text(flag) else { return Ok(default) };
        match text.parse() {
            Ok(n) if (1..=1000).contains(&n) => Ok(n),
            _ => bail!("{flag} {text}: a number from 1 to 1000"),
        }
    }

    /// How long a run waits for a quiet machine.
    pub fn patience(&self) -> Result<Duration> {
        Ok(Duration::from_secs(self.count("--patience", 60)?.into()))
    }

    /// The program to measure: the one named, or a fresh one from the profile for hot paths.
    pub fn fathom(&self, root: &Path) -> Result<PathBuf> {
        if let Some(given) = self.text("--fathom") {
            return std::path::absolute(given).context("--fathom");
        }
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--locked", "--quiet", "--profile", "quick", "--package", "fathom"])
            .current_dir(root)
            .status()
            .context("starting cargo")?;
        ensure!(built.success(), "`cargo build --profile quick` failed");
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        Ok(root.join(target).join("quick/fathom"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_and_wrong_ones_named() {
        let known = ["--pairs", "--conf"];
        let options = Options::parse(&["--pairs", "3", "--json"], &known).unwrap();
        assert_eq!((options.count("--pairs", 8).unwrap(), options.json), (3, true));
        assert_eq!(options.count("--seconds", 6).unwrap(), 6);
        let wrong = |args: &[&str]| Options::parse(args, &known).err().unwrap().to_string();
        assert!(wrong(&["--pears", "3"]).contains("--pears"));
        assert!(wrong(&["--pairs"]).contains("needs a value"));
        let none = Options::parse(&["--pairs", "0"], &known).unwrap();
        assert!(none.count("--pairs", 8).unwrap_err().to_string().contains("1 to 1000"));
    }
}
