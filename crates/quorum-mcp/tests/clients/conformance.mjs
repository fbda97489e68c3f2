// The protocol's conformance suite against the server over HTTP. The suite brings no token, so that a
// proxy adds it; everything else reaches the server as the suite sent it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import { createInterface } from "node:readline";

const [quorum, repository, suite, baseline, token] = process.argv.slice(2);

let server;
const proxy = http.createServer((asked, answer) => {
  const { hostname, port } = new URL(server);
  const headers = { ...asked.headers, authorization: `Bearer ${token}` };
  const options = { hostname, port, path: asked.url, method: asked.method, headers };
  const passed = http.request(options, (got) => {
    answer.writeHead(got.statusCode, got.headers);
    got.pipe(answer);
  });
  passed.on("error", () => answer.destroy());
  asked.pipe(passed);
});
await once(proxy.listen(0, "127.0.0.1"), "listening");
const origin = `http://127.0.0.1:${proxy.address().port}`;

// The suite sends the origin of the address that it calls, which a user would have to allow.
const child = spawn(quorum, ["mcp", "--http", "127.0.0.1:0", "--allow-origin", origin], {
  cwd: repository,
  env: { ...process.env, MCP_SERVER_TOKEN: token },
  stdio: ["ignore", "ignore", "pipe"],
});
const [said] = await once(createInterface(child.stderr), "line");
server = said.split(" ").at(-1);

const scenarios = ["server", "--suite", "all", "--url", `${origin}/mcp`, "--expected-failures", baseline];
const run = spawn(process.execPath, [suite, ...scenarios], { stdio: ["ignore", "pipe", "inherit"] });
let told = "";
run.stdout.on("data", (text) => (told += text));
const [code] = await once(run, "close");
child.kill();
const named = (mark) => [...told.matchAll(new RegExp(`^ *${mark} ([\\w-]+)`, "gm"))].map((found) => found[1]);
const expected = named("~");
const passed = named("✓").filter((name) => !expected.includes(name));
console.log(code === 0 ? `conformance: ${passed.length} pass, ${expected.length} do not apply` : told);
process.exit(code);
