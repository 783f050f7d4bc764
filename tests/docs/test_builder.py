"""Tests of docs/builder with small pages."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "docs"))

from builder import links, lists, models, page, pages, published, styles, tabs


def block(language, code="x"):
    return f"```{language}\n{code}\n```\n"


class Tabs(unittest.TestCase):
    def labels(self, text):
        made = tabs.joined(text)
        return [
            line.split('"')[1] for line in made.splitlines() if line.startswith("===")
        ]

    def test_blocks_that_follow_each_other_become_tabs(self):
        text = f"Before.\n\n{block('python')}\n<!-- a test -->\n{block('ts')}\nAfter.\n"
        self.assertEqual(self.labels(text), ["Python", "TypeScript"])
        self.assertNotIn("a test", tabs.joined(text))
        self.assertIn("    ```ts\n    x\n    ```\n", tabs.joined(text))

    def test_an_example_of_pythons_prompt_is_one_of_them(self):
        text = f"    >>> 1 + 1\n    2\n\n<!-- kotlin -->\n{block('kotlin')}"
        self.assertEqual(self.labels(text), ["Python", "Kotlin"])
        self.assertIn(
            "    ```pycon\n    >>> 1 + 1\n    2\n    ```\n", tabs.joined(text)
        )

    def test_what_does_not_belong_together_stays_apart(self):
        for text in (
            f"{block('python')}\nIt prints\n\n{block('ts')}",
            f"{block('python')}\n{block('text')}",
            f"{block('python')}\n{block('python')}",
        ):
            self.assertEqual(self.labels(text), [], text)
            self.assertEqual(tabs.joined(text).count("```"), 4)

    def test_the_same_language_begins_another_group(self):
        text = "\n".join(map(block, ["python", "go", "python", "go"]))
        self.assertEqual(self.labels(text), ["Python", "Go", "Python", "Go"])


class Lists(unittest.TestCase):
    def test_a_list_may_follow_a_paragraph(self):
        self.assertEqual(lists.indented("Text:\n- one\n- two"), "Text:\n\n- one\n- two")

    def test_an_item_may_follow_a_paragraph_of_the_item_above(self):
        text = "- one\n\n  More.\n- two"
        self.assertEqual(lists.indented(text), "- one\n\n    More.\n\n- two")

    def test_an_item_below_an_item_is_indented_by_four(self):
        text = "1. one\n   - a\n     more\n   - b\n2. two"
        made = "1. one\n    - a\n        more\n    - b\n2. two"
        self.assertEqual(lists.indented(text), made)

    def test_code_is_left_alone(self):
        for text in (
            "    >>> a\n     - one\n    + two\n    3",
            block("text", "- one\n  - two"),
        ):
            self.assertEqual(lists.indented(f"Text.\n\n{text}"), f"Text.\n\n{text}")


class Links(unittest.TestCase):
    def rewritten(self, target):
        places = {
            "docs/a/b.md": "a/b.md",
            "docs/c.md": "c.md",
            "CONTRIBUTING.md": "contributing/index.md",
        }
        text = links.rewritten(f"[x]({target})", "docs/a/b.md", places, "https://host")
        return text.removeprefix("[x](").removesuffix(")")

    def test_links_lead_to_pages_of_the_site_or_to_the_code_host(self):
        for target, to in {
            "../c.md#d": "../c.md#d",
            "../../CONTRIBUTING.md": "../contributing/index.md",
            "../pictures/p.png": "../pictures/p.png",
            "../../core/src/lib.rs": "https://host/blob/main/core/src/lib.rs",
            "../../examples/ios/": "https://host/tree/main/examples/ios",
            "https://elsewhere": "https://elsewhere",
            "#here": "#here",
        }.items():
            self.assertEqual(self.rewritten(target), to)


class Pages(unittest.TestCase):
    def test_the_first_sentence_is_the_description(self):
        text = "# T\n<!-- c -->\n\nIt is: `a`, with [b](c.md). `d` is more.\n\n## H\n"
        made = page.Page("a.md", "docs/a.md", text)
        self.assertEqual((made.title, made.description), ("T", "It is: a, with b."))

    def test_a_page_that_asks_or_is_not_in_the_navigation_is_named(self):
        asks = page.Page("a.md", "docs/a.md", "# T\n\nWhat is this for you?\n")
        lost = page.Page("b.md", "docs/b.md", "# T\n\nThis is a page.\n")
        found = pages.problems([asks, lost], {"a.md": "", "c.md": ""})
        self.assertEqual(
            [problem.partition(":")[0] for problem in found],
            ["docs/mkdocs.yml", "docs/a.md", "docs/b.md"],
        )

    def test_the_navigation_has_sections(self):
        text = (
            "nav:\n  - Home: index.md\n  - A:\n      - a/index.md\n      - B: a/b.md\n"
        )
        made = {"index.md": "", "a/index.md": "A", "a/b.md": "A"}
        self.assertEqual(pages.navigation(text), made)

    def test_the_editions_for_models_name_every_page(self):
        made = [
            page.Page(place, f"docs/{place}", f"# {place}\n\nIt is {place}.\n")
            for place in ("index.md", "a/index.md", "contributing/index.md")
        ]
        sections = {"index.md": "", "a/index.md": "A", "contributing/index.md": "C"}
        site = pages.Site("https://s/", "https://host", made, sections)
        for address in ("https://s/", "https://s/a/", "https://s/contributing/"):
            self.assertIn(f"]({address}): ", models.index(site))


class Published(unittest.TestCase):
    def test_rules_for_what_is_nowhere_go(self):
        sheet = '@charset "x";.a,.b .c{d:e}.b:not(.c){f:url("g{")}@media h{.c{i:j}.a{k:l}}@font-face{m:n}o{p:q}.c{r:s}'
        made = '@charset "x";.a{d:e}.b:not(.c){f:url("g{")}@media h{.a{k:l}}@font-face{m:n}o{p:q}'
        self.assertEqual(styles.pruned(sheet, {"a", "b"}), made)

    def test_the_search_has_prose_and_short_code(self):
        code = "<pre><code>memdir tree</code></pre>"
        lines = "line\n" * 5
        long = f"<pre>{lines}</pre>"
        items = [
            {"location": "a/", "text": f"<p>One <code>two</code></p>{code}{long}"},
            {"location": "contributing/", "text": "three"},
            {"location": "a/#where-to-go-on", "text": "four"},
        ]
        [found] = published.searched({"items": items})["items"]
        self.assertEqual(found["text"], "One two memdir tree")

    def test_what_is_verbatim_stays(self):
        text = '<p> a  <b class="c d">e</b>\n</p><pre>  f\n\n g</pre> <a href="../h/"> i</a>'
        made = '<p>a <b class="c d">e</b></p><pre>  f\n\n g</pre> <a href=../h/> i</a>'
        self.assertEqual(published.smaller(text), made)


unittest.main()
