//! Questions that nobody would ask, made from a seed out of pieces of others. Fuzzing with DataFusion would compile it once
//! more with other flags; the parser and the bounds before it have a fuzz target.

use std::panic;
use std::sync::{Arc, Mutex};

use logpose_query::fuzzing;

/// Tokens of the questions that fuzzing starts from.
fn tokens() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/fuzz/questions_sql");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let texts = paths.iter().map(|path| std::fs::read_to_string(path).unwrap());
    let mut tokens: Vec<String> = Vec::new();
    for text in texts {
        let mut last = ' ';
        for letter in text.chars() {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            match tokens.last_mut() {
                Some(token) if is_word(letter) && is_word(last) => token.push(letter),
                _ => tokens.push(letter.into()),
            }
            last = letter;
        }
        tokens.push("\n".into());
    }
    let hard = [
        "NULL",
        "'NaN'::double",
        "9223372036854775807",
        "-1e308",
        "''",
        "[]",
        "(SELECT max(number) FROM samples)",
        " || ",
        "samples",
    ];
    tokens.extend(hard.map(str::to_owned));
    tokens
}

#[test]
fn no_question_makes_our_own_code_panic() {
    let tokens = tokens();
    let questions: Vec<&[String]> =
        tokens.split(|token| token == "\n").filter(|question| !question.is_empty()).collect();
    let panics = Arc::new(Mutex::new(Vec::new()));
    let (seen, before) = (Arc::clone(&panics), panic::take_hook());
    panic::set_hook(Box::new(move |info| {
        // Those of DataFusion are caught and become errors.
        if info.location().is_some_and(|place| !place.file().contains("/registry/src/")) {
            seen.lock().unwrap().push(info.to_string());
        }
        before(info);
    }));
    let mut state = 7_u64;
    let mut below = |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most
    };
    for _ in 0..ROUNDS {
        let mut question = questions[below(questions.len())].to_vec();
        for _ in 0..=below(4) {
            let at = below(question.len());
            match below(4) {
                0 => question.insert(at, tokens[below(tokens.len())].clone()),
                1 if question.len() > 1 => drop(question.remove(at)),
                // A piece of another question.
                2 => {
                    let other = questions[below(questions.len())];
                    let from = below(other.len());
                    question.splice(at..at, other[from..(from + 6).min(other.len())].iter().cloned());
                }
                _ => question[at].clone_from(&tokens[below(tokens.len())]),
            }
        }
        let question = question.concat();
        fuzzing::questions(question.as_bytes());
        assert_eq!(*panics.lock().unwrap(), [""; 0], "{question}");
    }
}

const ROUNDS: usize = 300;
