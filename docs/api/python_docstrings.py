"""Prepares the docstrings and signatures of the Python package for its reference, as an extension of Griffe.

The stubs have overloads without an implementation, `__new__` instead of `__init__`, and examples as doctests. A
name in backticks becomes a link if the package has it.
"""

import copy
import re

import griffe

NAME = re.compile(r"(?<![`\w\[])`([A-Za-z_]\w*(?:\.\w+)*)(\(\))?`(?![`\w\]])")


class Docstrings(griffe.Extension):
    """Changes a package after it is loaded."""

    def on_package(self, *, pkg, loader, **_):
        """Changes every public object of the package."""
        loader.resolve_aliases(implicit=True, external=False)
        self.public = {name: pkg[name] for name in pkg.exports}
        for module in pkg.modules.values():
            complete(module)
        pkg.docstring.value = fenced(pkg.docstring.value)
        for name, found in self.public.items():
            self.change(found.final_target, f"memdir.{name}", found.final_target)
        for module in [pkg["testing"], *pkg["integrations"].modules.values()]:
            for member in module.members.values():
                if not member.is_alias:
                    self.change(member, member.path, None)

    def change(self, found, path, owner):
        """Changes the docstring of an object with this public path, and those of its members."""
        if found.docstring:
            found.docstring.value = fenced(found.docstring.value, lambda text: self.linked(text, found, path, owner))
        if found.is_class:
            for member in found.members.values():
                if not member.is_alias:
                    self.change(member, f"{path}.{member.name}", found)

    def linked(self, text, found, path, owner):
        """The text, in which names of the package are links. Inside a class its own members come first."""
        own = path.rpartition(".")[0] if found is not owner else path
        arguments = {parameter.name for parameter in found.parameters} if found.is_function or found.is_class else set()

        def link(named):
            name = named[1]
            first, _, member = name.partition(".")
            if name in arguments:
                return named[0]
            if owner is not None and owner.is_class and name in owner.members and not name.startswith("_"):
                to = f"{own}.{name}"
            elif first in self.public and (not member or member in self.public[first].all_members):
                to = f"memdir.{name}"
            else:
                return named[0]
            return named[0] if to == path else f"[{named[0]}][{to}]"

        return NAME.sub(link, text)


def complete(container):
    """Gives functions that have only overloads an implementation, and classes `__init__` for `__new__`."""
    for name, overloads in container.overloads.items():
        if overloads and name not in container.members:
            whole = copy.copy(overloads[-1])
            whole.overloads = overloads[:-1] or None
            container.set_member(name, whole)
    if container.is_class and "__new__" in container.members and "__init__" not in container.members:
        made = container.members.pop("__new__")
        for function in [made, *(made.overloads or [])]:
            function.name, function.returns = "__init__", None
        container.set_member("__init__", made)
    for member in list(container.members.values()):
        if not member.is_alias and member.is_class:
            complete(member)


def fenced(docstring, changed=lambda text: text):
    """The docstring with its doctests as blocks of code, and with other text changed."""
    parts = re.split(r"^((?:(?: *>>> ).*\n?)(?:.+\n?)*)", docstring, flags=re.MULTILINE)
    for number, part in enumerate(parts):
        if number % 2:
            indent = part[: len(part) - len(part.lstrip())]
            parts[number] = f"{indent}```pycon\n{part.rstrip()}\n{indent}```\n"
        else:
            parts[number] = changed(part)
    return "".join(parts)
