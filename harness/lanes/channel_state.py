"""The state of a thread in the reducer lane: the agent's channels, and the values that they hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

from langgraph.channels import BinaryOperatorAggregate

from ..rehearsal import SaidLines
from ..steps import Stored
from .reloading import reloaded
from .storable import stays_as_it_is, through_storage
from .surroundings import Writes
from .wiring import Wiring

Channels = dict[str, Any]


class ChannelState:
    """Channels and their values; a fold replaces `values`.

    `refused` is told the name of a channel that the serialiser refuses to store again, and its error: what
    is there was changed in place, or an earlier version could not have stored it.
    """

    def __init__(self, wiring: Wiring, refused: Callable[[str, Exception], None]) -> None:
        self._wiring = wiring
        self._refused = refused
        # The agent's own channels, until they are written to; what a hook can change in place is not shared.
        self._channels = wiring.channels.copy()
        self._unstable: set[str] = set()
        self.values: dict[str, Any] = {}
        for name in wiring.filled:
            channel = self._channels[name] = self._channels[name].copy()
            if isinstance(channel, BinaryOperatorAggregate):
                channel.value = copy(channel.value)  # it is one with that of the original
            self.values[name] = channel.get()

    def _look(self) -> None:
        self.values = {name: c.get() for name, c in self._channels.items() if c.is_available()}

    @property
    def channels(self) -> Channels:
        """The channels, by name."""
        return self._channels

    def copied(self) -> Channels:
        """Return copies of the channels, to go back to."""
        return _copied(self._channels)

    def go_back(self, channels: Channels) -> None:
        """Take back what `copied` returned."""
        self._channels = _copied(channels)
        self._look()

    def undo(self, values: dict[str, Any]) -> None:
        """Hold `values` again, after a fold that failed."""
        self._channels = self._wiring.channels_with(values)
        self.values = values

    def fold(self, writes: Writes) -> None:
        """Fold writes into the channels."""
        wiring = self._wiring
        if wiring.stamp_ids is not None:
            wiring.stamp_ids(wiring.channels, writes)
        values = self.values = self.values.copy()
        by_channel: dict[str, list[Any]] = {}
        for name, value in writes:
            by_channel.setdefault(name, []).append(value)
        for name, written_now in by_channel.items():
            self._update(name, written_now)
        for name in wiring.transient:
            if name not in by_channel:
                self._update(name, ())
        for name in wiring.ephemeral:
            if name in values and name not in by_channel:
                self._update(name, ())

    def _update(self, name: str, writes: Sequence[Any]) -> None:
        channel = self._channels[name]
        if channel is self._wiring.channels[name]:
            channel = self._channels[name] = channel.copy()
        channel.update(writes)
        if channel.is_available():
            self.values[name] = channel.get()
        else:
            self.values.pop(name, None)

    def check_storable(self, writes: Writes) -> None:
        """Raise the serialiser's error when a checkpointer could not store what was just folded."""
        for name, value in writes:
            if not stays_as_it_is(value) and name in self.values and name not in self._wiring.untracked:
                through_storage(self.values[name])
                self._unstable.add(name)

    def begin_anew(self) -> None:
        """Hold what a new invocation finds: what went through storage, and nothing that it does not keep."""
        self._forget_untracked()
        if self._unstable:
            for name in self._unstable:
                self._store(name)
            self._look()

    def part_messages(self, parted: Callable[[list[Any]], list[Any]]) -> None:
        """Part the stored messages from the objects that hooks hold, as loading a checkpoint does."""
        messages = self.values.get("messages", [])
        apart = parted(messages)
        if apart is not messages:
            self._channels["messages"] = self._channels["messages"].from_checkpoint(apart)
            self.values["messages"] = apart

    def reload(self, stored: Stored, lines: SaidLines) -> None:
        """Send every channel through the checkpoint serialiser; messages in the format `stored`.

        `lines` are those of the script that the history has said.
        """
        self._forget_untracked()
        for name in self._channels:
            if name == "messages":
                self._store(name, lambda messages: reloaded(messages, stored, lines))
            else:
                self._store(name)
        self._look()

    def _store(self, name: str, through: Callable[[Any], Any] = through_storage) -> None:
        channel = self._channels[name]
        try:
            if channel.is_available():
                self._channels[name] = channel.from_checkpoint(through(channel.get()))
        except Exception as error:  # noqa: BLE001  whatever the serialiser raises is data
            self._refused(name, error)

    def _forget_untracked(self) -> None:
        for name in self._wiring.untracked:
            self._channels[name] = self._wiring.channels[name].copy()
            self.values.pop(name, None)


def _copied(channels: Channels) -> Channels:
    return {name: channel.copy() for name, channel in channels.items()}
