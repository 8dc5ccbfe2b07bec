//! A recipe of CONTRIBUTING.md: its words of code, and what it promises on screen.

/// What stands under one heading.
pub struct Page {
    text: String,
}

impl Page {
    /// The recipe whose heading ends so.
    pub fn of(page: &str, heading: &str) -> Result<Page, String> {
        let sections = page.split("\n## ").find(|section| section.lines().next().is_some_and(|h| h.ends_with(heading)));
        let text = sections.ok_or_else(|| format!("CONTRIBUTING.md has no recipe for a {heading}"))?;
        let joined = |paragraph: &str| paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Page { text: text.split("\n\n").map(joined).collect::<Vec<_>>().join("\n\n") })
    }

    /// The first word of code that is so.
    pub fn span(&self, is_it: impl Fn(&str) -> bool) -> Result<String, String> {
        first(&self.text, is_it).ok_or_else(|| "the recipe names something no more that it named".to_owned())
    }

    /// As [`Page::span`], behind these words.
    pub fn behind(&self, words: &str, is_it: impl Fn(&str) -> bool) -> Result<String, String> {
        first(self.rest(words), is_it).ok_or_else(|| format!("the recipe says nothing behind {words:?}"))
    }

    /// All words of code between these words that are so.
    pub fn spans_between(&self, from: &str, to: &str, is_it: impl Fn(&str) -> bool) -> Vec<String> {
        spans(self.rest(from).split(to).next().unwrap_or_default()).filter(|span| is_it(span)).collect()
    }

    /// The commands of gpulab in the paragraph "On screen", each with the words of code behind it, up to the next command.
    pub fn promises(&self) -> Vec<(String, Vec<String>)> {
        let mut promises: Vec<(String, Vec<String>)> = Vec::new();
        let mut is_ours = false;
        for span in spans(self.rest("On screen:").split("\n\n").next().unwrap_or_default()) {
            let is_command = ["gpulab ", "cargo ", "INSTA_UPDATE"].iter().any(|begin| span.starts_with(begin));
            if is_command {
                is_ours = span.starts_with("gpulab ");
            }
            match promises.last_mut() {
                _ if is_command && is_ours => promises.push((span, Vec::new())),
                // A path is where something is, and not on screen.
                Some((_, texts)) if !is_command && is_ours && !span.contains('/') => texts.push(span),
                _ => {}
            }
        }
        promises
    }

    fn rest(&self, words: &str) -> &str {
        let lower = self.text.to_lowercase();
        lower.find(&words.to_lowercase()).map_or("", |at| &self.text[at..])
    }
}

fn first(text: &str, is_it: impl Fn(&str) -> bool) -> Option<String> {
    spans(text).find(|span| is_it(span))
}

/// Words of code.
fn spans(text: &str) -> impl Iterator<Item = String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned)
}
