//! Suggestions for misspelt names.

/// The names closest to a misspelt one, at most three.
pub fn closest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let wanted = name.to_lowercase();
    let last = |text: &str| text.rsplit(['/', ':']).next().unwrap_or(text).to_owned();
    let wanted_last = last(&wanted);
    let most = (wanted_last.chars().count() / 3).max(1);
    let mut found: Vec<(usize, &str)> = names
        .filter_map(|full| {
            let lower = full.to_lowercase();
            if lower.ends_with(&wanted) {
                return Some((0, full));
            }
            let distance = distance(&wanted_last, &last(&lower), most)?;
            // Of equals, the one whose path is closer too.
            let path = self::distance(&wanted, &lower, wanted.len()).unwrap_or(wanted.len());
            Some((distance * 1000 + path.min(999), full))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(3).map(|(_, full)| full).collect()
}

/// How many letters must be changed, added or taken away; none if more than `most`.
fn distance(a: &str, b: &str, most: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(LONGEST).collect(), b.chars().take(LONGEST).collect());
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (y, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let changed = diagonal + usize::from(x != y);
            diagonal = *cell;
            left = changed.min(left + 1).min(diagonal + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().filter(|distance| *distance <= most)
}

/// Longer names are compared by their beginning.
const LONGEST: usize = 200;

#[cfg(test)]
mod tests {
    use super::{closest, distance};

    #[test]
    fn distances_are_those_of_levenshtein() {
        let cases =
            [("kitten", "sitting", 3), ("", "ab", 2), ("abc", "abc", 0), ("abc", "acb", 2), ("flaw", "lawn", 2)];
        for (a, b, n) in cases {
            assert_eq!((distance(a, b, 9), distance(b, a, 9)), (Some(n), Some(n)), "{a} {b}");
        }
        assert_eq!(distance("kitten", "sitting", 2), None);
    }

    #[test]
    fn typing_errors_and_wrong_case_are_understood() {
        let names = ["/Power/BatteryVoltage", "/Power/TotalCurrent", "/Shooter/RPM"];
        let of = |name| closest(name, names.into_iter());
        assert_eq!(of("BateryVoltage"), ["/Power/BatteryVoltage"]);
        assert_eq!(of("shooter/rpm"), ["/Shooter/RPM"]);
        assert!(of("Elevator").is_empty());
    }
}
