"""What the findings on installed middleware are worth: each was looked at by hand, once."""

#: By adapter, check and the fault kinds it needs: is it real, and what would a maintainer say?
REVIEWED: dict[tuple[str, str, str], str] = {
    ("langchain.summarization", "3.stale-question", ""): (
        "Real: the cut falls behind the current question, and the last user message is a summary."
    ),
    ("langchain.summarization", "4.cut-inside-turn", ""): (
        "Real: the running turn is cut in two; a maintainer would point to `keep`, which counts messages."
    ),
    ("langchain.summarization", "4.orphan-result", ""): (
        "Arguable: the client loaded calls that no provider takes; the cut then parts a call from its result."
    ),
    ("langchain.summarization", "4.question-lost", ""): (
        "Real: during a long tool loop the question is summarised away while the model works on it."
    ),
    ("langchain.summarization", "4.system-lost", ""): (
        "Real where a system message is kept in state: it is summarised with the rest."
    ),
    ("langchain.summarization", "5.failed-summary-committed", "bad_summary"): (
        "Real: an empty summary replaces the history."
    ),
    ("langchain.summarization", "5.regenerated", ""): (
        "Real: a summary that stands before what was kept is summarised again in the same turn."
    ),
    ("langchain.summarization", "6.recall", ""): (
        "Real: the text for the summariser begins with a user message; before the first one all is dropped."
    ),
    ("langchain.context_editing", "5.prefix-broken", ""): (
        "Real and documented: each cleared result makes the provider's cache useless from there on."
    ),
    ("langchain_core.trim_messages", "3.stale-question", "skip"): (
        "Real in LangGraph's `create_react_agent`, too: what the hook wrote for the last turn stays in the "
        "state, and is shown again when the hook writes nothing."
    ),
    ("langchain_core.trim_messages", "4.orphan-result", ""): (
        "Arguable: the client loaded a user message between call and result; the cut then parts the two."
    ),
    ("langchain_core.trim_messages", "4.question-lost", ""): (
        "Real: of a question in two messages the first is trimmed while the model works on it."
    ),
    ("langchain_core.trim_messages", "4.rejected-request", ""): (
        "Real: when the turn does not fit, nothing but the system message is left, which no provider takes."
    ),
    ("langchain_core.trim_messages", "5.prefix-broken", ""): (
        "Real: a cut that moves with every request leaves no prefix to reuse, and when a turn does not fit, "
        "nothing is left and the whole history is shown (in `create_react_agent`, too)."
    ),
    ("deepagents.summarization", "3.stale-question", ""): (
        "Real: the last user message is a summary, and the question is in it."
    ),
    ("deepagents.summarization", "4.orphan-result", ""): (
        "Arguable: the client loaded calls that no provider takes; the cut then parts a call from its result."
    ),
    ("deepagents.summarization", "4.question-lost", ""): (
        "Real: during a long tool loop the question is summarised away while the model works on it."
    ),
    ("deepagents.summarization", "6.recall", ""): (
        "Real: a message that was summarised can be edited in place, and the model never sees the edit."
    ),
    ("langmem.summarization", "3.stale-question", "skip"): (
        "Real in LangGraph's `create_react_agent`, too: what the hook wrote for the last turn is shown again."
    ),
    ("langmem.summarization", "4.orphan-result", ""): (
        "Real: only when the cut ends with a call are its results taken along; between results it is made."
    ),
    ("langmem.summarization", "4.question-lost", ""): (
        "Real: the question is summarised away while the model works on it."
    ),
    ("langmem.summarization", "4.rejected-request", ""): (
        "Real: the request is a system message alone, which no provider takes."
    ),
    ("langmem.summarization", "5.prefix-broken", ""): (
        "Arguable: after a load that no provider accepts, a message is shown once and then left out."
    ),
    ("langmem.summarization", "6.hook-error", ""): (
        "Real: when a client deletes the message that was summarised last, every later turn fails."
    ),
    ("langmem.summarization", "6.recall", ""): (
        "Documented, and a loss: of what is summarised only the last `max_tokens` reach the summariser."
    ),
    ("langmem.summarization", "6.recall", "skip"): (
        "Real in LangGraph's `create_react_agent`, too: the model is shown the input of the call before."
    ),
}
