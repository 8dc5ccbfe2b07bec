"""A session of a program with `gpulab mcp`: from a slow kernel to a faster one, by what gpulab says.

Usage: session.py GPULAB, with gpulab-mcp beside it; needs the packages mcp and jsonschema. Prints the session."""

import asyncio
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import jsonschema
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/verdict.schema.json").read_text()))

SLOW = """\
__kernel void scale(__global const float *in, __global float *out, int width, int height)
{
    int x = get_global_id(0);
    int y = get_global_id(1);
    if (x < width && y < height)
        out[x * height + y] = 2.0f * in[x * height + y];
}
"""


class Session:
    def __init__(self, client):
        self.client = client
        self.progress = []

    async def call(self, tool, is_error=False, **arguments):
        """The structured result of a call, of which a verdict is checked against its schema; or why it was refused."""

        async def progressed(seconds, total, message):
            self.progress.append((tool, seconds, message))

        called = await self.client.call_tool(tool, arguments, progress_callback=progressed)
        print(f"\n> {tool} {json.dumps(arguments)}")
        assert called.is_error == is_error, called
        answer = called.structured_content
        if answer is None:
            print(called.content[0].text)
            return called.content[0].text
        result = answer["result"]
        if isinstance(result, dict) and result.get("schema", "").startswith("gpulab.verdict/"):
            SCHEMA.validate(result)
            assert result["exit_code"] == answer["exit_code"], answer
            ratio = result["ratio"] and "{ratio:.3f} ({low:.3f} to {high:.3f})".format(**result["ratio"])
            print(*filter(None, [result["verdict"], ratio, result["reason"]]), sep=": ")
        elif isinstance(result, str):
            print(*result.splitlines()[:3], sep="\n")
        return answer


async def refused(session, folder, outside):
    """Nothing beside the folder is read or written, by name, by a link, by a kernel or by what says what is right."""
    (folder / "link.cl").symlink_to(outside / "secret.cl")
    for name in ["../x.cl", str(outside / "secret.cl"), "link.cl", "*/../../x.cl", "--init", "-D"]:
        assert "refused" in await session.call("check", True, patterns=[name])
        assert "refused" in await session.call("judge", True, new="slow.cl", old=name)
    assert "refused" in await session.call("explain", True, topic="--help")
    assert "refused" in await session.call("try", True, file="slow.cl", device="gpu")


async def held(session, folder, outside):
    """Where the system can hold kernels to the folder, it does."""
    (folder / "include.cl").write_text(f'#include "{outside}/secret.cl"\n' + SLOW)
    told = json.dumps(await session.call("check", patterns=["include.cl"]))
    assert "secret_word" not in told and "there is no" in told, told
    for place, is_written in [(folder, True), (outside, False)]:
        check = f"numpy: open('{place}/written', 'w'); out = 2 * in_"
        await session.call("try", not is_written, file="slow.cl", kernel="scale", check=check)
        assert (place / "written").exists() == is_written


def edited(text, report):
    """The kernel with the line that gpulab names changed so that neighbours take neighbouring elements."""
    found = re.search(r"slow\.cl:(\d+): (\d+) segments per", report)
    assert found, report
    print(f"gpulab names line {found[1]}: {found[2]} segments per access")
    lines = text.splitlines(keepends=True)
    line = int(found[1]) - 1
    lines[line] = lines[line].replace("x * height + y", "y * width + x")
    return "".join(lines)


async def work(session, folder):
    (folder / "slow.cl").write_text(SLOW)
    assert "segment" in (await session.call("glossary", word="coalescing"))["result"]
    assert "transpose" in (await session.call("explain", topic="transpose:1"))["result"]

    tried = await session.call("try", file="slow.cl", n=2048)
    assert tried["result"]["verdict"] == "NOTHING FOUND", tried
    # Compared with nothing: what gpulab says is to judge against an older kernel.
    assert "not looked at: right results" in tried["report"] and "--against" in str(tried["result"]["not_looked_at"]), tried
    assert any(found["rule"] == "would_pay" and found["line"] for found in tried["result"]["findings"]), tried
    new = edited(SLOW, tried["report"])

    (folder / "wrong.cl").write_text(new.replace("2.0f * in[y * width + x]", "2.0f * in[x * height + y]"))
    wrong = await session.call("judge", new="wrong.cl", old="slow.cl")
    assert wrong["result"]["verdict"] == "INCORRECT" and wrong["exit_code"] == 4, wrong

    (folder / "new.cl").write_text(new)
    judged = await session.call("judge", new="new.cl", old="slow.cl")
    assert judged["result"]["verdict"] == "FASTER" and judged["exit_code"] == 0, judged
    assert judged["result"]["ratio"]["high"] < 1, judged

    counted = await session.call("count", what="dot:1")
    assert counted["result"][0]["global_read_requests"] > 0, counted


def compared(gpulab):
    """Files of recorded runs have a verdict of the same schema."""
    files = [ROOT / f"data/results/nvidia-{name}/reduce.csv" for name in ("h200", "h100")]
    told = subprocess.run([gpulab, "compare", *files, "--json", "-"], capture_output=True, text=True, check=True)
    verdict = json.loads(told.stdout)
    SCHEMA.validate(verdict)
    assert verdict["verdict"] == "UNDECIDED" and verdict["cases"], verdict


async def main(gpulab):
    with tempfile.TemporaryDirectory() as room:
        folder, outside = pathlib.Path(room, "folder"), pathlib.Path(room, "outside")
        folder.mkdir()
        outside.mkdir()
        (outside / "secret.cl").write_text("secret_word;\n")
        server = StdioServerParameters(command=gpulab, args=["mcp", str(folder)], env=dict(os.environ))
        async with stdio_client(server) as pipes, ClientSession(*pipes) as client:
            instructions = (await client.initialize()).instructions
            print(instructions)
            session = Session(client)
            await work(session, folder)
            await refused(session, folder, outside)
            if "holds kernels" in instructions:
                await held(session, folder, outside)
            tools = {tool for tool, _, _ in session.progress}
            print(f"\n{len(session.progress)} reports of progress, of {', '.join(sorted(tools))}")
            assert "judge" in tools, session.progress


compared(sys.argv[1])
asyncio.run(main(sys.argv[1]))
