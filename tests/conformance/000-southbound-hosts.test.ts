import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Stage, lines } from "../../packages/cli/src/stage.fixture.ts";
import { until } from "../support/daemon-process.ts";
import { fakeOpenAi, text } from "../support/fake-openai.ts";

/* Hosts that join a brain and work for it, each a process of its own, as people start them. */

const HAND = fileURLToPath(new URL("../../packages/hands/bin/vidro-hand", import.meta.url));

/** A process that says in one line of JSON when it is ready. */
class Ready implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly line: { readonly [field: string]: unknown };
  #said = "";

  private constructor(child: ChildProcess, line: { readonly [field: string]: unknown }) {
    this.child = child;
    this.line = line;
    child.stderr?.on("data", (chunk: Buffer) => (this.#said += chunk.toString("utf8")));
  }

  static async wait(child: ChildProcess): Promise<Ready> {
    let said = "";
    const gather = (chunk: Buffer): void => void (said += chunk.toString("utf8"));
    child.stderr?.on("data", gather);
    for await (const line of createInterface({ input: child.stdout! })) {
      child.stderr?.off("data", gather);
      return new Ready(child, JSON.parse(line) as { [field: string]: unknown });
    }
    throw new Error(`It did not get ready:\n${said}`);
  }

  /** What it has said to people since it was ready. */
  get said(): string {
    return this.#said;
  }

  async ends(signal?: NodeJS.Signals): Promise<number | null> {
    if (this.child.exitCode !== null) return this.child.exitCode;
    const gone = once(this.child, "close");
    if (signal !== undefined) this.child.kill(signal);
    return ((await gone) as [number | null])[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.signalCode === null) await this.ends("SIGKILL");
  }
}

async function daemonOf(stage: Stage, ...flags: readonly string[]): Promise<Ready> {
  return Ready.wait(stage.start("up", "--json", "--port", "0", ...flags));
}

/** A host: a folder to work in, and one for the state of its hand. */
interface Host {
  readonly workspace: string;
  readonly state: string;
}

function hostIn(stage: Stage, name: string): Host {
  const [workspace, state] = [join(stage.workspace, name), join(stage.workspace, `${name}-state`)];
  mkdirSync(workspace);
  return { workspace, state };
}

function handOn({ workspace, state }: Host, stage: Stage, ...args: readonly string[]): ChildProcess {
  return spawn(HAND, [...args, "--state", state, "--json"], { cwd: workspace, env: stage.command.env });
}

async function invited(stage: Stage, ...flags: readonly string[]): Promise<{ command: string; token: string }> {
  const { code, stdout, stderr } = await stage.run("hands", "invite", "--installed", "--json", ...flags);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as { command: string; token: string };
}

test("000-40, 000-57: a host that pastes its invitation is a hand, and works where it is and under its own policy", async () => {
  await using stage = await Stage.set();
  await using daemon = await daemonOf(stage, "--southbound-port", "0", "--no-local-hand");
  const url = String(daemon.line["southbound"]);
  assert.match(url, /^wss:\/\/127\.0\.0\.1:\d+\/southbound$/);
  const letter = await invited(stage, "--name", "web-1", "--tags", "web,eu");
  assert.equal(letter.command, `VIDRO_INVITATION=${letter.token} vidro hands join ${url}`);
  const host = hostIn(stage, "host");
  await using hand = await Ready.wait(handOn(host, stage, "join", url, "--token", letter.token));
  assert.deepEqual(hand.line, { ready: true, agent_id: hand.line["agent_id"] });

  const listed = lines((await stage.run("hands", "list", "--json")).stdout);
  assert.deepEqual(
    listed.map(({ id, name, state, tags, gateway }) => ({ id, name, state, tags, gateway })),
    [{ id: hand.line["agent_id"], name: "web-1", state: "ok", tags: ["web", "eu"], gateway: "agent-ws" }],
  );
  const where = await stage.run("hands", "exec", "tag:web", "--", "pwd");
  assert.deepEqual([where.code, where.stdout], [0, `${host.workspace}\n`], where.stderr);
  const denied = await stage.run("hands", "exec", "web-1", "--", "rm", "-rf", "/");
  assert.deepEqual([denied.code, /policy of this hand forbids it/.test(denied.stderr)], [5, true], denied.stderr);
  const modeOf = (path: string): number => statSync(path).mode & 0o777;
  assert.deepEqual([modeOf(host.state), modeOf(join(host.state, "identity.json"))], [0o700, 0o600]);

  const again = await Ready.wait(handOn(hostIn(stage, "other"), stage, "join", url, "--token", letter.token));
  assert.deepEqual([again.line["code"], await again.ends()], ["INVALID_TOKEN", 4], "an invitation counts once");
  assert.equal((await stage.run("hands", "revoke", "web-1")).code, 0);
  const began = performance.now();
  assert.equal(await hand.ends(), 5);
  assert.ok(performance.now() - began < 1000);
  assert.match(hand.said, /revoked/);
});

test("prompts of a run on another host begin with the facts of that host and the AGENTS.md of its folder", async () => {
  const model = await fakeOpenAi(text("It is done."));
  try {
    await using stage = await Stage.set({ VIDRO_MODEL: "fake", VIDRO_MODEL_URL: model.url });
    await using daemon = await daemonOf(stage, "--southbound-port", "0", "--no-local-hand");
    const letter = await invited(stage, "--name", "web-1");
    const host = hostIn(stage, "host");
    writeFileSync(join(host.workspace, "AGENTS.md"), "Restart nothing before noon.\n");
    const joining = ["join", String(daemon.line["southbound"]), "--token", letter.token];
    await using _ = await Ready.wait(handOn(host, stage, ...joining));
    const { code, stderr } = await stage.run("run", "--on", "web-1", "look");
    assert.equal(code, 0, stderr);
    const prompt = JSON.stringify(model.requests.at(-1)?.body);
    assert.match(prompt, /Where you work:[^]*System: [^]*Restart nothing before noon\./);
  } finally {
    await model.close();
  }
});

test("000-40: vidro hands join does the same, says so to a person, and leaves when it is asked to", async () => {
  await using stage = await Stage.set();
  await using daemon = await daemonOf(stage, "--southbound-port", "0");
  const { token } = await invited(stage, "--name", "web-1");
  const child = stage.start("hands", "join", String(daemon.line["southbound"]), "--token", token);
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")));
  await until("it is connected", () => said.includes("✓ web-1 connected"));
  const gone = once(child, "close");
  child.kill("SIGINT");
  assert.equal(((await gone) as [number])[0], 130);
  await until("the brain knows", async () => {
    const listed = lines((await stage.run("hands", "list", "--json")).stdout);
    return listed.some(({ name, state }) => name === "web-1" && state === "down");
  });
});

test("a daemon opens no port for hands, and makes no authority, before a host is invited or a port is asked for", async () => {
  await using stage = await Stage.set();
  await using daemon = await daemonOf(stage);
  assert.equal(daemon.line["southbound"], undefined);
  assert.equal(existsSync(join(stage.home, "ca")), false);
});

test("000-56: whatever a daemon with hands keeps in its home is closed to other users", async () => {
  await using stage = await Stage.set();
  await using daemon = await daemonOf(stage, "--southbound-port", "0");
  assert.equal(daemon.line["ready"], true);
  await invited(stage);
  const open = readdirSync(join(stage.home, "ca"), { withFileTypes: true, recursive: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => (statSync(path).mode & 0o077) !== 0);
  assert.deepEqual(open, []);
  assert.equal(statSync(join(stage.home, "ca")).mode & 0o777, 0o700);
});

test("F5, F6: a hand that is killed in the middle of a command is taken up again, and the command ran once", async () => {
  await using stage = await Stage.set();
  await using daemon = await daemonOf(stage, "--southbound-port", "0", "--no-local-hand");
  const { token } = await invited(stage, "--name", "web-1");
  const host = hostIn(stage, "host");
  const hand = await Ready.wait(handOn(host, stage, "join", String(daemon.line["southbound"]), "--token", token));
  const work = stage.run("hands", "exec", "web-1", "--yes", "--", "sh", "-c", "echo ran >> marks; exec sleep 300");
  await until("it runs", () => existsSync(join(host.workspace, "marks")));
  await hand.ends("SIGKILL");
  await using again = await Ready.wait(handOn(host, stage, "serve"));
  assert.deepEqual(again.line, hand.line, "the same hand");
  const { code, stdout, stderr } = await work;
  assert.equal(code, 9, stdout + stderr);
  assert.equal(readFileSync(join(host.workspace, "marks"), "utf8"), "ran\n");
});

test("F1: a brain that is killed and started again finds its hands, without a new invitation", async () => {
  await using stage = await Stage.set();
  const first = await daemonOf(stage, "--southbound-port", "0", "--no-local-hand");
  const { port } = new URL(String(first.line["southbound"]));
  const { token } = await invited(stage, "--name", "web-1");
  const host = hostIn(stage, "host");
  await using hand = await Ready.wait(handOn(host, stage, "join", String(first.line["southbound"]), "--token", token));
  await first.ends("SIGKILL");
  await using second = await daemonOf(stage, "--southbound-port", port, "--no-local-hand");
  await until("it is back", async () => {
    const listed = lines((await stage.run("hands", "list", "--json")).stdout);
    return listed.some(({ name, state }) => name === "web-1" && state === "ok");
  });
  assert.deepEqual([second.line["southbound"], hand.child.exitCode], [first.line["southbound"], null]);
  const where = await stage.run("hands", "exec", "web-1", "--", "pwd");
  assert.equal(where.stdout, `${host.workspace}\n`);
});

test("only an administrator invites, for an hour at most, and only to a brain that is up", async () => {
  await using stage = await Stage.set();
  const alone = await stage.run("hands", "invite");
  assert.equal(alone.code, 7, alone.stderr);
  await using daemon = await daemonOf(stage, "--southbound-port", "0");
  const { token } = JSON.parse((await stage.run("tokens", "create", "--role", "user", "--json")).stdout) as {
    token: string;
  };
  const user = await stage.run("hands", "invite", "--url", String(daemon.line["url"]), "--token", token);
  assert.equal(user.code, 5, user.stderr);
  const long = await stage.run("hands", "invite", "--expires", "2h");
  assert.equal(long.code, 2, long.stderr);
  const person = await stage.run("hands", "invite", "--installed", "--expires", "30m");
  assert.match(person.stdout, /^VIDRO_INVITATION=\S+ vidro hands join wss:\/\/127\.0\.0\.1:\d+\/southbound\n$/);
  assert.match(person.stderr, /--southbound-host/);
});

/** Words of every process that can be seen here. */
function processWords(): string {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8");
      } catch {
        return "";
      }
    })
    .join("\n");
}

