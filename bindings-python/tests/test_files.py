"""Operations on files for the developer's code, and the tool for hosts other than Anthropic's."""

import pytest
from anthropic.types.beta import BetaToolUseBlock

from memdir import (
    ConfigError,
    Entry,
    GrepMatch,
    Memory,
    RefusedError,
    SensitiveMatch,
    SizedPath,
    image_type,
)


@pytest.fixture
def memory() -> Memory:
    memory = Memory("memory:")
    memory.write("/memories/drinks/tea.md", "# Tea\n- green\n")
    memory.write("/memories/todo.md", "Buy tea\n")
    return memory


def test_a_file_is_read_and_written_as_it_is(memory: Memory) -> None:
    text = memory.read("/memories/todo.md")
    assert text == "Buy tea\n"
    memory.write("/memories/todo.md", text + "Drink it\n", if_unchanged=text)
    with pytest.raises(RefusedError, match="does not hold what it was expected to hold"):
        memory.write("/memories/todo.md", "", if_unchanged=text)
    assert memory.read("/memories/todo.md") == "Buy tea\nDrink it\n"
    with pytest.raises(RefusedError, match=r"The path /memories/no does not exist"):
        memory.read("/memories/no")
    with pytest.raises(RefusedError, match="is a directory"):
        memory.write("/memories/drinks", "")


def test_a_file_is_read_as_a_model_may_see_it() -> None:
    memory = Memory("memory:", sensitive_on_view=True)
    memory.write("/memories/db.md", "url: postgres://app:t7Kq-9zLw2@db/app\n")
    assert "t7Kq-9zLw2" in memory.read("/memories/db.md")
    assert memory.read_shown("/memories/db.md") == (
        "url: postgres://app:[REDACTED:url-password]@db/app\n"
    )
    with pytest.raises(RefusedError, match=r"The path /memories/no does not exist"):
        memory.read_shown("/memories/no")


def test_whole_images_are_recognised() -> None:
    size = b"\0\0\0\1\0\0\0\1"
    png = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\x0dIHDR" + size + b"\x08\2\0\0\0" + b"sum."
    whole = png + b"\0\0\0\0IENDsum."
    assert image_type(whole) == "image/png"
    # A truncated image is not an image, whatever its first bytes are.
    assert image_type(png) is None
    assert image_type(b"# notes\n") is None
    assert image_type(b"") is None


def test_a_listing_has_entries(memory: Memory) -> None:
    assert [entry.path for entry in memory.list()] == ["/memories/drinks", "/memories/todo.md"]
    everything = memory.list(depth=None)
    assert [(entry.path, entry.size) for entry in everything] == [
        ("/memories/drinks", None),
        ("/memories/drinks/tea.md", 14),
        ("/memories/todo.md", 8),
    ]
    assert isinstance(everything[0], Entry)
    assert everything[2].modified is not None
    assert memory.exists("/memories/drinks")
    assert not memory.exists("/memories/no")
    with pytest.raises(RefusedError, match="would escape"):
        memory.exists("/memories/../etc")


def test_texts_and_patterns_are_found(memory: Memory) -> None:
    found = memory.grep("tea")
    assert [(m.path, m.line, m.text) for m in found] == [
        ("/memories/drinks/tea.md", None, "tea.md"),
        ("/memories/todo.md", 1, "Buy tea"),
    ]
    assert found[1] == GrepMatch("/memories/todo.md", 1, "Buy tea")
    match found[1]:
        case GrepMatch(path, line, text):
            assert (path, line, text) == ("/memories/todo.md", 1, "Buy tea")
    assert len(memory.grep("TEA", ignore_case=True)) == 3
    assert [m.line for m in memory.grep(r"^- \w+$", regex=True)] == [2]
    assert len(memory.grep("tea", limit=1)) == 1
    assert memory.grep("Buy", path="/memories/drinks") == []
    assert len({*found, *memory.grep("tea")}) == 2
    with pytest.raises(ConfigError, match="regex: "):
        memory.grep("(", regex=True)


def test_a_question_is_answered_with_passages(memory: Memory) -> None:
    memory.write("/memories/😀.md", "# 😀\n\n- 😀 trinkt grünen Tee\n")
    results = memory.search("wer trinkt Tee?", limit=1)
    assert results.files_left_out == 0
    [hit] = results.hits
    assert (hit.path, hit.modified is not None) == ("/memories/😀.md", True)
    passage = hit.passages[0]
    assert (passage.first_line, passage.last_line) == (1, 3)
    words = [passage.text[match.start : match.end] for match in passage.matches]
    assert words == ["trinkt", "Tee"]
    assert memory.view("/memories/😀.md", [passage.first_line, passage.last_line])
    assert memory.search("tea", path="/memories/drinks").hits[0].path == "/memories/drinks/tea.md"
    assert memory.search("nowhere").hits == ()
    assert hash(results) == hash(memory.search("wer trinkt Tee?", limit=1))
    with pytest.raises(RefusedError, match="does not exist"):
        memory.search("tea", path="/memories/no")
    limited = Memory("memory:", search_max_bytes=10, search_language="german", search_recency=60)
    limited.write("/memories/a.md", "tea")
    assert limited.search("tea").files_left_out == 1


