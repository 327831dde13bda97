"""The correct sibling of the catalogue's `deerflow-4080`: the same cut, with orphan results dropped."""

from __future__ import annotations

from dataclasses import replace

from sixfold.harness.candidate import Candidate, Middleware
from sixfold.harness.environment import Environment
from sixfold.models.deerflow_repair import DanglingCallRepair
from sixfold.models.deerflow_summarization import DEERFLOW_4080, DurableContext, Summarization


def build(environment: Environment) -> list[Middleware]:
    return [DanglingCallRepair(), DurableContext(), Summarization(environment, cut="count")]


CANDIDATE: Candidate = replace(DEERFLOW_4080, name="deerflow-count-cut", build=build)