test("an invitation that is pasted as printed, piped in or in a file is in no list of processes", async () => {
  await using stage = await Stage.set();
  await using daemon = await daemonOf(stage, "--southbound-port", "0", "--no-local-hand");
  const url = String(daemon.line["southbound"]);
  const ways: { readonly [way: string]: (token: string, command: string, state: string) => ChildProcess } = {
    pasted: (_, command, state) => {
      const [variable = "", , ...words] = command.split(" ");
      const [name = "", value] = variable.split("=");
      const { argv, env } = stage.command;
      const [program = "", ...first] = argv;
      return spawn(program, [...first, ...words, "--state", state, "--json"], { env: { ...env, [name]: value } });
    },
    piped: (token, _, state) => {
      const child = spawn(HAND, ["join", url, "--state", state, "--json"], { env: stage.command.env });
      child.stdin.end(`${token}\n`);
      return child;
    },
    filed: (token, _, state) => {
      const file = join(stage.workspace, "invitation");
      writeFileSync(file, token, { mode: 0o600 });
      return spawn(HAND, ["join", url, "--token-file", file, "--state", state, "--json"], { env: stage.command.env });
    },
  };
  for (const [way, joins] of Object.entries(ways)) {
    const { token, command } = await invited(stage, "--name", way);
    const secret = token.split(".")[1] ?? "";
    const child = joins(token, command, join(stage.workspace, `${way}-state`));
    await using hand = await Ready.wait(child);
    assert.ok(!processWords().includes(secret), way);
    assert.equal(hand.line["ready"], true, `${way}: ${JSON.stringify(hand.line)}`);
  }
});

