//! What a misspelt word may have meant.

/// Most suggestions that anybody reads.
const MOST: usize = 3;

/// Longer words are no slips of a few letters.
const LONGEST: usize = 64;

/// Those of `candidates` that are nearest to `word`, in their order: letters that were left out, added, changed or swapped,
/// up to a third of the word, or the beginning of the name. None of them if nothing is near.
pub fn nearest<T>(
    word: &str,
    candidates: impl IntoIterator<Item = T>,
    name: impl Fn(&T) -> &str,
) -> Vec<T> {
    let far = candidates
        .into_iter()
        .filter_map(|c| distance(word, name(&c)).map(|d| (d, c)));
    let found: Vec<(usize, T)> = far.collect();
    let least = found.iter().map(|(distance, _)| *distance).min();
    let nearest = found
        .into_iter()
        .filter(|(distance, _)| Some(*distance) == least);
    nearest.map(|(_, candidate)| candidate).take(MOST).collect()
}

/// How far apart two words are, whatever their case; nothing if one is no slip of the other.
fn distance(word: &str, name: &str) -> Option<usize> {
    let [word, name] = [word, name].map(|text| text.to_lowercase().replace('-', "_"));
    if word == name {
        return Some(0);
    }
    let letters = word.chars().count();
    if !(3..=LONGEST).contains(&letters) {
        return None;
    }
    if name.starts_with(&word) {
        return Some(1);
    }
    let distance = strsim::osa_distance(&word, &name);
    (distance <= letters / 3).then_some(distance)
}

/// ``; did you mean `a`, `b` or `c`?``, or nothing of nothing.
pub fn did_you_mean<S: AsRef<str>>(suggestions: &[S]) -> String {
    let quoted: Vec<String> = suggestions
        .iter()
        .map(|s| format!("`{}`", s.as_ref()))
        .collect();
    match &quoted[..] {
        [] => String::new(),
        [only] => format!("; did you mean {only}?"),
        [first @ .., last] => format!("; did you mean {} or {last}?", first.join(", ")),
    }
}

/// That nothing of this kind has this name, and what may have been meant, or else which names there are.
pub fn unknown<S: AsRef<str>>(what: &str, name: &str, names: &[S]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let meant = nearest(name, names.iter().copied(), |known| known);
    match meant.is_empty() {
        true => format!("there is no {what} {name:?}; there is {}", names.join(", ")),
        false => format!("there is no {what} {name:?}{}", did_you_mean(&meant)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(word: &str, names: &[&'a str]) -> Vec<&'a str> {
        nearest(word, names.iter().copied(), |name| name)
    }

    #[test]
    fn slips_find_their_words() {
        let names = [
            "reduce",
            "dot",
            "transpose",
            "transfer",
            "stride",
            "strided",
            "sequential",
            "single_pass",
        ];
        for (slip, meant) in [
            ("redcue", vec!["reduce"]),
            ("sequental", vec!["sequential"]),
            ("STRIDE", vec!["stride"]),
            ("stirde", vec!["stride"]),
            ("tran", vec!["transpose", "transfer"]),
            ("single-pass", vec!["single_pass"]),
            ("dto", vec!["dot"]),
            ("x", vec![]),
            ("", vec![]),
            ("nothing", vec![]),
        ] {
            assert_eq!(found(slip, &names), meant, "{slip}");
        }
        assert!(found(&"reduce".repeat(1000), &names).is_empty());
    }

    #[test]
    fn suggestions_are_read_aloud() {
        assert_eq!(did_you_mean::<&str>(&[]), "");
        assert_eq!(did_you_mean(&["a"]), "; did you mean `a`?");
        assert_eq!(
            did_you_mean(&["a", "b", "c"]),
            "; did you mean `a`, `b` or `c`?"
        );
    }
}
