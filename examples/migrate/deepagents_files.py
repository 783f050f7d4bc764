"""Copies the files of one backend of deepagents to another one."""

from __future__ import annotations

from deepagents.backends.protocol import BackendProtocol


def copy_files(source: BackendProtocol, destination: BackendProtocol) -> list[str]:
    """Copies all files, replaces existing ones, and returns the paths that were not copied."""
    found = source.glob("**/*", "/")
    if found.error:
        raise OSError(found.error)
    paths = [info["path"] for info in found.matches or [] if not info.get("is_dir")]
    read = source.download_files(paths)
    written = destination.upload_files(
        [(file.path, file.content) for file in read if file.content is not None]
    )
    return [file.path for file in [*read, *written] if file.error]
