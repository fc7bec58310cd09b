import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ALLOW_ALL, frame, startTcpHand } from "../support/tcp-hand.ts";
import type { Caller } from "../support/tcp-hand.ts";

/** The data of an answer, as the test knows it to be. */
async function dataOf<Data = { readonly [field: string]: unknown }>(
  caller: Caller,
  act: string,
  data = {},
): Promise<Data> {
  const answer = await caller.ask(act, data);
  assert.equal(answer.t, "res", JSON.stringify(answer));
  return answer.data as Data;
}

test("002-18 PING is always answered with pong and the time, as an action and as a bare ping", async (t) => {
  const hand = await startTcpHand(t);
  const caller = await hand.session("ps");
  const before = Date.now();
  const { pong, ts } = await dataOf<{ pong: boolean; ts: number }>(caller, "PING");
  assert.equal(pong, true);
  assert.ok(ts >= before && ts <= Date.now());
  caller.socket.write(frame({ v: 1, t: "ping", id: "p" }));
  const bare = await caller.hears();
  assert.deepEqual([bare.t, bare.id, bare.act, bare.data["pong"]], ["res", "p", "PING", true]);
});

test("002-07 data may be null where an action needs none, and is filled in where it has defaults", async (t) => {
  const caller = await (await startTcpHand(t)).session("*");
  for (const act of ["PING", "GET_OS_INFO", "PS", "QUIT"]) {
    const answer = await caller.ask(act, null as never);
    assert.equal(answer.t, "res", JSON.stringify(answer));
  }
});

test("002-30 002-33 002-34 002-35 answers carry ok, meta and memUsed besides what the protocol names", async (t) => {
  const caller = await (await startTcpHand(t)).session("*");
  const info = await dataOf<{ ok: boolean; samples: { mem: number; memUsed: number }[]; meta: { returned: number } }>(
    caller,
    "GET_OS_INFO",
  );
  assert.equal(info.ok, true);
  assert.equal(info.meta.returned, info.samples.length);
  assert.ok(info.samples.length > 0 && info.samples.every(({ mem, memUsed }) => mem === memUsed));
  const watch = await dataOf<{ ok: boolean; token: string }>(caller, "WATCH", { path: "." });
  const seen = await dataOf(caller, "GET_WATCHES", { token: watch.token });
  const processes = await dataOf(caller, "PS", { limit: 1 });
  assert.deepEqual([watch.ok, seen["ok"], processes["ok"]], [true, true, true]);
});

test("002-28 002-29 data is coerced, filled in and cleaned by its schema, and null never becomes a value", async (t) => {
  const caller = await (await startTcpHand(t)).session("*");
  const one = await dataOf<{ processes: unknown[] }>(caller, "PS", { limit: "1", surprise: true });
  assert.equal(one.processes.length, 1);
  const bad: readonly [string, object][] = [
    ["PS", { limit: null }],
    ["PS", { user: null }],
    ["PS", { sortBy: null }],
    ["PS", { fields: null }],
    ["PS", { limit: 0 }],
    ["PS", { limit: 1001 }],
    ["PS", { sortBy: "size" }],
    ["GET_OS_INFO", { seconds: null }],
    ["GET_OS_INFO", { seconds: 3601 }],
    ["GET_OS_INFO", { seconds: "many" }],
    ["WATCH", {}],
    ["WATCH", { path: null }],
    ["WATCH", { path: ".", time: 3601 }],
    ["GET_WATCHES", { token: "x", since: null }],
    ["OS_CMD", { cmd: "" }],
    ["OS_CMD", { cmd: "echo", args: [null] }],
    ["OS_CMD", { cmd: "echo", args: Array(33).fill("x") }],
    ["OS_CMD", { cmd: "echo", args: ["x".repeat(513)] }],
    ["OS_CMD", { cmd: "echo", timeoutMs: 999 }],
    ["OS_CMD", { cmd: "echo", timeoutMs: null }],
  ];
  for (const [act, data] of bad) {
    const other = await (await startTcpHand(t)).session("*");
    const { code, msg } = await other.ask(act, data as never);
    assert.equal(code, "BAD_REQUEST", `${act} ${JSON.stringify(data)}`);
    assert.match(msg ?? "", new RegExp(`^${act}: `));
  }
});

test("002-30 GET_OS_INFO gives samples of processor, memory and time, the newest last", async (t) => {
  const caller = await (await startTcpHand(t)).session("getosinfo");
  type Answer = { samples: { cpu: number; mem: number; memUsed: number; time: number }[] };
  const { samples } = await dataOf<Answer>(caller, "GET_OS_INFO", { seconds: 60 });
  assert.ok(samples.length >= 1);
  for (const { cpu, mem, memUsed: _, time, ...rest } of samples) {
    assert.ok(cpu >= 0 && cpu <= 1 && mem > 1 && Math.abs(Date.now() - time) < 60_000);
    assert.deepEqual(rest, {});
  }
});

