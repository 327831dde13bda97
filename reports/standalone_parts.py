"""The parts that stand-alone files are put together from: small models, a tool, readers of messages.

They are text of the files, not code that runs here.
"""

from __future__ import annotations

SCRIPTED_MODEL = '''
class ScriptedModel(BaseChatModel):
    """The agent's model: it answers from a list, and keeps every request that it was shown."""

    answers: list = []
    requests: list = []

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **kwargs):
        return self
%(provider)s
    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.requests.append([message.model_copy(deep=True) for message in messages])
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return ChatResult(generations=[ChatGeneration(message=answer.model_copy(deep=True))])
'''

#: Usage metadata is believed by some middleware only when it names the model's own provider.
PROVIDER = """
    def _get_ls_params(self, stop=None, **kwargs):
        return {**super()._get_ls_params(stop, **kwargs), "ls_provider": %s}
"""

SUMMARY_MODEL = '''
class SummaryModel(BaseChatModel):
    """A faithful summariser: it repeats each mark (⟦u1⟧, ⟦a1⟧, ...) that it was shown."""

    prompts: list = []
    failures: list = []

    @property
    def _llm_type(self):
        return "summariser"

    def bind_tools(self, tools, **kwargs):
        return self
%(provider)s
    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        prompt = "\\n".join(map(text_of, messages))
        prompt = prompt.replace("\\\\u27e6", "⟦").replace("\\\\u27e7", "⟧")  # as JSON escapes the marks
        self.prompts.append(prompt)
        marks = re.findall(r"⟦[uat]\\d[\\w.]*⟧", prompt)
        summary = "Recap: " + " ".join(dict.fromkeys(marks))
        failure = self.failures.pop(0) if self.failures else None
        if isinstance(failure, Exception):
            raise failure
        text = summary if failure is None else failure
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])
'''

TEXT_OF = '''
def text_of(message):
    """Return the text of a message, whether its content is text or a list of blocks."""
    if isinstance(message.content, str):
        return message.content
    blocks = [block if isinstance(block, str) else block.get("text") for block in message.content]
    return "\\n".join(block for block in blocks if isinstance(block, str))
'''

LOOKUP = '''
@tool
def lookup(token: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> ToolMessage:
    """Look something up."""
%(fails)s    return ToolMessage(RESULTS[token], id=token, name="lookup", tool_call_id=tool_call_id%(more)s)
'''

#: What a tool that is to fail does first.
TOOL_FAILS = """    failure = lookup_failures.pop(0) if lookup_failures else None
    if failure is not None:
        raise failure
"""

#: What a token counter that is to fail does first.
COUNT_FAILS = """    failure = count_failures.pop(0) if count_failures else None
    if failure is not None:
        raise failure
"""

#: The tool of an agent that never calls it.
IDLE_LOOKUP = '''
@tool
def lookup(token: str) -> str:
    """Look something up; it is never called here."""
    return token
'''

FAIL_FROM = '''
def fail_from(plan):
    """Return a function that raises what `plan` holds for its next call, if anything."""

    def call():
        failure = plan.pop(0) if plan else None
        if failure is not None:
            raise failure

    return call
'''

COUNT_TOKENS = '''
def count_tokens(messages, **options):
    """Count 3 tokens a message and 1 for every 6 characters begun."""
%(fails)s    return sum(3 + (len(text_of(m)) + 5) // 6 for m in convert_to_messages(list(messages)))
'''

CALL_PROBLEMS = '''
def call_problems(messages):
    """Return what a strict provider rejects, as pairs of what is wrong and the id of the tool call.

    Each call is to be answered once, directly behind the message that makes it. `orphan`: the call of a
    result is nowhere; `apart`: result and call do not stand together; `unanswered`: there is no result.
    """
    problems, made, waiting = [], [], []
    answered = {str(m.tool_call_id) for m in messages if m.type == "tool"}
    known = {call for m in messages for call in calls_of(m)}
    for message in messages:
        if message.type != "tool":
            problems += [("apart" if call in answered else "unanswered", call) for call in waiting]
            made = calls_of(message)
            waiting = list(dict.fromkeys(made))
            continue
        call = str(message.tool_call_id)
        if call in waiting:
            waiting.remove(call)
        elif call in made:
            problems.append(("duplicate", call))
        else:
            problems.append(("apart" if call in known else "orphan", call))
    return problems + [("apart" if call in answered else "unanswered", call) for call in waiting]


def calls_of(message):
    """Return the ids of the tool calls of a message."""
    calls = [*(getattr(message, "tool_calls", None) or [])]
    calls += getattr(message, "invalid_tool_calls", None) or []
    return [str(call["id"]) for call in calls]
'''

ON_WIRE = '''
def on_wire(message):
    """Return what of a message reaches a provider, and so its prompt cache."""
    calls = [call["id"] for call in getattr(message, "tool_calls", None) or []]
    return message.type, text_of(message), message.name, calls, getattr(message, "tool_call_id", None)
'''

LOAD_FILE = '''
def load(path):
    """Return the module of a Python file, named from here or from a folder above this test."""
    tried = [folder / path for folder in (Path.cwd(), *Path(__file__).resolve().parents)]
    file = next((file for file in tried if file.is_file()), None)
    if file is None:
        raise FileNotFoundError(f"{path}: run this test in the folder that has it, or change the path")
    sys.path.insert(0, str(file.resolve().parent))
    spec = importlib.util.spec_from_file_location("target_of_this_test", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
'''

#: A stand-in of a hook: `%(a)s` is `async ` and `%(w)s` `await ` in the asynchronous form.
STAND_IN = '''
def %(name)s(hook, plan):
    """Stand in front of a hook%(how)s: `plan` says what becomes of its next calls."""

    %(a)sdef %(wrap)s:
        act = plan.pop(0) if plan else "run"
%(acts)s
    return planned
'''

ACTS = {
    "skip": """
        if act == "skip":  # the hook does not run this time
            return %(passed)s
""",
    "crash": """
        if act == "crash":  # the process dies before the hook
            raise RuntimeError("the process died")
""",
    "cancel": """
        if act == "cancel":  # the run is cancelled
            raise asyncio.CancelledError
""",
    "twice": """
        if act == "twice":  # a retry: the hook runs twice on the same state, the second update counts
            %(call)s
""",
    "lose": """
        if act == "lose":  # the hook runs, and its update is never committed
            %(call)s
            return None
""",
    "partial": """
        if isinstance(act, int):  # only the first writes of the update are applied
            update = %(call)s
            return update and {**update, "messages": list(update["messages"])[:act]}
""",
}

AGAIN = '''
def again(middleware):
    """Give a middleware another name, so that an agent takes it as a second instance of its class."""
    kind = type(middleware)
    middleware.__class__ = type(f"{kind.__name__}Again", (kind,), {})
    return middleware
'''

WATCH = '''
def watch(middleware, hook, plan, stand_in):
    """Put a stand-in in front of a hook of this middleware, if it has this hook."""
    if getattr(type(middleware), hook) is not getattr(AgentMiddleware, hook):
        setattr(middleware, hook, stand_in(getattr(middleware, hook), plan))
'''
