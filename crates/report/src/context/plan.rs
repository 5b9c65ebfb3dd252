//! Load and result: what was asked of the cluster and what came back, one line per step.
use super::{ContextLine, known};
use crate::analysis::StepResult;
use crate::words;
use fathom_model::RunData;

pub(super) fn load(run: &RunData, steps: &[StepResult]) -> Vec<ContextLine> {
    let mut lines = vec![known("Command", &run.info.command, ""), known("Seed", &run.info.seed.to_string(), "")];
    for step in steps {
        let load = &step.plan.load;
        let mut text = step.conditions.clone();
        text.push_str(&format!(
            ", ramp {}, time-out per operation {}",
            words::seconds(load.ramp_ns as f64 / 1e9),
            words::seconds(load.op_timeout_ns as f64 / 1e9)
        ));
        text.push_str(&format!(", data {} % compressible", load.compressible_pct));
        if load.verify {
            text.push_str(", data verified");
        }
        if !step.parameters.is_empty() {
            text.push_str(&format!("; {}", step.parameters));
        }
        lines.push(known(&step.name, &text, ""));
    }
    lines
}

pub(super) fn result(steps: &[StepResult]) -> Vec<ContextLine> {
    steps.iter().map(|step| known(&step.name, &crate::analysis::headline(step), "")).collect()
}