test("name and tags are the invitation's: others are refused, a name that is taken too, and the hint fits", async () => {
  await using stage = await Stage.set();
  await using daemon = await daemonOf(stage, "--southbound-port", "0", "--no-local-hand");
  const url = String(daemon.line["southbound"]);
  const first = await invited(stage, "--name", "web-1");
  const second = await invited(stage);
  const boasting = ["join", url, "--token", first.token, "--name", "db", "--tags", "production"];
  const boast = await Ready.wait(handOn(hostIn(stage, "boast"), stage, ...boasting));
  assert.deepEqual([boast.line["code"], await boast.ends()], ["FORBIDDEN", 5]);
  await using hand = await Ready.wait(handOn(hostIn(stage, "one"), stage, "join", url, "--token", first.token));
  assert.equal(hand.line["ready"], true, "a refusal does not use the invitation up");
  const taking = ["join", url, "--token", second.token, "--name", "web-1"];
  const taken = await Ready.wait(handOn(hostIn(stage, "two"), stage, ...taking));
  assert.equal(taken.line["code"], "CONFLICT");
  assert.match((await stage.run("hands", "invite", "--name", "web-1")).stderr, /called "web-1" already/);
  const used = await Ready.wait(handOn(hostIn(stage, "three"), stage, "join", url, "--token", first.token));
  assert.deepEqual([used.line["code"], /hands invite/.test(String(used.line["next"]))], ["INVALID_TOKEN", true]);
  const told = await stage.run("hands", "join", url, "--token", first.token, "--state", join(stage.workspace, "s4"));
  assert.match(told.stderr, /next: Ask for another invitation: vidro hands invite/);
});
