"""The official Python client lists and calls every tool, over standard input and output and HTTP."""

import asyncio
import json
import sys

from mcp import ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

QUORUM, REPOSITORY, CALLS, URL, TOKEN = sys.argv[1:6]


async def check(session: ClientSession, where: str) -> None:
    server = await session.initialize()
    assert server.server_info.name == "quorum", server
    tools = {tool.name for tool in (await session.list_tools()).tools}
    with open(CALLS, encoding="utf-8") as file:
        calls = json.load(file)
    assert tools == {call[0] for call in calls}, tools ^ {call[0] for call in calls}
    for name, arguments, *wanted in calls:
        result = await session.call_tool(name, arguments)
        text = result.content[0].text
        if wanted:
            assert result.is_error and wanted[0] in text, (name, text)
        else:
            assert not result.is_error, (name, text)
    huge = await session.call_tool("memory_record", {"title": "t", "content": "x" * 1_500_000})
    assert huge.is_error and "TOO_LARGE" in huge.content[0].text
    try:
        answer = await session.call_tool("no_such_tool", {})
    except MCPError as error:
        assert "unknown tool" in str(error), error
    else:
        raise AssertionError(answer)
    # Many at once, and one that nobody waits for.
    many = [session.call_tool("repository_map", {}) for _ in range(10)]
    waiting = asyncio.create_task(session.call_tool("review", {"scope": "uncommitted", "wait": 100}))
    assert all(not one.is_error for one in await asyncio.gather(*many))
    waiting.cancel()
    # The server goes on.
    resources = (await session.list_resources()).resources
    read = await session.read_resource(resources[0].uri)
    assert read.contents[0].text
    prompts = (await session.list_prompts()).prompts
    prompt = await session.get_prompt(prompts[0].name, {"scope": "staged"})
    assert "review_begin" in prompt.messages[0].content.text
    print(f"python, {where}: {len(tools)} tools, {len(calls)} calls, {len(resources)} resources")


async def over_stdio() -> None:
    server = StdioServerParameters(command=QUORUM, args=["mcp"], cwd=REPOSITORY)
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await check(session, "stdio")


async def over_http() -> None:
    client = create_mcp_http_client(headers={"Authorization": f"Bearer {TOKEN}"})
    transport = streamable_http_client(URL, http_client=client)
    async with transport as streams, ClientSession(streams[0], streams[1]) as session:
        await check(session, "HTTP")


asyncio.run(over_stdio())
asyncio.run(over_http())
