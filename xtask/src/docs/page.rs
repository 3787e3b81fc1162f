//! What a page holds that can be wrong.

use std::collections::{BTreeMap, BTreeSet};

use pulldown_cmark::{BrokenLink, CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

/// A page in Markdown, as GitHub reads it.
#[derive(Clone, Debug, Default)]
pub(super) struct Page {
    /// Names of its headings in links.
    pub(super) anchors: BTreeSet<String>,
    /// In the order of the page.
    pub(super) links: Vec<Link>,
    /// In the order of the page.
    pub(super) samples: Vec<Sample>,
    /// Line and sentence.
    pub(super) mistakes: Vec<(usize, String)>,
}

/// A link or the address of a picture.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// From 1.
    pub(super) line: usize,
    pub(super) target: String,
}

/// A block of commands.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// Line of its first command, from 1.
    pub(super) line: usize,
    pub(super) kind: Kind,
    pub(super) text: String,
    /// Why it is not run: the comment `<!-- not run: REASON -->` before it.
    pub(super) not_run: Option<String>,
}

/// What the language of a block says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// `sh`: a script that ends well.
    Shell,
    /// `console`: commands behind `$ `, each with what it prints.
    Console,
}

impl Page {
    /// Reads a page. Nothing fails: what is wrong is in `mistakes`.
    pub(super) fn read(text: &str) -> Self {
        let mut page = Self::default();
        let mut reader = Reader::default();
        let mut broken = Vec::new();
        let mut note_broken = |link: BrokenLink<'_>| -> Option<(CowStr<'_>, CowStr<'_>)> {
            if link.link_type == LinkType::Reference {
                broken.push((link.span.start, link.reference.to_string()));
            }
            None
        };
        let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH;
        let parser = Parser::new_with_broken_link_callback(text, options, Some(&mut note_broken));
        for (event, range) in parser.into_offset_iter() {
            reader.take(&mut page, event, line_of(text, range.start));
        }
        reader.expect_no_mark(&mut page);
        for (at, name) in broken {
            page.mistakes.push((line_of(text, at), format!("link `[{name}]` has no address")));
        }
        page
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).map_or(0, |before| before.matches('\n').count()).saturating_add(1)
}

/// What the events before this one left open.
#[derive(Default)]
struct Reader {
    heading: Option<String>,
    block: Option<Block>,
    /// Line and reason of a comment whose block has to come next.
    mark: Option<(usize, String)>,
    /// How often each name of a heading occurred.
    names: BTreeMap<String, usize>,
}

struct Block {
    line: usize,
    kind: Option<Kind>,
    text: String,
    not_run: Option<String>,
}

