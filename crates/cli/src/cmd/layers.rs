//! `fathom layers`: the layers and their parameters, from the layers' own tables.
use crate::{fail::Fail, out};
use fathom_load::layers::LAYERS;
use fathom_model::ExitCode;

pub fn run(m: &clap::ArgMatches) -> Result<ExitCode, Fail> {
    if m.get_flag("json") {
        let layers: Vec<_> = LAYERS
            .iter()
            .map(|l| {
                let params: Vec<_> = l
                    .params()
                    .iter()
                    .map(|p| {
                        serde_json::json!({
                            "name": p.name, "kind": format!("{:?}", p.kind).to_lowercase(), "default": p.default, "help": p.help,
                        })
                    })
                    .collect();
                serde_json::json!({"name": l.name(), "about": l.about(), "params": params})
            })
            .collect();
        out::json(&layers)?;
        return Ok(ExitCode::Ok);
    }
    let mut text = String::new();
    for layer in LAYERS {
        text += &format!("{}: {}\n", layer.name(), layer.about());
        for p in layer.params() {
            let default = p.default.filter(|d| !d.is_empty()).map(|d| format!(" [default {d}]")).unwrap_or_default();
            text += &format!("  {:<12} {}{default}\n", p.name, p.help);
        }
    }
    out::print(&text)?;
    Ok(ExitCode::Ok)
}
