"""An agent's session, played from a script: each step follows from the answers before it alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from gpuviz.agents import server
from gpuviz.cli import main
from gpuviz.processes.calls import here

TRANSPOSE = """
constexpr int TILE = 32;
__global__ void transpose(float* out, const float* in, int n)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    out[x * n + y] = in[y * n + x];
}
int main()
{
    const int n = 128;
    float *in, *out;
    cudaMalloc(&in, n * n * sizeof(float));
    cudaMalloc(&out, n * n * sizeof(float));
    transpose<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(out, in, n);
}
"""
# What an agent that knows CUDA writes when it is told of an access of this kind.
STAGED = """    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    int to = blockIdx.y * TILE + threadIdx.x, row = blockIdx.x * TILE + threadIdx.y;
    out[row * n + to] = tile[threadIdx.x][threadIdx.y];
"""
EDITS: dict[str, Callable[[str], str]] = {
    "rows": lambda text: text.replace(text[text.index("    int x") : text.index("}\nint")], STAGED),
    "conflict": lambda text: text.replace("tile[TILE][TILE]", "tile[TILE][TILE + 1]"),
}
Ask = Callable[..., Awaitable[Any]]


def asker(client: Client) -> Ask:
    """Ask a tool; the answer as it was before it was JSON."""

    async def ask(tool: str, **given: object) -> Any:
        answer = await client.call_tool(tool, given)
        assert not answer.is_error, answer.content
        (said,) = answer.content
        return json.loads(said.text) if said.type == "text" else said

    return ask


async def improve(ask: Ask, file: Path) -> list[str]:
    """From what is slow to what cannot be told to be: the numbers of the launches on the way."""
    found = await ask("open", file=str(file))
    (there,) = found["launches"]
    made = [await ask("launch", file=str(file), line=there["line"])]
    while wrong := (await ask("findings", launch=made[-1]["launch"])).get("costs"):
        file.write_text(EDITS[wrong[0]["kind"]](file.read_text()))
        (there,) = (await ask("open", file=str(file)))["launches"]
        made.append(await ask("launch", file=str(file), line=there["line"]))
        assert len(made) < 5
    return [one["launch"] for one in made]


@pytest.fixture
def transpose(tmp_path: Path) -> Path:
    file = tmp_path / "transpose.cu"
    file.write_text(TRANSPOSE)
    return file


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "call", here)


@pytest.mark.slow
@pytest.mark.usefixtures("in_this_process")
def test_a_slow_transpose_becomes_the_padded_one_by_answers_alone(transpose: Path) -> None:
    async def play() -> None:
        async with Client(server.server()) as client:
            ask = asker(client)
            first, _, last = await improve(ask, transpose)
            told = await ask("compare", a=first, b=last)
            assert told["outputs"] == {"out": "equal, bit by bit", "in": "equal, bit by bit"}
            assert told["errors"] == {"a": 0, "b": 0} and told["time"]["b_over_a"] < 1
            assert "launch again" in told["a"]["file_changed"]
            claims = ["shared_conflicts == 0", "races == 0", "global_sectors < 4096"]
            held = await ask("check", launch=last, claims=[*claims, "time_us < 1000"])
            assert [one["holds"] for one in held["claims"]] == [True, True, False, True]
            assert not held["all_hold"]

    anyio.run(play)
    assert "tile[TILE][TILE + 1]" in transpose.read_text()


@pytest.mark.usefixtures("in_this_process")
def test_answers_are_small_and_say_what_they_rest_on(tmp_path: Path) -> None:
    file = tmp_path / "racy.cu"
    file.write_text(
        "__global__ void k(int* out, const int* in, int n)\n"
        "{ __shared__ int s[64]; int i = threadIdx.x; s[i] = in[i]; out[i] = s[63 - i]; }\n"
    )

    async def play() -> None:
        async with Client(server.server()) as client:
            ask = asker(client)
            made = await ask("launch", file=str(file), kernel="k", grid="1", block="64")
            assert set(made["rests_on_guesses"]) >= {"out", "in"} and made["warnings"]
            assert made["first"][0]["line"] == 2 and made["first"][0]["check"] == "race"
            found = await ask("findings", launch=made["launch"])
            assert len(json.dumps(found)) < 4000
            every = await ask("counts", launch=made["launch"])
            of_line = await ask("counts", launch=made["launch"], line=2)
            assert every["totals"]["global_load_requests"] == 2 and of_line["instructions"]
            shown = await ask("picture", launch=made["launch"], line=2)
            assert shown.type == "image" and shown.mime_type == "image/png"
            for tool, given, words in (
                ("why", {"launch": "7"}, "there is no launch '7' (there are: 1)"),
                ("launch", {"file": str(tmp_path / "none.cu")}, "cannot read"),
                ("launch", {"file": str(file), "options": ["--scene", "banks"]}, "not both"),
                ("check", {"launch": "1", "claims": ["nonsense == 0"]}, "nonsense"),
            ):
                answer = await client.call_tool(tool, given)
                assert answer.is_error and words in answer.content[0].text

    anyio.run(play)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_server_is_spoken_to_through_pipes(transpose: Path) -> None:
    """As agents start it: nothing but the protocol is on stdout."""
    command = StdioServerParameters(command=sys.executable, args=["-m", "gpuviz", "mcp"])

    async def play() -> None:
        async with Client(stdio_client(command)) as client:
            tools = (await client.list_tools()).tools
            assert all(tool.description for tool in tools) and len(tools) == 9
            ask = asker(client)
            made = await improve(ask, transpose)
            why = await ask("why", launch=made[-1])
            assert "NVIDIA H200" in why["modelled"] and why["microseconds"] > 0
            advised = await ask("advise", launch=made[0])
            assert advised["right_and_faster"][0]["rule"] == "stage stores"
            assert "__syncthreads" in advised["right_and_faster"][0]["diff"]

    anyio.run(play)


def test_without_the_package_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "gpuviz.agents.server")
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    assert main(["mcp"]) == 3
    assert "pip install 'gpuviz[agents]'" in capsys.readouterr().err