test("002-31 QUIT answers what was asked before it, then bye, then closes", async (t) => {
  const caller = await (await startTcpHand(t, { policy: ALLOW_ALL })).session("*");
  caller.send("OS_CMD", { cmd: "sleep", args: ["0.2"] });
  caller.send("QUIT");
  caller.send("PING");
  const answers = await caller.hearsAll();
  assert.deepEqual(
    answers.map(({ act }) => act),
    ["OS_CMD", "QUIT"],
  );
  assert.deepEqual([answers[0]?.t, answers[1]?.data], ["res", { bye: true }]);
});

test("002-32 002-42 an action that there is not is UNKNOWN_ACTION", async (t) => {
  const caller = await (await startTcpHand(t)).session("*");
  for (const act of ["NOPE", "ping", "constructor", "__proto__"]) {
    assert.equal((await caller.ask(act)).code, "UNKNOWN_ACTION");
  }
});

test("002-35 PS sorts, limits, filters by user and name without regular expressions, and picks fields", async (t) => {
  const caller = await (await startTcpHand(t)).session("ps");
  type Answer = { processes: { pid: number; name: string; cpuPercent: number }[]; meta: { total: number } };
  const ask = (data: object) => dataOf<Answer>(caller, "PS", data);
  const byPid = await ask({ sortBy: "pid", order: "desc", limit: 5 });
  const pids = byPid.processes.map(({ pid }) => pid);
  assert.deepEqual(
    pids,
    [...pids].sort((a, b) => b - a),
  );
  assert.ok(byPid.meta.total >= 5);
  const mine = await ask({ namePattern: "node*", fields: ["pid", "name"], limit: 1000 });
  assert.ok(mine.processes.some(({ pid }) => pid === process.pid));
  for (const row of mine.processes) assert.deepEqual(Object.keys(row), ["pid", "name"]);
  assert.equal((await ask({ namePattern: "(a+)+$" })).processes.length, 0);
  assert.equal((await ask({ user: "nobody-at-all" })).meta.total, 0);
  const [first] = (await ask({ limit: 1 })).processes;
  assert.deepEqual(Object.keys(first ?? {}), [
    "pid",
    "ppid",
    "user",
    "name",
    "cmd",
    "state",
    "cpuPercent",
    "memRssBytes",
  ]);
});

test("002-36 OS_CMD runs a program without a shell and tells how it ended", async (t) => {
  const hand = await startTcpHand(t, { policy: ALLOW_ALL });
  const caller = await hand.session("oscmd");
  const echoed = await dataOf(caller, "OS_CMD", { cmd: "echo", args: ["$HOME", ";", "rm", "*", "`id`"] });
  assert.deepEqual(echoed, {
    ok: true,
    exitCode: 0,
    signal: null,
    timedOut: false,
    truncated: false,
    stdout: "$HOME ; rm * `id`\n",
    stderr: "",
  });
  const failed = await dataOf(caller, "OS_CMD", { cmd: "ls", args: ["/no/such/place"] });
  assert.deepEqual([failed["ok"], failed["exitCode"]], [false, 2]);
  const late = await dataOf(caller, "OS_CMD", { cmd: "sleep", args: ["30"], timeoutMs: 1000 });
  assert.deepEqual([late["ok"], late["timedOut"]], [false, true]);
  assert.equal((await caller.ask("OS_CMD", { cmd: "no-such-program" })).code, "BAD_REQUEST");
});

test("002-36 what policy denies or wants a person's word for is FORBIDDEN, and says by which rule", async (t) => {
  const hand = await startTcpHand(t);
  const caller = await hand.session("oscmd");
  writeFileSync(join(hand.workspace, "kept"), "x");
  const asks = await caller.ask("OS_CMD", { cmd: "rm", args: ["kept"] });
  assert.equal(asks.code, "FORBIDDEN");
  assert.match(asks.msg ?? "", /approval.*rule/);
  assert.ok(existsSync(join(hand.workspace, "kept")));
  const denied = await caller.ask("OS_CMD", { cmd: "dd", args: ["if=/dev/zero", "of=/dev/sda"] });
  assert.equal(denied.code, "FORBIDDEN");
  assert.match(denied.msg ?? "", /rule/);
});

test("002-36 output that does not fit into a frame is cut and marked", async (t) => {
  const hand = await startTcpHand(t, { policy: ALLOW_ALL });
  const caller = await hand.session("oscmd");
  const { stdout, truncated } = await dataOf(caller, "OS_CMD", { cmd: "head", args: ["-c", "400000", "/dev/zero"] });
  assert.equal(truncated, true);
  assert.ok(JSON.stringify(stdout).length > 100_000);
});

