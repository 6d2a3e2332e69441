use std::fmt;

/// How much a problem costs.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// An oddity that was understood; nothing is lost.
    Note,
    /// Doubtful, or decoration was lost; all data are there.
    Warning,
    /// Data were lost or damaged.
    Damage,
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Damage => "damage",
        }
    }
}

/// Something was lost or doubtful and reading went on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// How much it costs.
    pub severity: Severity,
    /// A short word for this kind of problem, the same in every run.
    pub code: &'static str,
    /// The first byte concerned, if a place can be named.
    pub at: Option<u64>,
    /// How many bytes are concerned; 0 if that cannot be said.
    pub length: u64,
    /// A sentence for people, with what it costs.
    pub message: String,
}

impl Problem {
    /// A problem at a byte.
    pub fn new(severity: Severity, code: &'static str, at: u64, length: u64, message: impl Into<String>) -> Self {
        Self { severity, code, at: Some(at), length, message: message.into() }
    }

    /// A problem of the log as a whole.
    pub fn general(severity: Severity, code: &'static str, message: impl Into<String>) -> Self {
        Self { severity, code, at: None, length: 0, message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(at) => write!(f, "byte {at:#x}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// The problems met so far. Each kind keeps its first ones and counts the rest, so that a hostile file
/// cannot fill the memory with complaints.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    list: Vec<Problem>,
    kinds: Vec<(&'static str, Severity, u64)>,
    lost_bytes: u64,
}

impl Problems {
    /// How many problems of one kind are kept.
    pub const KEPT_PER_KIND: u64 = 100;

    /// The problems of which these are the list, the kinds and the lost bytes.
    #[must_use]
    pub fn from_parts(list: Vec<Problem>, kinds: Vec<(&'static str, Severity, u64)>, lost_bytes: u64) -> Self {
        Self { list, kinds, lost_bytes }
    }

    /// Notes a problem.
    pub fn push(&mut self, problem: Problem) {
        if problem.severity == Severity::Damage && problem.at.is_some() {
            self.lost_bytes += problem.length;
        }
        let count = match self.kinds.iter_mut().find(|(code, ..)| *code == problem.code) {
            Some((_, severity, count)) => {
                *severity = problem.severity.max(*severity);
                count
            }
            None => {
                self.kinds.push((problem.code, problem.severity, 0));
                match self.kinds.last_mut() {
                    Some((.., count)) => count,
                    None => return,
                }
            }
        };
        *count += 1;
        if *count <= Self::KEPT_PER_KIND {
            self.list.push(problem);
        }
    }

    /// Takes over all problems of another list, in their order.
    pub fn append(&mut self, other: Self) {
        let lost_bytes = self.lost_bytes + other.lost_bytes;
        for problem in other.list {
            self.push(problem);
        }
        self.lost_bytes = lost_bytes;
        for (code, severity, count) in other.kinds {
            let extra = count.saturating_sub(Self::KEPT_PER_KIND);
            if let Some((_, s, c)) = self.kinds.iter_mut().find(|(k, ..)| *k == code) {
                *s = severity.max(*s);
                *c += extra;
            }
        }
    }

    /// The kept problems, in the order in which they were met.
    #[must_use]
    pub fn list(&self) -> &[Problem] {
        &self.list
    }

    /// Every kind met: its code, its worst severity, how often.
    #[must_use]
    pub fn kinds(&self) -> &[(&'static str, Severity, u64)] {
        &self.kinds
    }

    /// How many problems were counted but not kept.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.kinds.iter().map(|(.., count)| count.saturating_sub(Self::KEPT_PER_KIND)).sum()
    }

    /// How many problems there are in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.kinds.iter().map(|(.., count)| count).sum()
    }

    /// Bytes that damage cost, also of problems that were not kept.
    #[must_use]
    pub fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// The worst severity met.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.kinds.iter().map(|(_, severity, _)| *severity).max()
    }

    /// Whether there was none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Puts the kept problems in the order of their bytes, those without a place first.
    pub fn sort_by_place(&mut self) {
        self.list.sort_by_key(|problem| problem.at);
    }
}

#[cfg(test)]
mod tests {
    use super::{Problem, Problems, Severity};

    #[test]
    fn keeps_the_first_of_each_kind_and_counts_the_rest() {
        let mut problems = Problems::default();
        for at in 0..1000 {
            problems.push(Problem::new(Severity::Damage, "again", at, 1, "again"));
        }
        problems.push(Problem::general(Severity::Damage, "once", "once"));
        assert_eq!(problems.list().len() as u64, Problems::KEPT_PER_KIND + 1);
        assert_eq!(problems.dropped(), 1000 - Problems::KEPT_PER_KIND);
        assert_eq!(problems.worst(), Some(Severity::Damage));

        let mut joined = Problems::default();
        joined.append(problems);
        assert_eq!((joined.dropped(), joined.lost_bytes()), (1000 - Problems::KEPT_PER_KIND, 1000));
    }
}
