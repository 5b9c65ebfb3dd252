//! The account of operations: every operation that was issued must be found again as completed, failed or timed out.
//!
//! The account of the worker and the sum of the samples are two independent counts of the same thing. When they
//! differ, some number of this report is wrong and nobody can say which, so it is a defect and said loudly.
use fathom_model::{Attempt, ErrorClass, Sample};
use serde::Serialize;
use std::collections::BTreeMap;

/// Failed operations of one class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorCount {
    /// The class in words: `ENOSPC (no space left)`.
    pub class: String,
    /// How many operations.
    pub ops: u64,
}

/// Where all operations of a span of load went, ramp and drain included.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Account {
    /// Operations handed to the layer. `None` for an attempt that was cut off: what was in flight then is unknown.
    pub issued: Option<u64>,
    /// Completed without error.
    pub completed: u64,
    /// Failed, all classes, time-outs not among them.
    pub failed: u64,
    /// Cancelled at their deadline.
    pub timed_out: u64,
    /// Open loop: due, but never sent.
    pub unsent: u64,
    /// `failed` by class, most frequent first.
    pub errors: Vec<ErrorCount>,
    /// What does not add up; empty when all does.
    pub mismatches: Vec<String>,
}

/// Sums over samples, whatever their phase.
#[derive(Default)]
struct Sums {
    completed: u64,
    timed_out: u64,
    unsent: u64,
    by_class: BTreeMap<ErrorClass, u64>,
}

impl Sums {
    fn of(samples: &[Sample]) -> Sums {
        let mut sums = Sums::default();
        for sample in samples {
            sums.completed = sums.completed.saturating_add(sample.ops);
            sums.timed_out = sums.timed_out.saturating_add(sample.timeouts);
            sums.unsent = sums.unsent.saturating_add(sample.unsent);
            for (class, ops) in &sample.errors {
                let count = sums.by_class.entry(*class).or_default();
                *count = count.saturating_add(*ops);
            }
        }
        sums
    }

    fn failed(&self) -> u64 {
        self.by_class.values().fold(0, |sum, n| sum.saturating_add(*n))
    }
}

impl Account {
    /// The account of one attempt: the worker's own where there is one, checked against the samples.
    pub(crate) fn of_attempt(attempt: &Attempt) -> Account {
        let sums = Sums::of(&attempt.samples);
        let mut account = Account {
            issued: None,
            completed: sums.completed,
            failed: sums.failed(),
            timed_out: sums.timed_out,
            unsent: sums.unsent,
            errors: errors(&sums.by_class),
            mismatches: Vec::new(),
        };
        let Some(end) = &attempt.end else { return account };
        let mut differ = |what: &str, worker: u64, samples: u64| {
            if worker != samples {
                account.mismatches.push(format!("{what}: {worker} by the worker's account, {samples} in the samples"));
            }
        };
        differ("completed", end.completed, account.completed);
        differ("failed", end.failed, account.failed);
        differ("timed out", end.timed_out, account.timed_out);
        differ("unsent", end.unsent, account.unsent);
        account.issued = Some(end.issued);
        account.completed = end.completed;
        account.failed = end.failed;
        account.timed_out = end.timed_out;
        account.unsent = end.unsent;
        let found = end.completed.saturating_add(end.failed).saturating_add(end.timed_out);
        if found != end.issued {
            account.mismatches.push(format!(
                "issued {} but completed + failed + timed out = {found}: {} unaccounted for",
                end.issued,
                end.issued.abs_diff(found)
            ));
        }
        account
    }

    /// The account of several attempts together.
    pub(crate) fn sum<'a>(parts: impl Iterator<Item = &'a Account>) -> Account {
        let mut total = Account { issued: Some(0), ..Account::default() };
        let mut classes: BTreeMap<String, u64> = BTreeMap::new();
        for part in parts {
            total.issued = total.issued.zip(part.issued).map(|(a, b)| a.saturating_add(b));
            total.completed = total.completed.saturating_add(part.completed);
            total.failed = total.failed.saturating_add(part.failed);
            total.timed_out = total.timed_out.saturating_add(part.timed_out);
            total.unsent = total.unsent.saturating_add(part.unsent);
            total.mismatches.extend(part.mismatches.iter().cloned());
            for error in &part.errors {
                let count = classes.entry(error.class.clone()).or_default();
                *count = count.saturating_add(error.ops);
            }
        }
        total.errors = classes.into_iter().map(|(class, ops)| ErrorCount { class, ops }).collect();
        total.errors.sort_by_key(|error| std::cmp::Reverse(error.ops));
        total
    }

    /// Operations that did not do what they were issued for.
    #[must_use]
    pub fn bad(&self) -> u64 {
        self.failed.saturating_add(self.timed_out)
    }

    /// True when something went wrong with an operation or with the counting.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.bad() == 0 && self.unsent == 0 && self.mismatches.is_empty()
    }
}

fn errors(by_class: &BTreeMap<ErrorClass, u64>) -> Vec<ErrorCount> {
    // Two errnos that have no name of their own must not look like one class.
    let name = |class: &ErrorClass| match class {
        ErrorClass::Errno(n) if fathom_model::errno_name(*n) == "another errno" => format!("errno {n}"),
        _ => class.to_string(),
    };
    let mut list: Vec<ErrorCount> =
        by_class.iter().map(|(class, ops)| ErrorCount { class: name(class), ops: *ops }).collect();
    list.sort_by_key(|error| std::cmp::Reverse(error.ops));
    list
}
