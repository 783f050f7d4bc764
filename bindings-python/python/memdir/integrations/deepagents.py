"""A memory as a backend of deepagents (`pip install deepagents`)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, TypeVar, cast

from memdir._errors import MemdirError, RefusedError
from memdir.integrations._call import framework, without_await

with framework("deepagents"):
    from deepagents.backends.protocol import (
        BackendProtocol,
        DeleteResult,
        EditResult,
        FileDownloadResponse,
        FileUploadResponse,
        GlobResult,
        GrepResult,
        LsResult,
        ReadResult,
        WriteResult,
    )
    from deepagents.backends.utils import (
        InvalidGlobPatternError,
        compile_grep_include_glob,
        create_file_data,
        perform_string_replacement,
        slice_read_response,
    )

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from deepagents.backends.protocol import FileInfo, GrepMatch

    from memdir._async_memory import AsyncMemory
    from memdir._memdir import Memory
    from memdir._results import Entry

_ROOT = "/memories"
_IMAGES = (".png", ".jpg", ".jpeg")
# `grep` of a memory also counts matches of names, which this backend does not return.
_ALL = 2**31 - 1
# How many times an edit is tried when other writers change the file at the same time.
_TRIES = 10
# The sentences of a command whose store is broken.
_OUT_OF_REACH = "Error: The memory directory cannot be reached at the moment. "
_TRY_AGAIN = "Try again later."
_UNKNOWN = "The change may or may not have been saved: view the path before trying again."
_LOG = logging.getLogger("memdir")

R = TypeVar("R")


class MemoryBackend(BackendProtocol):
    """The files of a memory for the file tools of `create_deep_agent`.

    Route a directory to it: the agent's `/memories/notes.md` is then a file of the memory. The root
    `/` of the backend is `/memories`:

        backend = CompositeBackend(
            default=StateBackend(), routes={"/memories/": MemoryBackend(memory)}
        )

    The memory's options, policies and hooks apply, as for its commands. Nothing is raised: a
    refused operation and a broken store are results with an `error`.
    """

    def __init__(self, memory: Memory | AsyncMemory) -> None:
        self._memory = without_await(memory)

    def ls(self, path: str) -> LsResult:
        """The entries of a directory."""
        return self._try(path, self._ls, lambda error: LsResult(error=error))

    def _ls(self, path: str) -> LsResult:
        return LsResult(entries=[_info(entry) for entry in self._memory.list(path, depth=1)])

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        """Some lines of a file, or an image."""
        return self._try(
            file_path,
            lambda path: self._read(path, offset, limit),
            lambda error: ReadResult(error=error),
        )

    def _read(self, path: str, offset: int, limit: int) -> ReadResult:
        if path.lower().endswith(_IMAGES):
            shown = self._memory.view(path)
            if not isinstance(shown, str):
                data = shown[0]["source"]["data"]
                return ReadResult(file_data=create_file_data(data, encoding="base64"))
        return slice_read_response(create_file_data(self._memory.read(path)), offset, limit)

    def write(self, file_path: str, content: str) -> WriteResult:
        """Creates a file, or replaces its whole content."""

        def write(path: str) -> WriteResult:
            self._memory.write(path, content)
            return WriteResult(path=file_path)

        return self._try(file_path, write, lambda error: WriteResult(error=error), after=_UNKNOWN)

    def edit(
        self,
        file_path: str,
        old_string: str,
        new_string: str,
        replace_all: bool = False,
    ) -> EditResult:
        """Replaces a text in a file. A concurrent edit by another writer is never lost."""

        def edit(path: str) -> EditResult:
            for _ in range(_TRIES):
                text = self._memory.read(path)
                replaced = perform_string_replacement(text, old_string, new_string, replace_all)
                if isinstance(replaced, str):
                    return EditResult(error=replaced)
                new_text, count = replaced
                try:
                    self._memory.write(path, new_text, if_unchanged=text)
                except RefusedError:
                    if self._memory.read(path) == text:
                        raise
                else:
                    return EditResult(path=file_path, occurrences=count)
            return EditResult(error=f"Error: {file_path} is written all the time. Try again later.")

        return self._try(file_path, edit, lambda error: EditResult(error=error), after=_UNKNOWN)

    def delete(self, file_path: str) -> DeleteResult:
        """Deletes a file, or a directory with everything in it."""

        def delete(path: str) -> DeleteResult:
            self._memory.delete(path)
            return DeleteResult(path=file_path)

        return self._try(file_path, delete, lambda error: DeleteResult(error=error), after=_UNKNOWN)

    def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
    ) -> GrepResult:
        """Finds a literal text in the lines of files."""

        def grep(root: str) -> GrepResult:
            included = _matcher(glob, root)
            matches = [
                cast(
                    "GrepMatch",
                    {"path": _outside(match.path), "line": match.line, "text": match.text},
                )
                for match in self._memory.grep(pattern, path=root, limit=_ALL)
                if match.line is not None and included(match.path)
            ]
            cut = max_count is not None and len(matches) > max_count
            return GrepResult(matches=matches[:max_count], truncated=cut)

        return self._try(path or "/", grep, lambda error: GrepResult(error=error))

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Finds files by a pattern of their names."""

        def glob(root: str) -> GlobResult:
            included = _matcher(pattern, root)
            entries: Iterable[Entry] = self._memory.list(root, depth=None)
            return GlobResult(
                matches=[
                    _info(entry)
                    for entry in entries
                    if not entry.is_directory and included(entry.path)
                ]
            )

        return self._try(path or "/", glob, lambda error: GlobResult(error=error))

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Writes text files."""
        return [self._upload(path, content) for path, content in files]

    def _upload(self, path: str, content: bytes) -> FileUploadResponse:
        try:
            text = content.decode()
        except UnicodeDecodeError:
            return FileUploadResponse(path=path, error=f"Error: {path} is not a text")
        return FileUploadResponse(path=path, error=self.write(path, text).error)

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Reads whole text files."""
        return [self._download(path) for path in paths]

    def _download(self, path: str) -> FileDownloadResponse:
        def read(inside: str) -> FileDownloadResponse:
            return FileDownloadResponse(path=path, content=self._memory.read(inside).encode())

        return self._try(path, read, lambda error: FileDownloadResponse(path=path, error=error))

    def _try(
        self,
        path: str,
        work: Callable[[str], R],
        failed: Callable[[str], R],
        *,
        after: str = _TRY_AGAIN,
    ) -> R:
        """Returns the result of `work` on the path, or the error as the model may see it."""
        try:
            return work(_inside(path))
        except (RefusedError, InvalidGlobPatternError) as error:
            return failed(str(error))
        except MemdirError as error:
            # Its text reveals where the files are, so it goes to the log only.
            _LOG.error("a backend cannot do what it should: %s", error)
            return failed(_OUT_OF_REACH + after)


def _inside(path: str) -> str:
    """The memory's path. The memory itself refuses a path that leads outside."""
    return (_ROOT + "/" + path.lstrip("/")).rstrip("/")


def _outside(path: str) -> str:
    return path.removeprefix(_ROOT) or "/"


def _info(entry: Entry) -> FileInfo:
    path, is_directory = _outside(entry.path), entry.is_directory
    info: dict[str, object] = {"path": path + "/" * is_directory, "is_dir": is_directory}
    if entry.size is not None:
        info["size"] = entry.size
    if entry.modified is not None:
        info["modified_at"] = entry.modified.isoformat()
    return cast("FileInfo", info)


def _matcher(pattern: str | None, root: str) -> Callable[[str], bool]:
    """Returns a predicate: does a path match `pattern`, relative to the searched directory?"""
    if pattern is None:
        return lambda _: True
    matches = compile_grep_include_glob(pattern)
    return lambda path: matches(path.removeprefix(root).lstrip("/") or path.rpartition("/")[2])
