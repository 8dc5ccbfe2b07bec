//! A page as a parser of HTML sees it.

use scraper::{ElementRef, Html, Selector};
use std::collections::BTreeSet;

/// A page's text, and its elements.
pub(super) struct Page {
    pub(super) text: String,
    tree: Html,
}

fn selector(css: &str) -> Selector {
    Selector::parse(css).unwrap()
}

fn text(element: ElementRef<'_>) -> String {
    element.text().collect::<String>().trim().to_owned()
}

/// Elements that a page has; any other came from a cell.
const ELEMENTS: [&str; 56] = [
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "header",
    "main",
    "nav",
    "section",
    "article",
    "figure",
    "figcaption",
    "h1",
    "h2",
    "h3",
    "h4",
    "p",
    "a",
    "b",
    "br",
    "code",
    "pre",
    "ins",
    "del",
    "span",
    "div",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "details",
    "summary",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "svg",
    "desc",
    "text",
    "line",
    "rect",
    "polyline",
    "polygon",
    "circle",
    "path",
    "g",
    "tspan",
    "em",
    "strong",
    "abbr",
    "time",
];

/// Attributes that a page has. Only those of `a` lead anywhere.
const ATTRIBUTES: [&str; 45] = [
    "lang",
    "charset",
    "name",
    "content",
    "class",
    "id",
    "href",
    "download",
    "aria-labelledby",
    "aria-label",
    "tabindex",
    "scope",
    "open",
    "xmlns",
    "viewBox",
    "width",
    "height",
    "role",
    "font-family",
    "font-size",
    "font-weight",
    "text-anchor",
    "x",
    "y",
    "x1",
    "y1",
    "x2",
    "y2",
    "r",
    "rx",
    "cx",
    "cy",
    "points",
    "stroke-width",
    "stroke-dasharray",
    "stroke-linejoin",
    "stroke-linecap",
    "fill-opacity",
    "transform",
    "d",
    "dx",
    "dy",
    "opacity",
    "fill",
    "stroke",
];

impl Page {
    pub(super) fn of(text: &str) -> Page {
        Page { text: text.to_owned(), tree: Html::parse_document(text) }
    }

    fn all(&self, css: &str) -> Vec<ElementRef<'_>> {
        self.tree.select(&selector(css)).collect()
    }

    pub(super) fn texts(&self, css: &str) -> Vec<String> {
        self.all(css).into_iter().map(text).collect()
    }

    pub(super) fn attributes(&self, css: &str, name: &str) -> Vec<String> {
        self.all(css).into_iter().filter_map(|element| element.value().attr(name)).map(str::to_owned).collect()
    }

    /// The parser finds nothing wrong, ids are given once and found, headings step down one by one, and tables have as many
    /// cells in each row as heads.
    pub(super) fn is_valid(&self) {
        assert_eq!(self.tree.errors, Vec::<String>::new());
        let ids = self.attributes("[id]", "id");
        let known: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
        assert_eq!(known.len(), ids.len(), "an id is given twice");
        for named in self.attributes("[aria-labelledby]", "aria-labelledby") {
            assert!(named.split(' ').all(|id| known.contains(id)), "{named} is no id");
        }
        for link in self.attributes("a[href^='#']", "href") {
            assert!(known.contains(&link[1..]), "{link} leads nowhere");
        }
        let levels: Vec<usize> =
            self.all("h1, h2, h3, h4").iter().map(|h| h.value().name()[1..].parse().unwrap()).collect();
        assert!(levels.first() == Some(&1) && levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
        for table in self.all("table") {
            let heads = table.select(&selector("thead th")).count();
            for row in table.select(&selector("tbody tr")) {
                assert_eq!(row.select(&selector("td, th")).count(), heads, "{}", text(row));
            }
        }
        assert!(!self.text.chars().any(|c| c.is_control() && c != '\n'), "a control character");
    }

    /// No script, nothing that a browser would fetch, and only elements and attributes that gpulab writes.
    pub(super) fn needs_nothing(&self) {
        for element in self.all("*") {
            let name = element.value().name();
            assert!(ELEMENTS.contains(&name), "<{name}> is not of gpulab");
            for (attribute, value) in element.value().attrs() {
                assert!(ATTRIBUTES.contains(&attribute), "{attribute}={value:?} of <{name}> is not of gpulab");
                let leads = attribute == "href" || value.contains("url(");
                assert!(!leads || name == "a", "<{name} {attribute}={value:?}> leads out");
                let goes = ["javascript:", "http:", "//", "vbscript:"].iter().any(|to| value.trim().starts_with(to));
                assert!(!goes || attribute == "xmlns" || attribute == "content", "<{name} {attribute}={value:?}>");
            }
        }
        for style in self.texts("style") {
            assert!(!style.contains("url(") && !style.contains("@import") && !style.contains('<'), "{style}");
        }
    }

    /// Each chart has a title that is seen and one that is read out, words for those who do not see it, axes or fields with
    /// names, and its numbers.
    pub(super) fn charts_are_told(&self) {
        let charts = self.all("svg");
        assert!(charts.len() == self.all("figure").len(), "a chart stands outside of a figure");
        for figure in self.all("figure") {
            let one = |css: &str| {
                let found: Vec<ElementRef<'_>> = figure.select(&selector(css)).collect();
                assert_eq!(found.len(), 1, "{css} in {}", text(figure));
                text(found[0])
            };
            let title = one("figcaption .title");
            assert!(
                !title.is_empty() && !one("svg[role=img][aria-labelledby] > title").is_empty(),
                "a chart has no title"
            );
            assert!(one("svg > desc").len() > 20, "{title}: no words");
            one("details.numbers table");
            assert!(figure.select(&selector("svg > text")).count() > 2, "{title}: no axes");
            let rows = figure.select(&selector("details.numbers tbody tr")).count();
            assert!(rows > 0, "{title}: no numbers");
        }
    }
}
