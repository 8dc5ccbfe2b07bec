//! Compilers' logs, made fit to be shown and stored. Pure.

/// What compilers call a source that came as a string.
const ANONYMOUS: [&str; 3] = ["<kernel>:", "<program source>:", "<stdin>:"];

/// Drops the NUL at the end and blank ends, shows control characters as escapes, the home folder as `~`,
/// and the unit's path where the compiler has a name of its own for it.
pub(super) fn clean(log: &str, path: &str, home: Option<&str>) -> String {
    let mut text = log.trim_end_matches(['\0', '\n', '\r', ' ']).trim_start_matches(['\n', '\r']).replace("\r\n", "\n");
    if let Some(home) = home.map(|h| h.trim_end_matches('/')).filter(|h| h.len() > 1) {
        text = text.replace(home, "~");
    }
    for name in ANONYMOUS {
        text = text.replace(name, &format!("{path}:"));
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_control_characters_and_the_last_nul_go() {
        let log = "/home/ada/.cache/pocl/x.cl:1:2: error\u{1b}[0m\r\nnext\tline\0\0\n\0";
        assert_eq!(clean(log, "a/b.cl", Some("/home/ada/")), "~/.cache/pocl/x.cl:1:2: error\\u{1b}[0m\nnext\tline");
        assert_eq!(clean("/root/x\n", "a/b.cl", None), "/root/x");
        assert_eq!(clean("a/b", "a/b.cl", Some("/")), "a/b", "a home of / is no home");
    }

    #[test]
    fn anonymous_sources_get_their_path() {
        assert_eq!(clean("<kernel>:3:61: error: x", "dot/v1_naive.cl", None), "dot/v1_naive.cl:3:61: error: x");
    }
}
