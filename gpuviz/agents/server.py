"""The tools of `gpuviz mcp`: a Model Context Protocol server, by the package `mcp`."""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable, Callable, Sequence
from functools import partial, wraps
from typing import Any, TypeVar

import anyio.to_thread
from mcp.server.mcpserver import Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from gpuviz import __version__
from gpuviz.agents import answers, launches
from gpuviz.agents.answers import Answer
from gpuviz.base.errors import Error, UnavailableError
from gpuviz.processes.calls import ROOM, call
from gpuviz.timing.explanation import Explanation

Result = TypeVar("Result")
INSTRUCTIONS = """gpuviz executes CUDA kernels without a GPU, and tells what the memory system of an
NVIDIA GPU makes of them: counts as the hardware's counters have them, and time as modelled.
Begin with `open`, then `launch`; ask `findings` and `why` what is wrong, `advise` for rewrites that
were tried, change the file, `launch` again, and `compare` the two. A change is right when `compare`
says that the outputs are equal (or differ by rounding alone) and that there are no errors. Numbers
that rest on guesses say so: give `args` to say what is guessed."""


def server() -> MCPServer:
    """The server, with no launch yet."""
    made = MCPServer("gpuviz", instructions=INSTRUCTIONS, version=__version__)
    tools = _Tools()
    for tool in tools.all:
        made.tool(structured_output=False)(_told(tool))
    return made


def _told(tool: Callable[..., Awaitable[Answer | Image]]) -> Callable[..., Awaitable[str | Image]]:
    """The tool, whose answers are JSON without blanks, and whose errors are told in their words."""

    @wraps(tool)
    async def told(*args: Any, **named: Any) -> str | Image:
        try:
            answer = await tool(*args, **named)
        except Error as error:
            raise ToolError(str(error)) from error
        return answer if isinstance(answer, Image) else json.dumps(answer, ensure_ascii=False)

    return told


class _Tools:
    """What an agent can ask for; each docstring is what it is told of a tool."""

    def __init__(self) -> None:
        self._launches = launches.Launches()
        self.all = (
            self.open,
            self.launch,
            self.findings,
            self.why,
            self.advise,
            self.compare,
            self.check,
            self.counts,
            self.picture,
        )

    async def open(self, file: str, include: Sequence[str] = ()) -> Answer:
        """The kernels of a .cu or .ptx file, what each takes, whether it can be executed, and the
        launches that the file's host code makes, by their lines. `include`: folders of headers.
        """
        return answers.opened(await _apart(launches.look, file, tuple(include)))

    async def launch(
        self,
        file: str,
        line: int = 0,
        kernel: str = "",
        grid: str = "",
        block: str = "",
        args: Sequence[str] = (),
        arch: str = "sm_90",
        options: Sequence[str] = (),
    ) -> Answer:
        """Execute a launch and count it. Either `line`, that of a launch in the host code, or
        `kernel`, `grid` ("64" or "8,8") and `block`; what is not said is taken from the host code
        or guessed, and then told. `args` are NAME=VALUE: "n=1024", "x=rand(n)", "x=zeros(n*m)",
        "x=arange(n)", "x=@file.npy". `options` are more words of `gpuviz count`: "--define=N=4".
        The answer has a number by which other tools ask about this launch.
        """
        words = ["--arch", arch, *options]
        words += ["--launch", str(line)] if line else []
        given = {"entry": kernel, "grid": grid, "block": block}
        words += [f"--{name}={text}" for name, text in given.items() if text]
        words += [f"--arg={text}" for text in args]
        found = await _apart(launches.count, (*words, "--", file))
        return answers.launched(self._launches.add(found), found)

    async def findings(self, launch: str, most: int = 8) -> Answer:
        """What is wrong with a launch: faults (races, accesses outside, uninitialised reads), then
        the memory accesses that cost more than they need to: line, cause, cost, ideal.
        """
        return answers.findings(self._launches[launch], most)

    async def why(self, launch: str) -> Answer:
        """Where the time of a launch goes, as modelled: what limits it, what to change and what
        that would give, what it would take without each bottleneck.
        """
        return answers.why(self._launches[launch], await self._explained(launch))

    async def advise(self, launch: str) -> Answer:
        """Rewrites of the kernel that are right and faster, each tried: compiled, run, its buffers
        compared, checked for races, its time predicted; as diffs, with what was tried in vain. May
        take a minute.
        """
        return answers.advised(await _apart(launches.advise, self._launches[launch]))

    async def compare(self, a: str, b: str) -> Answer:
        """Two launches: time of B over A as modelled, whether they leave the same in their buffers,
        faults of each, and the counts that changed most.
        """
        ours, theirs = self._launches[a], self._launches[b]
        try:
            times = await self._explained(a), await self._explained(b)
        except UnavailableError as why:
            return answers.compared(ours, theirs, str(why))
        return answers.compared(ours, theirs, times)

    async def check(self, launch: str, claims: Sequence[str]) -> Answer:
        """Whether claims hold of a launch, such as "shared_conflicts == 0", "races == 0",
        "global_load_sectors <= 1.1 * global_load_sectors_ideal", "line(12).shared_conflicts == 0",
        "time_us < 30", "registers_per_thread <= 32".
        """
        timed = any(launches.is_modelled(claim) for claim in claims)
        e = await self._explained(launch) if timed else None
        return answers.judged(launches.judge(self._launches[launch], claims, e))

    async def counts(self, launch: str, line: int = 0) -> Answer:
        """All counts of a launch by name, or those of the instructions of one line."""
        return answers.table(self._launches[launch], line)

    async def picture(self, launch: str, line: int = 0, panel: str = "") -> Image:
        """A picture of what a warp's request on a line does: `panel` "coalescing" (sectors),
        "banks" (shared memory), "lanes", "phases", "buffer"; "timeline" and "limits" are of the
        whole launch.
        """
        found = self._launches[launch]
        return Image(data=await _apart(launches.paint, found, line, panel), format="png")

    async def _explained(self, number: str) -> Explanation:
        launch = self._launches[number]
        known = self._launches.explanation(number)
        if known is None:
            known = self._launches.explained(number, await _apart(launches.explain, launch))
        return known


async def _apart(function: Callable[..., Result], *args: object) -> Result:
    """Call in another process, within `ROOM`; not any more when nobody waits for it."""
    unwanted = threading.Event()
    asked = partial(call, function, *args, memory=ROOM, cancel=unwanted.is_set)
    try:
        return await anyio.to_thread.run_sync(asked, abandon_on_cancel=True)
    finally:
        unwanted.set()
