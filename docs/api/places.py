"""The languages that have an API reference, and the places of the references."""

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent.parent
LANGUAGES = json.loads((ROOT / "docs/api/languages.json").read_text("utf-8"))
BUILT = ROOT / "target/reference"
# The figures of each build.
RECORDS = ROOT / "target/reference-source"
SITE = ROOT / "target/site"
# Below the address of the site.
PLACE = "reference/api"
# The path of that place on its host.
ADDRESS = re.search(r"^site_url: (\S+)$", (ROOT / "docs/mkdocs.yml").read_text("utf-8"), re.MULTILINE)[1]
BASE = urlsplit(ADDRESS).path + PLACE

REDIRECT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>memdir for {name}</title>
<meta http-equiv="refresh" content="0; url={start}">
<p><a href="{start}">memdir for {name}</a></p>
"""