impl Reader {
    fn take(&mut self, page: &mut Page, event: Event<'_>, line: usize) {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => self.open(page, &kind, line),
            Event::End(TagEnd::CodeBlock) => self.close(page),
            Event::Start(Tag::Heading { .. }) => {
                self.expect_no_mark(page);
                self.heading = Some(String::new());
            }
            Event::End(TagEnd::Heading(_)) => {
                let name = slug(&self.heading.take().unwrap_or_default());
                let count = self.names.entry(name.clone()).or_default();
                page.anchors.insert(if *count == 0 { name } else { format!("{name}-{count}") });
                *count = count.saturating_add(1);
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                page.links.push(Link { line, target: dest_url.into_string() });
            }
            Event::Start(Tag::Paragraph | Tag::List(_) | Tag::Table(_) | Tag::BlockQuote(_)) => {
                self.expect_no_mark(page);
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(block) = &mut self.block {
                    block.text.push_str(&text);
                } else if let Some(heading) = &mut self.heading {
                    heading.push_str(&text);
                }
            }
            Event::Html(html) | Event::InlineHtml(html) => self.html(page, &html, line),
            _ => {}
        }
    }

    fn html(&mut self, page: &mut Page, html: &str, line: usize) {
        if let Some(comment) = html.trim().strip_prefix("<!--") {
            let comment = comment.trim_end_matches("-->").trim();
            if let Some(reason) = comment.strip_prefix("not run") {
                self.expect_no_mark(page);
                self.mark = Some((line, reason.trim_start_matches(':').trim().to_owned()));
            }
            return;
        }
        for attribute in ["href=\"", "src=\""] {
            for piece in html.split(attribute).skip(1) {
                let target = piece.split('"').next().unwrap_or_default().to_owned();
                page.links.push(Link { line, target });
            }
        }
    }

    fn open(&mut self, page: &mut Page, kind: &CodeBlockKind<'_>, line: usize) {
        let not_run = self.mark.take();
        if let Some((line, reason)) = &not_run
            && reason.is_empty()
        {
            page.mistakes.push((*line, "`not run` without a reason: write `<!-- not run: REASON -->`".to_owned()));
        }
        let language = match kind {
            CodeBlockKind::Fenced(language) => language.split([',', ' ']).next().unwrap_or_default(),
            CodeBlockKind::Indented => "",
        };
        let kind = match language {
            "sh" => Some(Kind::Shell),
            "console" => Some(Kind::Console),
            "bash" | "shell" | "zsh" => {
                page.mistakes
                    .push((line, format!("a block in `{language}`: write `sh`, or `console` with what it prints")));
                None
            }
            "" => {
                page.mistakes.push((line, "a block without a language: `text` if it has none".to_owned()));
                None
            }
            _ => None,
        };
        let not_run = not_run.map(|(_, reason)| reason);
        self.block = Some(Block { line: line.saturating_add(1), kind, text: String::new(), not_run });
    }

    fn close(&mut self, page: &mut Page) {
        let Some(Block { line, kind, text, not_run }) = self.block.take() else { return };
        if let Some(kind) = kind {
            page.samples.push(Sample { line, kind, text, not_run });
        }
    }

    fn expect_no_mark(&mut self, page: &mut Page) {
        if let Some((line, _)) = self.mark.take() {
            page.mistakes.push((line, "`not run` stands before no block".to_owned()));
        }
    }
}

/// The name of a heading in links, as GitHub makes it.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter_map(|character| match character {
        ' ' => Some('-'),
        '-' | '_' => Some(character),
        _ => character.is_alphanumeric().then_some(character),
    });
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# What `run` does, in 1.36
<!-- not run: needs a cluster -->
```sh
kubectl get pods
```
text [a](x.md#y) ![b](p.png) <a href=\"z.md\">z</a>

```console
$ apportion run -f x.yaml
```
## Same
## Same
";

    #[test]
    fn headings_links_and_samples_are_found() {
        let page = Page::read(PAGE);
        assert_eq!(page.mistakes, []);
        let anchors: Vec<&str> = page.anchors.iter().map(String::as_str).collect();
        assert_eq!(anchors, ["same", "same-1", "what-run-does-in-136"]);
        let links: Vec<(usize, &str)> = page.links.iter().map(|link| (link.line, link.target.as_str())).collect();
        assert_eq!(links, [(6, "x.md#y"), (6, "p.png"), (6, "z.md")]);
        let samples: Vec<_> =
            page.samples.iter().map(|sample| (sample.line, sample.kind, sample.not_run.as_deref())).collect();
        assert_eq!(samples, [(4, Kind::Shell, Some("needs a cluster")), (9, Kind::Console, None)]);
    }

    #[test]
    fn planted_errors_are_found() {
        let cases = [
            ("text\n\n<!-- not run -->\n```sh\nx\n```\n", 3, "without a reason"),
            ("<!-- not run: because -->\n\ntext\n", 1, "before no block"),
            ("text\n\n<!-- not run: because -->\n", 3, "before no block"),
            ("```\nx\n```\n", 1, "without a language"),
            ("text\n\n    apportion run\n", 3, "without a language"),
            ("```bash\nx\n```\n", 1, "`bash`"),
            ("see [the page][nowhere]\n", 1, "no address"),
        ];
        for (text, line, part) in cases {
            let found = Page::read(text).mistakes;
            assert!(
                matches!(found.as_slice(), [(at, what)] if *at == line && what.contains(part)),
                "{text}: {found:?}"
            );
        }
        // Indexes are no links.
        assert_eq!(Page::read("`a[0][1]` and constraints[0]\n").mistakes, []);
    }
}
