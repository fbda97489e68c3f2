// The official TypeScript client lists and calls every tool, over standard input and output and HTTP.

import assert from "node:assert";
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [quorum, repository, callsFile, url, token] = process.argv.slice(2);
const calls = JSON.parse(readFileSync(callsFile, "utf8"));

async function check(transport, where) {
  const client = new Client({ name: "check", version: "1" });
  await client.connect(transport);
  assert.equal(client.getServerVersion().name, "quorum");
  const { tools } = await client.listTools();
  assert.deepEqual(new Set(tools.map((tool) => tool.name)), new Set(calls.map((call) => call[0])));
  for (const [name, args, wanted] of calls) {
    const result = await client.callTool({ name, arguments: args });
    const text = result.content[0].text;
    if (wanted) assert(result.isError && text.includes(wanted), `${name}: ${text}`);
    else assert(!result.isError, `${name}: ${text}`);
  }
  await assert.rejects(() => client.callTool({ name: "no_such_tool", arguments: {} }), /unknown tool/);
  const huge = { title: "t", content: "x".repeat(1_500_000) };
  const refused = await client.callTool({ name: "memory_record", arguments: huge });
  assert(refused.isError && refused.content[0].text.includes("TOO_LARGE"));
  let told = 0;
  await client.callTool({ name: "review", arguments: { scope: "uncommitted" } }, undefined, {
    onprogress: () => (told += 1),
  });
  assert(told > 0, "a watched review tells how far it is");
  const stop = new AbortController();
  const review = client.callTool(
    { name: "review", arguments: { scope: "uncommitted", wait: 100 } }, undefined, { signal: stop.signal });
  stop.abort();
  await assert.rejects(() => review);
  const many = Array.from({ length: 10 }, () => client.callTool({ name: "repository_map", arguments: {} }));
  for (const one of await Promise.all(many)) assert(!one.isError);
  console.log(`typescript, ${where}: ${tools.length} tools, ${calls.length} calls`);
  await client.close();
}

await check(new StdioClientTransport({ command: quorum, args: ["mcp"], cwd: repository }), "stdio");
await check(
  new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  }),
  "HTTP",
);
