"""Versions: of Python packages that decide what a history looks like."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

_PACKAGES = (
    "sixfold",
    "langchain",
    "langchain-core",
    "langgraph",
    "langgraph-checkpoint",
    "hypothesis",
    "langchain-openai",
    "langchain-anthropic",
)


def installed_versions() -> dict[str, str]:
    """Return the versions of the packages that decide what a history looks like."""
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
