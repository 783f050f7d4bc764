"""The examples of docs/policies.md, and what is told about options that are wrong."""

from __future__ import annotations

import doctest

import pytest

import cases
from memdir import ConfigError, Memory


def test_the_examples_of_the_page() -> None:
    page = (cases.PROJECT / "docs" / "policies.md").read_text(encoding="utf-8")
    example = doctest.DocTestParser().get_doctest(page, {}, "policies.md", None, 0)
    assert example.examples
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example).failed == 0


def test_wrong_options_are_told_at_once() -> None:
    with pytest.raises(ConfigError, match="sensitive must be"):
        Memory("memory:", sensitive="yes")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match='the pattern of "badge" is not usable'):
        Memory("memory:", sensitive_rules={"badge": "("})
    with pytest.raises(ConfigError, match="an id must be"):
        Memory("memory:", sensitive_rules={"Badge": "x"})
    with pytest.raises(ConfigError, match="stale_guard must be"):
        Memory("memory:", stale_guard="always")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match='read_only_paths: the pattern "notes" does not start'):
        Memory("memory:", read_only_paths=["/memories/a", "notes"])
    with pytest.raises(ConfigError, match='writable_paths: the pattern "/memories/\\[a" is not valid'):
        Memory("memory:", writable_paths=["/memories/[a"])
    with pytest.raises(TypeError):
        Memory("memory:", read_only_paths="/memories/a")
    with pytest.raises(OverflowError):
        Memory("memory:", max_files=-1)
    with pytest.raises(TypeError):
        Memory("memory:", sensitive_rules=["x"])  # type: ignore[arg-type]
