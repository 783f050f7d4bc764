//! Renders Markdown as HTML, from a text that may contain anything.
//!
//! There are two safeguards: HTML in the text stays text, and the result is sanitized with a list of allowed tags and attributes. A link
//! leads to a file of the memory or, marked as such, to another site. An image from another site would tell its server that the page was
//! viewed, so it becomes a link.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use maud::{Markup, PreEscaped};
use percent_encoding::percent_decode_str;
use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

use super::odd::spelled;
use super::{link, link_to};
use memdir::path::MemoryPath;

/// Renders the Markdown of the file at `path`.
pub(in crate::page) fn markdown(room: usize, path: &MemoryPath, text: &str) -> Markup {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut pictures = Vec::new();
    let events = Parser::new_ext(text, options).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) | Event::Text(text) => {
            Event::Text(spelled(&text).into_owned().into())
        }
        Event::Code(text) => Event::Code(spelled(&text).into_owned().into()),
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        Event::Start(Tag::Link { link_type: LinkType::Email, dest_url, .. }) => {
            Event::Start(to(&format!("mailto:{dest_url}")))
        }
        Event::Start(Tag::Link { dest_url, .. }) => {
            Event::Start(to(&destination(room, path, &dest_url, "file")))
        }
        Event::Start(Tag::Image { dest_url, .. }) => {
            let dest_url = destination(room, path, &dest_url, "image");
            let is_ours = dest_url.starts_with('/');
            pictures.push(is_ours);
            if !is_ours {
                return Event::Start(to(&dest_url));
            }
            let (title, id) = (CowStr::Borrowed(""), CowStr::Borrowed(""));
            Event::Start(Tag::Image {
                link_type: LinkType::Inline,
                dest_url: dest_url.into(),
                title,
                id,
            })
        }
        Event::End(TagEnd::Image) if pictures.pop() == Some(false) => Event::End(TagEnd::Link),
        event => event,
    });
    let mut html = String::with_capacity(text.len() * 2);
    pulldown_cmark::html::push_html(&mut html, events);
    PreEscaped(CLEAN.clean(&html).to_string())
}

fn to(address: &str) -> Tag<'static> {
    let (title, id) = (CowStr::Borrowed(""), CowStr::Borrowed(""));
    Tag::Link { link_type: LinkType::Inline, dest_url: address.to_owned().into(), title, id }
}

/// The target of a link: a place on the same page, an allowed address on another site, or a file of the memory, as
/// an address of this page. Everything else becomes `#`, which leads nowhere.
fn destination(room: usize, path: &MemoryPath, given: &str, page: &str) -> String {
    if given.starts_with('#') {
        return given.to_owned();
    }
    if let Some(scheme) = scheme(given) {
        // `http:x` would be relative to this page. Control characters or spaces before the scheme would disguise the address.
        let address = given.get(scheme.len()..).filter(|rest| match &*scheme {
            "http" | "https" => rest.starts_with("://"),
            "mailto" => rest.starts_with(':'),
            _ => false,
        });
        return address.map_or_else(|| "#".to_owned(), |rest| scheme + rest);
    }
    match file(path, given) {
        Some(file) if page == "file" => link_to(room, &file),
        Some(file) => link(room, page, &[("path", file.as_str())]),
        None => "#".to_owned(),
    }
}

/// The scheme of an address as a browser parses it, in lower case: leading control characters and spaces, and all tabs and line
/// breaks, are ignored. `None` if the address is relative.
fn scheme(given: &str) -> Option<String> {
    let given = given.trim_start_matches(|c: char| c <= ' ');
    let mut scheme = String::new();
    for c in given.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')) {
        match c {
            'a'..='z' | 'A'..='Z' => scheme.push(c.to_ascii_lowercase()),
            '0'..='9' | '+' | '-' | '.' if !scheme.is_empty() => scheme.push(c),
            ':' if !scheme.is_empty() => return Some(scheme),
            _ => return None,
        }
    }
    None
}

/// The file of the memory that a link in the file at `path` refers to.
fn file(path: &MemoryPath, given: &str) -> Option<MemoryPath> {
    let given = given.split(['#', '?']).next().unwrap_or_default();
    let given = percent_decode_str(given).decode_utf8().ok()?;
    let (mut at, names) = match given.strip_prefix("/memories") {
        Some(below) if below.is_empty() || below.starts_with('/') => (MemoryPath::root(), below),
        _ if given.starts_with('/') => return None,
        _ => (path.parent()?, &*given),
    };
    for name in names.split('/') {
        at = match name {
            "" | "." => at,
            ".." => at.parent()?,
            name => at.join(name).ok()?,
        };
    }
    Some(at)
}

