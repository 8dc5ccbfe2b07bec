//! A page of Markdown taken apart: its headings' anchors, its links, and its code.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::collections::BTreeMap;

/// What of a page can be wrong.
#[derive(Debug, Default)]
pub struct Page {
    /// What `#` leads to.
    pub anchors: Vec<String>,
    /// Where links and pictures lead.
    pub links: Vec<String>,
    /// Code within lines.
    pub spans: Vec<String>,
    /// Lines of blocks of code.
    pub lines: Vec<String>,
}

impl Page {
    pub fn parse(text: &str) -> Page {
        let mut page = Page::default();
        let (mut heading, mut is_code) = (None::<String>, false);
        for event in Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => page.anchors.extend(heading.take()),
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.to_string());
                }
                Event::Start(Tag::CodeBlock(
                    CodeBlockKind::Fenced(_) | CodeBlockKind::Indented,
                )) => is_code = true,
                Event::End(TagEnd::CodeBlock) => is_code = false,
                Event::Text(text) if is_code => page.lines.extend(text.lines().map(str::to_owned)),
                Event::Text(text) => heading
                    .iter_mut()
                    .for_each(|heading| heading.push_str(&text)),
                Event::Code(code) => {
                    heading
                        .iter_mut()
                        .for_each(|heading| heading.push_str(&code));
                    page.spans.push(code.to_string());
                }
                Event::Html(html) | Event::InlineHtml(html) => page.links.extend(targets(&html)),
                _ => {}
            }
        }
        page.anchors = slugs(&page.anchors);
        page
    }
}

/// Where HTML leads: what `href`, `src` and `srcset` say.
fn targets(html: &str) -> Vec<String> {
    let of = |name: &str| {
        let begin = format!("{name}=\"");
        let values = html
            .split(&begin)
            .skip(1)
            .filter_map(|rest| rest.split('"').next());
        values
            .map(|value| value.split(' ').next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    ["href", "src", "srcset"].into_iter().flat_map(of).collect()
}

/// The anchors that GitHub makes of headings: small letters, blanks as dashes, no other signs, and a number behind those that
/// were there before.
fn slugs(headings: &[String]) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let slug = |heading: &String| {
        let kept = heading
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let slug: String = kept
            .flat_map(char::to_lowercase)
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let before = seen
            .entry(slug.clone())
            .and_modify(|count| *count += 1)
            .or_default();
        if *before == 0 {
            slug
        } else {
            format!("{slug}-{before}")
        }
    };
    headings.iter().map(slug).collect()
}
