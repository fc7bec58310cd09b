import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text as wholeText } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import type { ActionEnd, Hand, Judgement } from "@vidro/core";
import { mountingHand, openPolicy } from "@vidro/hands";
import { codeOf, endOf, orderFor, scratch } from "../../packages/hands/src/scratch.fixture.ts";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { until } from "../support/daemon-process.ts";
import { startGuardedServer } from "../support/guarded-mcp-server.ts";
import { freePort } from "../support/peer-process.ts";
import { REMOTE_HANDS } from "../support/remote-hands.ts";

/* A hand mounts MCP servers: those that are published, and some that mean harm. */

const SERVERS = join(import.meta.dirname, "node_modules/@modelcontextprotocol");
const EVERYTHING = join(SERVERS, "server-everything/dist/index.js");
const CLIENT = join(import.meta.dirname, "../support/mcp-client-process.ts");
const HOSTILE = join(import.meta.dirname, "../support/hostile-mcp-server.js");
const node = (...args: readonly string[]): object => ({ command: process.execPath, args });

let orders = 0;

/** Calls a tool as a brain does: with the approval of exactly this plan, where it has to be approved. */
async function call(hand: Hand, tool: string, input: object, id = `act_mcp_${(orders += 1)}`): Promise<ActionEnd> {
  const action = { id, tool, input: { ...input }, callId: "call" };
  const judged = (await hand.judge(action)) as Judgement;
  return endOf(hand, orderFor(action, judged.verdict?.decision === "ask" ? { approved: judged.hash } : {}));
}

function textOf(ended: ActionEnd): string {
  if (ended.type !== "finished" || ended.outcome.kind !== "value") throw new Error(JSON.stringify(ended));
  return ended.outcome.text;
}

async function decisionOn(hand: Hand, tool: string): Promise<string> {
  const judged = (await hand.judge({ id: "act_judged", tool, input: {}, callId: "call" })) as Judgement;
  return judged.verdict?.decision ?? JSON.stringify(judged);
}

interface Mounted {
  readonly hand: Hand;
  readonly workspace: string;
  readonly notes: string[];
  readonly folder: string;
}

async function mount(
  t: TestContext,
  servers: object,
  folder = scratch(t),
  rules: readonly object[] = [],
): Promise<Mounted> {
  const [workspace, state] = [join(folder, "workspace"), join(folder, "state")];
  for (const path of [workspace, state]) mkdirSync(path, { recursive: true });
  writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers: servers }));
  const notes: string[] = [];
  writeFileSync(join(folder, "policy.json"), JSON.stringify({ extends: "shipped", rules }));
  const policy = openPolicy({ file: join(folder, "policy.json"), hostFile: false, workspace, state });
  const source = { file: join(folder, "mcp.json"), version: "1", note: (text: string): unknown => notes.push(text) };
  const hand = await mountingHand({ id: "test", workspace, state, policy }, source);
  t.after(() => hand.close());
  return { hand, workspace, notes, folder };
}

/** Processes whose command line holds a word. */
function pidsWith(word: string): readonly number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        return pid > 0 && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(word);
      } catch {
        return false;
      }
    });
}