def test_sensitive_text_is_found_and_not_shown() -> None:
    memory = Memory("memory:", sensitive_rules={"project": "Bluebird-[0-9]+"})
    memory.write("/memories/a.md", "one\nBluebird-7\nurl: postgres://app:t7Kq-9zLw2@db/app\n")
    memory.write("/memories/Bluebird-8/b.md", "nothing\n")
    found = memory.find_sensitive()
    assert [(m.path, m.line, m.rule) for m in found] == [
        ("/memories/Bluebird-8", None, "project"),
        ("/memories/a.md", 2, "project"),
        ("/memories/a.md", 3, "url-password"),
    ]
    assert found[1] == SensitiveMatch("/memories/a.md", 2, "project")
    match found[2]:
        case SensitiveMatch(path, line, rule):
            assert (path, line, rule) == ("/memories/a.md", 3, "url-password")
    assert memory.find_sensitive("/memories/a.md") == found[1:]
    assert memory.find_sensitive(limit=1) == found[:1]
    with pytest.raises(RefusedError, match="does not exist"):
        memory.find_sensitive("/memories/none")


def test_how_much_a_memory_holds(memory: Memory) -> None:
    stats = memory.stats()
    assert (stats.files, stats.directories, stats.bytes) == (2, 1, 22)
    assert stats.largest == SizedPath("/memories/drinks/tea.md", 14)
    assert stats.oldest is not None
    assert stats.newest is not None
    assert stats.oldest.path == "/memories/drinks/tea.md"
    assert stats.newest.path == "/memories/todo.md"
    assert stats.oldest.time <= stats.newest.time
    assert stats.least_recently_used is not None
    assert stats.history is None
    assert repr(stats).startswith("Stats(files=2, directories=1, bytes=22, largest=SizedPath(")
    assert stats == memory.stats()

    empty = Memory("memory:", history=True).stats()
    assert (empty.files, empty.largest, empty.oldest) == (0, None, None)
    assert empty.history is not None
    assert (empty.history.versions, empty.history.bytes) == (0, 0)


def test_an_index_is_bounded(memory: Memory) -> None:
    assert memory.index().splitlines() == [
        "/memories/todo.md\t8B\tBuy tea",
        "/memories/drinks/tea.md\t14B\t# Tea",
    ]
    assert memory.index(40) == "[2 more files are not listed here.]\n"


def test_the_tool_is_declared_for_other_hosts(memory: Memory) -> None:
    one = memory.tool_definition("openai")
    assert (one["type"], one["name"], one["strict"]) == ("function", "memory", True)
    six = memory.tool_definitions("anthropic-custom", prefix="memory_")
    assert [tool["name"] for tool in six][:2] == ["memory_view", "memory_create"]
    with pytest.raises(ConfigError, match='dialect must be "json-schema", '):
        memory.tool_definition("yaml")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="prefix must be"):
        memory.tool_definitions(prefix="a b")


def test_a_whole_tool_use_block_is_understood(memory: Memory) -> None:
    command = {"command": "view", "path": "/memories/todo.md"}
    block = {"type": "tool_use", "id": "toolu_1", "name": "memory", "input": command}
    expected = memory.execute(command)
    assert not expected.is_error
    assert memory.execute(block) == expected
    assert memory.execute(BetaToolUseBlock.model_validate(block)) == expected
    # A command with such a field is still a command. A block without an input is not a block.
    assert memory.execute({**command, "type": "tool_use", "input": {}}) == expected
    assert memory.execute({"type": "tool_use", "input": "x"}).is_error


def test_a_project_is_laid_out_once(memory: Memory) -> None:
    features = ["a list of teas", "a basket"]
    made = memory.bootstrap(about="A shop.", features=features, init="make serve")
    assert made == [f"/memories/{name}.md" for name in ("progress", "features", "init")]
    assert memory.read("/memories/features.md").endswith("- [ ] a list of teas\n- [ ] a basket\n")
    assert memory.bootstrap(about="", features=[]) == []


def test_views_are_forgotten() -> None:
    memory = Memory("memory:", stale_guard="strict")
    memory.create("/memories/a", "one\n")
    memory.insert("/memories/a", 1, "two")
    memory.forget_views()
    with pytest.raises(RefusedError, match="may no longer be in this conversation"):
        memory.insert("/memories/a", 1, "three")


def test_a_path_of_ones_own_code_is_refused_with_a_hint(memory: Memory) -> None:
    with pytest.raises(RefusedError, match=r"Did you mean /memories/todo\.md\?$"):
        memory.read("todo.md")
    assert "Did you mean" not in memory.execute({"command": "view", "path": "todo.md"}).content
