//! Drives the library by hand: `lab up|status|down DIR [OSDS]`, `lab pause|resume|kill|start DIR DAEMON`.
use fathom_lab::{LabError, LabSpec};
use std::{path::Path, process::ExitCode, time::Instant};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lab: {error}");
            ExitCode::from(error.exit_code() as u8)
        }
    }
}

fn run(args: &[&str]) -> Result<(), LabError> {
    let began = Instant::now();
    let mut say = |line: &str| eprintln!("{:6.2} s  {line}", began.elapsed().as_secs_f64());
    match *args {
        ["up", dir, ref rest @ ..] => {
            let mut spec = LabSpec::new(dir);
            spec.osds = rest.first().map_or(Ok(spec.osds), |n| n.parse()).unwrap_or(0);
            spec.mon_count = rest.get(1).map_or(Ok(spec.mon_count), |n| n.parse()).unwrap_or(0);
            let lab = fathom_lab::up(&spec, &mut say)?;
            say("up");
            print!("{}", lab.shell());
        }
        ["status", dir] => println!("{}", fathom_lab::status(Path::new(dir))?),
        ["down", dir] => {
            let report = fathom_lab::down(Path::new(dir), &mut say)?;
            say(&report.to_string());
        }
        ["pause", dir, daemon] => fathom_lab::pause(Path::new(dir), daemon)?,
        ["resume", dir, daemon] => fathom_lab::resume(Path::new(dir), daemon)?,
        ["kill", dir, daemon] => fathom_lab::kill(Path::new(dir), daemon)?,
        ["start", dir, daemon] => {
            fathom_lab::start(Path::new(dir), daemon)?;
        }
        _ => return Err(LabError::Usage("lab up|status|down DIR, lab pause|resume|kill|start DIR DAEMON".into())),
    }
    Ok(())
}
