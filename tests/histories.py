"""Messages as three libraries write them down, drawn in any order; every word of them is recognisable."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

# No word of the harness has three of these letters and no others.
WORDS = st.text("qxzj", min_size=3, max_size=6)
TEXTS = st.one_of(
    st.just(""),
    st.lists(WORDS, min_size=1, max_size=12).map(" ".join),
    WORDS.map("{} <system-reminder>qqxx</system-reminder>".format),
)
CALL_IDS = st.sampled_from(["qqq1", "qqq2", "qqq3", "xxx4", ""])
IDS = st.one_of(
    st.none(),
    st.sampled_from(
        ["", "17", "zzzj", "zzzj__user", "zzzj__user.qqqq", "7b2c0f1e-43a1-4c57-9b3a-0d9f6f3a1c55"]
    ),
)
ARGUMENTS = st.dictionaries(
    WORDS, st.one_of(WORDS, st.integers(10_000, 99_999), st.lists(WORDS), st.booleans()), max_size=2
)


@st.composite
def contents(draw: st.DrawFn) -> Any:
    text = draw(TEXTS)
    return draw(
        st.sampled_from(
            [
                text,
                [{"type": "text", "text": text}],
                [text, "qqqzzz"],
                [
                    {"type": "text", "text": text},
                    {"type": "image_url", "image_url": {"url": "https://qqq.zzz/jjj.png"}},
                ],
                [{"type": "image_url", "image_url": {"url": "data:image/png;base64,qqqqzzzz"}}],
                [
                    {"type": "text", "text": text},
                    {"type": "tool_use", "id": "qqq1", "name": "qqq", "input": {}},
                ],
                [
                    {"type": "thinking", "thinking": text, "signature": "qqqjjj"},
                    {"type": "text", "text": text},
                ],
            ]
        )
    )


@st.composite
def of_langchain(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["human", "ai", "ai", "ai", "tool", "tool", "system", "HumanMessageChunk"]))
    fields: dict[str, Any] = {"content": draw(contents()), "id": draw(IDS), "name": draw(st.none() | WORDS)}
    fields["additional_kwargs"] = draw(
        st.sampled_from([{}, {"zzzqqq": "qqqjjj"}, {"hide_from_ui": True}, {"lc_source": "summarization"}])
    )
    if kind == "ai":
        calls = st.builds(
            lambda name, args, call_id: {"name": name, "args": args, "id": call_id, "type": "tool_call"},
            WORDS,
            ARGUMENTS,
            CALL_IDS,
        )
        fields["tool_calls"] = draw(st.lists(calls, max_size=3))
        fields["invalid_tool_calls"] = draw(
            st.sampled_from([[], [], [{"name": "qqq", "args": "{zzz", "id": "jjj9", "error": "qqqzzz"}]])
        )
        fields["usage_metadata"] = draw(st.none() | st.just({"total_tokens": 90_000}))
        fields["response_metadata"] = draw(st.sampled_from([{}, {"finish_reason": "length", "qqqz": "zzzz"}]))
    if kind == "tool":
        fields |= {"tool_call_id": draw(CALL_IDS), "status": draw(st.sampled_from(["success", "error"]))}
    return {"type": kind, "data": fields} if draw(st.booleans()) else {"type": kind, **fields}


@st.composite
def of_openai(draw: st.DrawFn) -> dict[str, Any]:
    role = draw(st.sampled_from(["user", "assistant", "assistant", "tool", "tool", "system"]))
    if role == "tool":
        return {"role": role, "content": draw(TEXTS), "tool_call_id": draw(CALL_IDS)}
    if role != "assistant":
        return {"role": role, "content": draw(contents())}
    arguments = st.one_of(ARGUMENTS.map(json.dumps), st.just("{zzz"))
    calls = st.builds(
        lambda name, args, call_id: {
            "id": call_id,
            "type": "function",
            "function": {"name": name, "arguments": args},
        },
        WORDS,
        arguments,
        CALL_IDS,
    )
    return {"role": role, "content": draw(st.none() | TEXTS), "tool_calls": draw(st.lists(calls, max_size=3))}


@st.composite
def of_anthropic(draw: st.DrawFn) -> dict[str, Any]:
    role = draw(st.sampled_from(["user", "assistant"]))
    text = st.builds(lambda words: {"type": "text", "text": words}, WORDS)
    use = st.builds(
        lambda call_id, name, args: {"type": "tool_use", "id": call_id, "name": name, "input": args},
        CALL_IDS,
        WORDS,
        ARGUMENTS,
    )
    result = st.builds(
        lambda call_id, words: {"type": "tool_result", "tool_use_id": call_id, "content": words},
        CALL_IDS,
        TEXTS,
    )
    block = st.one_of(text, use) if role == "assistant" else st.one_of(text, result)
    return {"role": role, "content": draw(st.lists(block, min_size=1, max_size=4))}


#: A conversation in one of the three dialects.
CONVERSATIONS = st.one_of(
    *(st.lists(message(), min_size=1, max_size=14) for message in (of_langchain, of_openai, of_anthropic))
)