test("the published servers filesystem and everything are mounted on stdio and HTTP, asked about, called, and killed in mid-call", async (t) => {
  const folder = scratch(t);
  const port = await freePort();
  const web = spawn(process.execPath, [EVERYTHING, "streamableHttp"], {
    env: { PATH: process.env["PATH"], PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  t.after(() => web.kill("SIGKILL"));
  await once(web.stderr, "data");
  const mark = `--local-${process.pid}`;
  const files = node(join(SERVERS, "server-filesystem/dist/index.js"), join(folder, "workspace"));
  mkdirSync(join(folder, "workspace"), { recursive: true });
  await until("the server listens", async () =>
    fetch(`http://127.0.0.1:${port}/mcp`).then(
      () => true,
      () => false,
    ),
  );
  const { hand, workspace, notes } = await mount(
    t,
    {
      files,
      all: node(EVERYTHING, "stdio", mark),
      web: { url: `http://127.0.0.1:${port}/mcp` },
      gone: node("/no/such/file.js"),
    },
    folder,
  );
  assert.equal(notes.length, 1);
  assert.match(notes[0] ?? "", /The MCP server gone is not ready: .*exit code 1/);
  const write = hand.tools.find(({ name }) => name === "files__write_file");
  assert.deepEqual([write?.own, write?.effect, write?.idempotent], [true, "write", false]);
  assert.equal(await decisionOn(hand, "files__write_file"), "ask");
  const path = join(workspace, "note.txt");
  const wrote = await call(hand, "files__write_file", { path, content: "hello" });
  assert.match(textOf(wrote), /Successfully wrote/);
  assert.equal(readFileSync(path, "utf8"), "hello");
  assert.equal(textOf(await call(hand, "files__read_text_file", { path })), "hello");
  const refused = await call(hand, "files__read_text_file", { path: "/etc/passwd" });
  assert.equal(codeOf(refused), "TOOL_FAILED");
  assert.equal(textOf(await call(hand, "all__echo", { message: "hi" })), "Echo: hi");
  assert.match(textOf(await call(hand, "web__get-sum", { a: 2, b: 3 })), /5/);
  assert.match(textOf(await call(hand, "all__get-tiny-image", {})), /\[image image\/png, \d+ bytes\]/);
  const long = call(hand, "all__trigger-long-running-operation", { duration: 600, steps: 1 });
  for (const message of ["one", "two"]) await call(hand, "all__echo", { message });
  for (const pid of pidsWith(mark)) process.kill(pid, "SIGKILL");
  assert.equal((await long).type, "unknown", "it is killed in mid-call");
});

test("a server that is killed in mid-call leaves an unknown outcome, on a remote hand, too, and the call is not made again", async (t) => {
  const folder = scratch(t);
  mkdirSync(join(folder, "state"), { recursive: true });
  const mark = `--mark-${process.pid}`;
  writeFileSync(
    join(folder, "state/mcp.json"),
    JSON.stringify({ mcpServers: { all: node(EVERYTHING, "stdio", mark) } }),
  );
  const { hand } = await REMOTE_HANDS["agent-ws"](t, { folder });
  const tool = hand.tools.find(({ name }) => name === "all__echo");
  assert.match(tool?.description ?? "", /^Only on the host "far", which says of it: Of the MCP server all/);
  const input = { duration: 600, steps: 1 };
  const long = call(hand, "all__trigger-long-running-operation", input, "act_long");
  // Orders and requests come in order: when later ones are answered, the first is under way.
  for (const message of ["one", "two"])
    assert.equal(textOf(await call(hand, "all__echo", { message })), `Echo: ${message}`);
  for (const pid of pidsWith(mark)) process.kill(pid, "SIGKILL");
  const ended = await long;
  assert.equal(ended.type, "unknown");
  assert.match(ended.type === "unknown" ? ended.fault.message : "", /The server all ended \(SIGKILL/);
  const again = await call(hand, "all__trigger-long-running-operation", input, "act_long");
  assert.deepEqual([again.type, codeOf(again)], ["unknown", "OUTCOME_UNKNOWN"]);
  // The next call starts the server again.
  assert.equal(textOf(await call(hand, "all__echo", { message: "again" })), "Echo: again");
});

test("a tool whose server lies about it, renames it or changes its words is asked about again", async (t) => {
  const folder = scratch(t);
  const word = join(folder, "word");
  const rule = {
    kind: "order",
    id: "notes",
    class: "write",
    decision: "allow",
    tools: ["bad__note"],
    examples: { match: ["bad__note"], not_match: ["bad__erase"] },
  };
  const servers = { bad: node(HOSTILE, "note", word) };
  const { hand } = await mount(t, servers, folder);
  const [{ effect, idempotent } = {}] = hand.tools.filter(({ name }) => name === "bad__note");
  assert.deepEqual([effect, idempotent], ["write", false], "readOnlyHint counts for nothing");
  assert.equal(await decisionOn(hand, "bad__note"), "ask");
  await hand.close();
  const { hand: allowed } = await mount(t, servers, folder, [rule]);
  assert.equal(await decisionOn(allowed, "bad__note"), "allow");
  assert.equal(textOf(await call(allowed, "bad__note", {})), "noted");
  // It says so itself while it is mounted.
  writeFileSync(word, "changed");
  assert.equal(textOf(await call(allowed, "bad__note", {})), "noted");
  await until("the change is seen", async () => (await decisionOn(allowed, "bad__note")) === "ask");
  await allowed.close();
  // It is another one when it is mounted again, and stays so until a person has said yes.
  const { hand: again } = await mount(t, servers, folder, [rule]);
  assert.equal(await decisionOn(again, "bad__note"), "ask");
  assert.equal(textOf(await call(again, "bad__note", {})), "noted");
  assert.equal(await decisionOn(again, "bad__note"), "allow");
  writeFileSync(word, "renamed");
  assert.equal(textOf(await call(again, "bad__note", {})), "noted");
  await until("it is gone", async () => /no longer has the tool note/.test(await decisionOn(again, "bad__note")));
  await again.close();
  const { hand: renamed } = await mount(t, servers, folder, [rule]);
  assert.equal(await decisionOn(renamed, "bad__erase"), "ask");
  writeFileSync(word, "hidden");
  const { hand: hidden, notes } = await mount(t, servers, folder, [rule]);
  assert.equal(
    hidden.tools.some(({ name }) => name === "bad__note"),
    false,
  );
  assert.deepEqual(notes, ["The tool bad__note is left out: its schema has characters that cannot be seen."]);
});

test("a server that floods, sends a huge message or never answers is cut off, with an unknown outcome at most once", async (t) => {
  const folder = scratch(t);
  const of = (how: string): object => node(HOSTILE, how, join(folder, how));
  const { hand } = await mount(t, { flood: of("flood"), huge: of("huge"), long: of("long"), hang: of("hang") }, folder);
  for (const [name, why] of [
    ["flood", /sent more than 1000 messages in a second/],
    ["huge", /sent a message of more than 4194304 bytes/],
  ] as const) {
    const ended = await call(hand, `${name}__note`, {});
    assert.equal(ended.type, "unknown", name);
    assert.match(ended.type === "unknown" ? ended.fault.message : "", why);
  }
  const long = textOf(await call(hand, "long__note", {}));
  assert.match(long.slice(-60), /1737856 more characters were cut\]$/);
  const stop = new AbortController();
  const action = { id: "act_hang", tool: "hang__note", input: {}, callId: "call" };
  const { hash } = (await hand.judge(action)) as Judgement;
  const hanging = endOf(hand, orderFor(action, { approved: hash }), stop.signal);
  await until("the call is under way", () => existsSync(join(folder, "hang.notes")));
  stop.abort();
  assert.equal((await hanging).type, "unknown");
  const again = await endOf(hand, orderFor(action, { approved: hash, epoch: 2 }));
  assert.equal(again.type, "unknown");
  assert.equal(readFileSync(join(folder, "hang.notes"), "utf8"), "noted\n", "it was noted once");
});

test("a file of servers that cannot be used is refused by name, and credentials come from the environment", async (t) => {
  const folder = scratch(t);
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ "a b": node() }, /"a b" is no name of a server/],
    [{ one: {} }, /one needs a command or a url/],
    [{ one: { url: "ftp://x" } }, /one: url must begin with http/],
    [{ one: { url: "http://u:p@x" } }, /put credentials into headers/],
    [
      { one: { url: "http://x", headers: { a: "${VIDRO_NOT_SET}" } } },
      /names the variable VIDRO_NOT_SET, which is not set/,
    ],
    [{ one: { ...node(), effects: { x: "harmless" } } }, /an effect is read, write, network, execute/],
  ];
  for (const [servers, why] of wrong) await assert.rejects(mount(t, servers, folder), why);
  assert.equal((await mount(t, { off: { ...node("x"), disabled: true } }, folder)).notes.length, 0);
});

