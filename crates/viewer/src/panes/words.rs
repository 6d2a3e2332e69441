/// The words of a channel's name in lower case, in their order: `/Drive/ModuleFL/driveVelocity` has `drive`, `module`,
/// `fl`, `drive`, `velocity`. Numbers are words of their own.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut letters = name.chars().peekable();
    let mut before: Option<char> = None;
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        let starts = before.is_some_and(|before| {
            // `driveVelocity`, `PDPCurrents`, `Module0`.
            (before.is_lowercase() && letter.is_uppercase())
                || (before.is_uppercase() && letter.is_uppercase() && next.is_some_and(char::is_lowercase))
                || (before.is_ascii_digit() != letter.is_ascii_digit())
        });
        if !letter.is_alphanumeric() || starts {
            found.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
            before = Some(letter);
        } else {
            before = None;
        }
    }
    found.extend((!word.is_empty()).then_some(word));
    found
}

/// The parts of a name between slashes, the table before a colon included: `NT:/Drive/Pose` has `NT`, `Drive`, `Pose`.
pub(super) fn segments(name: &str) -> impl DoubleEndedIterator<Item = &str> {
    name.split(['/', ':']).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{segments, words};

    #[test]
    fn names_fall_into_words() {
        for (name, expected) in [
            ("/Drive/ModuleFL/driveVelocity", "drive module fl drive velocity"),
            ("/SystemStats/PDPCurrents", "system stats pdp currents"),
            ("Phoenix6/TalonFX-14/MotorVoltage", "phoenix 6 talon fx 14 motor voltage"),
            ("NT:/Module (Front Left)/wheel_m/s", "nt module front left wheel m s"),
            ("Ünïcode/Größe", "ünïcode größe"),
            ("", ""),
            ("///::", ""),
        ] {
            assert_eq!(words(name).join(" "), expected, "{name}");
        }
    }

    #[test]
    fn names_fall_into_segments() {
        assert_eq!(segments("NT:/Drive/Pose").collect::<Vec<_>>(), ["NT", "Drive", "Pose"]);
        assert_eq!(segments("DS:enabled").next_back(), Some("enabled"));
    }
}