test("002-36 a command with an action id runs once, however often it is asked for, and belongs to its token", async (t) => {
  const hand = await startTcpHand(t, { policy: ALLOW_ALL });
  const token = await hand.token("oscmd");
  const log = join(hand.workspace, "log");
  const data = { cmd: "tee", args: ["-a", log], actionId: "once" };
  const append = { cmd: "sh", args: ["-c", `echo x >> ${log}; cat ${log}`], actionId: "once" };
  const outputs: unknown[] = [];
  for (let round = 0; round < 3; round += 1) {
    const caller = await hand.caller();
    await caller.ask("AUTH", { token });
    outputs.push((await dataOf(caller, "OS_CMD", append))["stdout"]);
    const other = await caller.ask("OS_CMD", data);
    assert.equal(other.code, "BAD_REQUEST");
  }
  assert.deepEqual(outputs, ["x\n", "x\n", "x\n"]);
  const stranger = await hand.session("oscmd");
  assert.equal((await dataOf(stranger, "OS_CMD", append))["stdout"], "x\nx\n");
  assert.equal(readFileSync(log, "utf8"), "x\nx\n");
});

test("002-36 a command without an action id ends with its connection", async (t) => {
  const hand = await startTcpHand(t, { policy: ALLOW_ALL, bounds: { farewellMs: 50, sweepMs: 10 } });
  const caller = await hand.session("oscmd");
  const mark = join(hand.workspace, "mark");
  caller.send("OS_CMD", {
    cmd: "sh",
    args: ["-c", `echo > ${mark}; sleep 20; echo late >> ${mark}`],
    timeoutMs: 30_000,
  });
  const watcher = await hand.session("*");
  while (!existsSync(mark)) await watcher.ask("OS_CMD", { cmd: "true" });
  caller.socket.destroy();
  const left = async (): Promise<number> => {
    const asked = { namePattern: mark, limit: 1000 };
    return (await dataOf<{ processes: unknown[] }>(await hand.session("*"), "PS", asked)).processes.length;
  };
  while ((await left()) > 0);
  assert.equal(readFileSync(mark, "utf8"), "\n");
});

test("002-33 refuses paths that may not be read, that are not there, or that a symlink leads astray", async (t) => {
  const hand = await startTcpHand(t);
  const caller = await hand.session("watch");
  symlinkSync("/etc/ssl/private", join(hand.workspace, "way-out"));
  symlinkSync(join(hand.folder, "state"), join(hand.workspace, "way-in"));
  for (const path of ["/proc", join(hand.folder, "state"), "way-in", "/root/.ssh", "way-out"]) {
    const { code } = await caller.ask("WATCH", { path });
    assert.ok(code === "FORBIDDEN", `${path}: ${code}`);
  }
  assert.equal((await caller.ask("WATCH", { path: "not-there" })).code, "BAD_REQUEST");
  assert.equal((await caller.ask("WATCH", { path: "a/../b" })).code, "BAD_REQUEST");
});

test("002-33 002-34 WATCH gives a token, and GET_WATCHES what was seen, in pages", async (t) => {
  const hand = await startTcpHand(t, { bounds: { burst: 1e6 } });
  const [watcher, reader] = [await hand.session("watch"), await hand.session("getwatches")];
  type Begun = { token: string; path: string; startedAt: number; expiresAt: number };
  const { token, path, startedAt, expiresAt } = await dataOf<Begun>(watcher, "WATCH", { path: ".", time: 30 });
  assert.equal(path, hand.workspace);
  assert.equal(expiresAt - startedAt, 30_000);
  mkdirSync(join(hand.workspace, "sub"));
  writeFileSync(join(hand.workspace, "sub", "file"), "1");
  type Page = {
    events: { tipoEvento: string; archivo: string; tiempo: number }[];
    meta: { returned: number; hasMore: boolean; nextCursor: string | null };
  };
  const page = (data: object) => dataOf<Page>(reader, "GET_WATCHES", { token, ...data });
  const until = async (type: string, name: string): Promise<void> => {
    const wanted = join(hand.workspace, name);
    while (!(await page({})).events.some((event) => event.tipoEvento === type && event.archivo === wanted));
  };
  await until("add", "sub/file");
  writeFileSync(join(hand.workspace, "sub", "file"), "22");
  await until("modify", "sub/file");
  rmSync(join(hand.workspace, "sub"), { recursive: true });
  await until("unlinkDir", "sub");
  const all = await page({});
  const told = all.events.map(({ tipoEvento, archivo }) => `${tipoEvento} ${archivo.slice(hand.workspace.length + 1)}`);
  assert.deepEqual(told, ["addDir sub", "add sub/file", "modify sub/file", "unlink sub/file", "unlinkDir sub"]);
  assert.deepEqual(all.meta, { returned: 5, hasMore: false, nextCursor: null });
  const two = await page({ pageSize: 2 });
  assert.deepEqual([two.meta.returned, two.meta.hasMore], [2, true]);
  const rest = await page({ pageSize: 3, cursor: two.meta.nextCursor });
  assert.deepEqual([...two.events, ...rest.events], all.events);
  assert.equal(rest.meta.hasMore, false);
  assert.deepEqual((await page({ order: "desc" })).events, [...all.events].reverse());
  const [, second] = all.events;
  const since = await page({ since: second?.tiempo, until: second?.tiempo });
  assert.ok(since.events.length >= 1 && since.events.every(({ tiempo }) => tiempo === second?.tiempo));
  assert.equal((await reader.ask("GET_WATCHES", { token: "W-none" })).code, "BAD_REQUEST");
});
