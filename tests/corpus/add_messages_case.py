"""L31 in plain Python: langgraph's `add_messages` itself, at versions that Sixfold does not run with.

langgraph 0.2 has no channels and no agent for a lane, so one update is folded by hand and judged by the
rule of `2.duplicate`: an id stands once. Nothing is searched for and nothing is shrunk here.
"""

from __future__ import annotations

import json
from collections import Counter

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph.message import add_messages


def main() -> None:
    update = [AIMessage("first", id="a1"), AIMessage("second", id="a1")]
    folded = add_messages([HumanMessage("ask", id="u1")], update)
    twice = [message_id for message_id, times in Counter(m.id for m in folded).items() if times > 1]
    print(json.dumps({"code": "2.duplicate" if twice else None}))


if __name__ == "__main__":
    main()
