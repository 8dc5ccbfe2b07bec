//! What rows tell of the host and of the command: nothing that names a person or a machine.

use gpulab_model::Joined;

/// The processor's name, as Linux tells it.
pub fn cpu() -> String {
    named_in(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
}

/// The name in a text like `/proc/cpuinfo`.
fn named_in(text: &str) -> String {
    let name = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == "model name");
    name.map_or_else(String::new, |(_, name)| name.split_whitespace().joined(" "))
}

/// This process's command line, as one would type it again; the home folder is `~`.
pub fn command_line() -> String {
    let arguments = std::env::args_os()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned());
    typed(arguments, std::env::var("HOME").ok().as_deref())
}

fn typed(arguments: impl Iterator<Item = String>, home: Option<&str>) -> String {
    let home = home
        .map(|home| home.trim_end_matches('/'))
        .filter(|home| home.len() > 1);
    std::iter::once("gpulab".to_owned())
        .chain(arguments.map(|argument: String| {
            let short = home.map_or_else(|| argument.clone(), |home| argument.replace(home, "~"));
            match !short.is_empty()
                && short
                    .chars()
                    .all(|c: char| c.is_ascii_alphanumeric() || "-_=./,:+@%^~*".contains(c))
            {
                true => short,
                false => format!("'{}'", short.replace('\'', "'\\''")),
            }
        }))
        .joined(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed_again_and_names_no_home() {
        let of = |words: &[&str], home| typed(words.iter().map(|word| (*word).to_owned()), home);
        assert_eq!(of(&["dot", "--n", "2^20"], None), "gpulab dot --n 2^20");
        assert_eq!(
            of(&["-d", "Intel(R) CPU", "", "it's"], None),
            "gpulab -d 'Intel(R) CPU' '' 'it'\\''s'"
        );
        assert_eq!(
            of(
                &["--csv", "/home/ann/a.csv", "--input=/home/ann/x"],
                Some("/home/ann/")
            ),
            "gpulab --csv ~/a.csv --input=~/x"
        );
        assert_eq!(of(&["--csv", "/a.csv"], Some("/")), "gpulab --csv /a.csv");
    }

    #[test]
    fn a_processor_is_named_as_the_system_names_it() {
        assert_eq!(
            named_in("processor\t: 0\nmodel name\t: AMD  EPYC 7\nmodel name\t: other\n"),
            "AMD EPYC 7"
        );
        assert_eq!(named_in("Hardware\t: board\n"), "");
    }
}