test("vidro hands login signs in by a link, the token is kept closed and renewed, and before that the server is left out", async (t) => {
  const server = await startGuardedServer(t);
  await using stage = await Stage.set();
  const servers = { guarded: { url: server.url } };
  mkdirSync(stage.home, { mode: 0o700 });
  const { notes } = await mount(t, servers, stage.home);
  assert.match(notes[0] ?? "", /asks for authorization .*vidro hands login guarded/);
  const command = stage.start("hands", "login", "guarded");
  let said = "";
  command.stderr.on("data", (bytes: Buffer) => (said += bytes.toString("utf8")));
  await until("the link is shown", () => /\/authorize\?\S+\n/.test(said));
  const page = await fetch(/http:\S+\/authorize\?\S+/.exec(said)?.[0] ?? "");
  assert.equal(await page.text(), "This page can be closed.\n");
  assert.deepEqual(await once(command, "exit"), [0, null], said);
  const file = join(stage.home, "hand/mcp-tokens.json");
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(server.grants, ["authorization_code"]);
  // The hand of this machine has its state in that folder.
  const source = {
    file: join(stage.home, "mcp.json"),
    version: "1",
    note: (text: string): unknown => assert.fail(text),
  };
  const policy = openPolicy({
    file: join(stage.home, "policy.json"),
    hostFile: false,
    workspace: stage.workspace,
    state: stage.home,
  });
  const hand = await mountingHand(
    { id: "local", workspace: stage.workspace, state: join(stage.home, "hand"), policy },
    source,
  );
  t.after(() => hand.close());
  assert.equal(textOf(await call(hand, "guarded__open", {})), "opened");
  assert.equal(server.grants[1], "refresh_token");
});

