"""What all pages share: templates that escape everything, and a policy by which nothing else is loaded."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

_TEMPLATES = Path(__file__).parent / "templates"


@lru_cache(maxsize=4)
def template(name: str) -> Template:
    """Return a template; what is put into it is escaped, and what is missing is an error."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name)


def asset(name: str) -> str:
    """Return the text of a style sheet or script."""
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def policy(style: str, script: str | None = None) -> str:
    """Return a content security policy that allows these texts and nothing else."""
    scripts = "" if script is None else f"script-src '{_digest(script)}'; "
    return f"default-src 'none'; style-src '{_digest(style)}'; {scripts}base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
