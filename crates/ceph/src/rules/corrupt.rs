//! Data that was read back and was not what had been written.
use super::finding;
use crate::Facts;
use fathom_model::{ErrorClass, Finding, Severity};

pub(super) fn read(facts: &Facts<'_>) -> Vec<Finding> {
    let mut wrong: Vec<(&str, u64)> = Vec::new();
    for attempt in facts.attempts {
        let classes = attempt.samples.iter().flat_map(|s| &s.errors).filter(|(class, _)| *class == ErrorClass::Corrupt);
        let count = classes.fold(0u64, |sum, (_, n)| sum.saturating_add(*n));
        let Some(step) = facts.step_of(attempt).filter(|_| count > 0) else { continue };
        match wrong.iter_mut().find(|(name, _)| *name == step.name) {
            Some((_, sum)) => *sum = sum.saturating_add(count),
            None => wrong.push((&step.name, count)),
        }
    }
    if wrong.is_empty() {
        return Vec::new();
    }
    let steps: Vec<String> = wrong.iter().map(|(name, n)| format!("{name}: {n} reads")).collect();
    let mut out = finding(
        "wrong-data",
        Severity::Invalid,
        "wrong data was read back".to_owned(),
        format!("content other than what was written, or of another object: {}", steps.join("; ")),
        "stop using this pool for data that matters until it is known why: `ceph pg deep-scrub` its placement groups, look for `ceph health detail` scrub errors, check memory and controllers; or somebody wrote to these objects during the run",
        "comparison of every byte read with what the object's name says was written (--verify)",
    );
    out.step = (wrong.len() == 1).then(|| wrong[0].0.to_owned());
    vec![out]
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;
    use fathom_model::{ErrorClass, Severity};

    #[test]
    fn one_is_enough() {
        let mut case = Case::healthy();
        case.run.attempts[0].samples[0].errors = vec![(ErrorClass::Errno(5), 3)];
        assert_eq!(case.severity("wrong-data"), None);
        case.run.attempts[0].samples[0].errors.push((ErrorClass::Corrupt, 1));
        assert_eq!(case.severity("wrong-data"), Some(Severity::Invalid));
    }
}
