"""The examples of the pages about policies, and the errors about wrong options."""

from __future__ import annotations

import doctest
from base64 import b64encode
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

import cases
from memdir import ConfigError, Memory, RefusedError, open_store


@pytest.mark.parametrize(
    "page",
    [
        "docs/reference/policies/expiry.md",
        "docs/reference/policies/hooks.md",
        "docs/reference/policies/images.md",
        "docs/reference/policies/limits.md",
        "docs/reference/policies/sensitive-text.md",
        "docs/reference/policies/stale-guard.md",
        "docs/reference/policies/tracing.md",
        "docs/reference/policies/write-patterns.md",
    ],
)
def test_the_examples_of_the_page(page: str) -> None:
    text = (cases.PROJECT / page).read_text(encoding="utf-8")
    example = doctest.DocTestParser().get_doctest(text, {}, page, None, 0)
    assert example.examples
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example).failed == 0


def test_wrong_options_are_told_at_once() -> None:
    with pytest.raises(ConfigError, match="sensitive_text must be") as raised:
        Memory("memory:", sensitive_text="yes")  # type: ignore[call-overload]
    assert raised.value.option == "sensitive_text"
    with pytest.raises(ConfigError, match='the pattern of "badge" is not usable'):
        Memory("memory:", sensitive_rules={"badge": "("})
    with pytest.raises(ConfigError, match="an id must be"):
        Memory("memory:", sensitive_rules={"Badge": "x"})
    with pytest.raises(ConfigError, match="stale_guard must be"):
        Memory("memory:", stale_guard="always")  # type: ignore[call-overload]
    with pytest.raises(ConfigError, match='read_only_paths: the pattern "notes" does not start'):
        Memory("memory:", read_only_paths=["/memories/a", "notes"])
    with pytest.raises(ConfigError, match=r"writable_paths: the pattern .* is not valid"):
        Memory("memory:", writable_paths=["/memories/[a"])
    with pytest.raises(ConfigError, match="read_only_paths must be a sequence of str"):
        Memory("memory:", read_only_paths="/memories/a")
    with pytest.raises(ConfigError, match="sensitive_rules must be a dict of str"):
        Memory("memory:", sensitive_rules=["x"])  # type: ignore[call-overload]


def test_the_limit_of_claude_is_the_one_by_default() -> None:
    store = open_store("memory:")
    most = 3_932_160
    assert len(b64encode(bytes(most))) == 5 * 1024 * 1024
    for size, sentence in [
        (most, "holds no whole PNG or JPEG image"),
        (most + 1, "is an image of 3932161 bytes (3.8M), and an image of more than 3932160 bytes"),
    ]:
        store.write("/memories/a.png", bytes(size), overwrite=True)
        reply = Memory(store).execute({"command": "view", "path": "/memories/a.png"})
        assert reply.is_error
        assert sentence in str(reply.content)
    none = Memory(store, max_image_bytes=None)
    with pytest.raises(RefusedError, match="images cannot be shown here"):
        none.view("/memories/a.png")


def test_expiry_is_told_of_and_can_be_ended() -> None:
    memory = Memory("memory:", record_access=True, never_expire=["/memories/handbook"])
    for path in ("/memories/a.md", "/memories/handbook/b.md"):
        memory.create(path, "text\n")
    told: list[tuple[int, int]] = []
    [expired] = memory.expire(
        timedelta(0), dry_run=True, on_progress=lambda at: told.append((at.files, at.removed))
    )
    assert (expired.path, expired.bytes, told) == ("/memories/a.md", 5, [(2, 1)])
    assert expired.last_used is not None
    assert abs(datetime.now(timezone.utc) - expired.last_used) < timedelta(hours=1)
    with pytest.raises(ZeroDivisionError):
        memory.expire(0, on_progress=lambda at: at.files / 0)
    with pytest.raises(RefusedError):
        memory.view("/memories/a.md")
    assert memory.expire(0) == []


def test_a_callback_that_cannot_be_called_is_told_before_a_file_is_removed() -> None:
    memory = Memory("memory:", record_access=True)
    memory.create("/memories/a.md", "text\n")
    anything: Any = 5
    with pytest.raises(
        ConfigError, match="on_progress must be a function, or None, got 5"
    ) as raised:
        memory.expire(0, on_progress=anything)
    assert raised.value.option == "on_progress"
    assert memory.exists("/memories/a.md")


def test_wrong_options_of_expiry_are_told_at_once() -> None:
    for wrong in (-1, timedelta(seconds=-1), float("nan")):
        with pytest.raises(ConfigError, match="0 seconds or more"):
            Memory("memory:", expire_after=wrong)
    with pytest.raises(ConfigError, match=r'^expire_after must be .*, got "1"$'):
        Memory("memory:", expire_after="1")  # type: ignore[call-overload]
    with pytest.raises(ConfigError, match="never_expire: the pattern"):
        Memory("memory:", never_expire=["notes"])
    with pytest.raises(ConfigError, match="record_access cannot be set together with read_only"):
        Memory("memory:", record_access=True, read_only=True)
    with pytest.raises(ConfigError, match="open it with record_access"):
        Memory("memory:").expire(1)