/// The allowed HTML.
static CLEAN: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let tags = HashSet::from([
        "a",
        "blockquote",
        "br",
        "code",
        "del",
        "em",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "img",
        "input",
        "li",
        "ol",
        "p",
        "pre",
        "strong",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "ul",
    ]);
    let mut clean = Builder::default();
    clean
        .tags(tags)
        .generic_attributes(HashSet::new())
        .add_tag_attributes("img", ["alt", "src"])
        .add_tag_attributes("ol", ["start"])
        .add_tag_attribute_values("input", "type", ["checkbox"])
        .add_tag_attribute_values("input", "checked", [""])
        .set_tag_attribute_value("input", "disabled", "")
        .set_tag_attribute_value("input", "aria-label", "Task")
        .set_tag_attribute_value("img", "loading", "lazy")
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(UrlRelative::Custom(Box::new(on_this_page)))
        .link_rel(Some("noopener noreferrer nofollow"));
    clean
});

/// Allows only the relative addresses that [`destination`] makes.
fn on_this_page(address: &str) -> Option<Cow<'_, str>> {
    let is_below = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    let is_ours = address.starts_with('#') || address.strip_prefix('/').is_some_and(is_below);
    is_ours.then_some(Cow::Borrowed(address))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rendered(text: &str) -> String {
        let path = MemoryPath::parse("/memories/team/a.md").unwrap();
        markdown(1, &path, text).into_string()
    }

    #[test]
    fn markdown_is_rendered() {
        let html = rendered("# Tea\n\n- [x] **green**\n\n| a | b |\n|---|---|\n| 1 | `2` |\n");
        for part in ["<h1>Tea</h1>", "<strong>green</strong>", "<td><code>2</code></td>", "checked"]
        {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn links_lead_to_files_of_the_memory_or_elsewhere() {
        for (given, leads) in [
            ("b.md", "/1/file?path=/memories/team/b.md"),
            ("../c%20d.md#top", "/1/file?path=/memories/c%20d.md"),
            ("../../../etc/passwd", "#"),
            ("x/..%2f..%2f../y", "#"),
            ("/memories/e.md", "/1/file?path=/memories/e.md"),
            ("/etc/passwd", "#"),
            ("//example.com/x", "#"),
            ("https://example.com/x", "https://example.com/x"),
            ("HTTPS://example.com/x", "https://example.com/x"),
            ("mailto:me@example.com", "mailto:me@example.com"),
            ("1:2.md", "/1/file?path=/memories/team/1%3A2.md"),
            ("./a:b.md", "/1/file?path=/memories/team/a%3Ab.md"),
            ("#top", "#top"),
        ] {
            let html = rendered(&format!("[x]({given})"));
            let wanted = format!("href=\"{leads}\"");
            assert!(html.contains(&wanted), "{given}: {html}");
        }
    }

    #[test]
    fn an_address_for_mail_leads_to_mail() {
        let html = rendered("<me@example.com>");
        assert!(html.contains("href=\"mailto:me@example.com\""), "{html}");
    }

    /// Each one as a link and as an image: it leads to this page or nowhere, whatever surrounds the scheme.
    #[test]
    fn an_address_that_only_resembles_one_with_a_scheme_leads_nowhere_else() {
        let ours = |page: &str, name: &str| format!("=\"/1/{page}?path=/memories/team/{name}\"");
        for (given, name) in [
            // Not a scheme, so a file name.
            (">javascript:", Some("%3Ejavascript%3A")),
            (r"<\>javascript:>", Some("%3Ejavascript%3A")),
            ("%6aavascript:x", Some("javascript%3Ax")),
            ("jav\u{e4}script:x", Some("jav%C3%A4script%3Ax")),
            ("+javascript:x", Some("%2Bjavascript%3Ax")),
            // A browser parses a scheme here, but not an allowed one.
            ("javascript:x", None),
            ("JavaScript:x", None),
            ("<\tjavascript:x>", None),
            ("&#1;javascript:x", None),
            ("java&#9;script:x", None),
            ("java&NewLine;script:x", None),
            ("javascript&colon;x", None),
            ("data:text/html,x", None),
            ("blob:http://example.com/x", None),
            ("a:b", None),
            // An allowed scheme, but the address is relative or has another start.
            ("http:x", None),
            ("https:x", None),
            ("http:/1/delete", None),
            (r"http:\\example.com", None),
            ("&#9;http://example.com", None),
            ("ht&#9;tp://example.com", None),
            ("<&#32;https://example.com>", None),
            // Another host.
            ("//example.com", None),
            ("//example.com/javascript:", None),
        ] {
            let link = rendered(&format!("[x]({given})"));
            let picture = rendered(&format!("![x]({given})"));
            match name {
                Some(name) => {
                    assert!(link.contains(&ours("file", name)), "{given}: {link}");
                    assert!(picture.contains(&ours("image", name)), "{given}: {picture}");
                }
                None => {
                    for html in [link, picture] {
                        assert!(html.contains("<a href=\"#\""), "{given}: {html}");
                        assert_eq!(html.matches("=\"").count(), 2, "{given}: {html}");
                    }
                }
            }
        }
    }

    #[test]
    fn of_relative_addresses_only_those_of_this_page_stay() {
        for (address, stays) in [
            ("/1/file?path=/memories/a.md", true),
            ("#", true),
            ("#javascript:x", true),
            ("", false),
            ("x", false),
            ("%3Ejavascript:", false),
            ("/x", false),
            ("//example.com", false),
            (r"/\example.com", false),
        ] {
            assert_eq!(on_this_page(address).is_some(), stays, "{address}");
        }
    }

    #[test]
    fn no_html_and_no_dangerous_address_comes_through() {
        for text in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "<iframe src=https://example.com></iframe>",
            "[x](javascript:alert(1))",
            "[x](data:text/html,<script>)",
            "[x](JaVaScRiPt:alert(1))",
            "<style>*{display:none}</style>",
            "<a href=javascript:x>y</a>",
            "[x]: javascript:alert(1)\n\n[x]",
            "<javascript:alert(1)>",
        ] {
            let html = rendered(text);
            assert!(
                !html.contains("<script") && !html.contains("<img") && !html.contains("<iframe"),
                "{html}"
            );
            assert!(
                !html.contains("<style") && !html.to_lowercase().contains("href=\"javascript"),
                "{html}"
            );
            assert!(!html.contains("href=\"data:"), "{html}");
        }
        let html = rendered("![alt](https://example.com/x.png) ![own](b.png)");
        assert!(html.contains("href=\"https://example.com/x.png\""), "{html}");
        assert!(html.contains("src=\"/1/image?path=/memories/team/b.png\""), "{html}");
        assert_eq!(html.matches("<img").count(), 1, "{html}");
        assert!(rendered("a\u{202e}b").contains("⟨U+202E⟩"));
    }

    /// For any input, the result contains only allowed HTML, and every address leads to this page or is harmless.
    #[test]
    fn nothing_but_what_is_allowed_comes_out() {
        let pieces = prop::sample::select(vec![
            "<",
            ">",
            "\"",
            "'",
            "&",
            "&lt;",
            "&#x3c;",
            "script",
            "<svg onload=",
            "</p>",
            "<!--",
            "-->",
            "![",
            "[",
            "](",
            ")",
            "javascript:",
            "data:text/html,",
            "https://a",
            "http:",
            "mailto:",
            "//",
            ":",
            "%",
            "&#9;",
            "&colon;",
            "\n",
            "\n\n",
            "- ",
            "> ",
            "```",
            "`",
            "|",
            "---",
            "# ",
            "\\",
            "<a href=",
            "style=",
            "x onerror=y",
            "<![CDATA[",
            "<?php",
            "<x:y>",
            "[x]: ",
            "*",
            "_",
            "~~",
            "\t",
            "\0",
            "\u{202e}",
            "é",
        ]);
        let text = prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat());
        let tag = regex_lite::Regex::new("<(/?)([^\\s>]*)([^>]*)>").unwrap();
        let attribute = regex_lite::Regex::new(r#"([a-z:-]+)="([^"]*)""#).unwrap();
        proptest!(memdir_test_support::effort::cases(200), |(text in text)| {
            let html = rendered(&text);
            for found in tag.captures_iter(&html) {
                let (name, rest) = (&found[2], &found[3]);
                prop_assert!(CLEAN.clone_tags().contains(name), "{name} in {html}");
                for found in attribute.captures_iter(rest) {
                    let (name, value) = (&found[1], &found[2]);
                    prop_assert!(!name.starts_with("on") && name != "style", "{html}");
                    if name == "href" || name == "src" {
                        let starts = ["/1/", "https://", "http://", "mailto:", "#"];
                        prop_assert!(value.is_empty() || starts.iter().any(|start| value.starts_with(start)), "{html}");
                    }
                }
            }
        });
    }
}