/** Scenarios about what a hand does: it calls tools, and has neither elicitation nor sampling. */
const APPLYING = {
  "2025-11-25": ["initialize", "sse-retry"],
  "2026-07-28": [
    "tools_call",
    "request-metadata",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
    "auth/metadata-default",
    "auth/metadata-var3",
    "auth/token-endpoint-auth-basic",
    "auth/scope-from-www-authenticate",
    "auth/resource-mismatch",
    "auth/iss-wrong-issuer",
  ],
};

test("the official checks of a client that apply find nothing wrong", async () => {
  const program = join(SERVERS, "conformance/dist/index.js");
  const client = [process.execPath, "--conditions=vidro-source", "--disable-warning=ExperimentalWarning", CLIENT];
  const scenarios = Object.entries(APPLYING).flatMap(([revision, names]) => names.map((name) => [name, revision]));
  const work = async (): Promise<void> => {
    for (let next = scenarios.shift(); next !== undefined; next = scenarios.shift()) {
      const [name = "", revision = ""] = next;
      const words = ["client", "--command", client.join(" "), "--scenario", name, "--spec-version", revision];
      const check = spawn(process.execPath, [program, ...words], { stdio: ["ignore", "pipe", "pipe"] });
      const said = wholeText(check.stdout);
      const [[code], errors] = await Promise.all([once(check, "close"), wholeText(check.stderr)]);
      assert.equal(code, 0, `${name} in ${revision}\n${errors}`);
      assert.match(`${await said}${errors}`, /Passed: [1-9]\d*\/\d+, 0 failed, 0 warnings/, name);
    }
  };
  await Promise.all([work(), work()]);
});
