import assert from "node:assert/strict";
import { test } from "node:test";
import { WORKER_LIMITS } from "@vidro/core";
import type { WorkerMessage, WorkerParams } from "@vidro/core/wire/worker";
import { extendConversation, WorkerSessions } from "./sessions.ts";

const PARAMS: WorkerParams = { stop: [], tools: [], isToolRequired: false };

test("a session that is not used for long is closed, one that generates is not", () => {
  let now = 0;
  const sessions = new WorkerSessions(() => now);
  const idle = sessions.create(PARAMS, undefined);
  const busy = sessions.create(PARAMS, undefined);
  const used = sessions.create(PARAMS, undefined);
  busy.generation = new AbortController();
  now = WORKER_LIMITS.idleMs - 1;
  assert.equal(sessions.find(used.id), used);
  now = WORKER_LIMITS.idleMs;
  assert.equal(sessions.size, 2);
  assert.throws(() => sessions.find(idle.id), { code: "MODEL_UNAVAILABLE", message: /unknown session/ });
  assert.equal(sessions.find(busy.id), busy);
});

test("beyond the bound the session that was idle for longest makes room; when all generate, the next is refused", () => {
  const sessions = new WorkerSessions(() => 0);
  const all = Array.from({ length: WORKER_LIMITS.sessions }, () => sessions.create(PARAMS, undefined));
  const [first, second] = all as [(typeof all)[0], (typeof all)[0]];
  sessions.find(first.id);
  sessions.create(PARAMS, undefined);
  assert.equal(sessions.size, WORKER_LIMITS.sessions);
  assert.throws(() => sessions.find(second.id), { code: "MODEL_UNAVAILABLE" });
  assert.equal(sessions.find(first.id), first);
  const busy = new WorkerSessions(() => 0);
  for (let at = 0; at < WORKER_LIMITS.sessions; at += 1)
    busy.create(PARAMS, undefined).generation = new AbortController();
  assert.throws(() => busy.create(PARAMS, undefined), { code: "MODEL_RATE_LIMITED" });
});

test("a session that is closed ends its generation, and the end of the worker ends all", () => {
  const sessions = new WorkerSessions(() => 0);
  const [one, other] = [sessions.create(PARAMS, undefined), sessions.create(PARAMS, undefined)];
  const generations = [new AbortController(), new AbortController()] as const;
  [one.generation, other.generation] = generations;
  sessions.close(one.id);
  assert.deepEqual([generations[0].signal.aborted, generations[1].signal.aborted], [true, false]);
  assert.throws(() => sessions.close(one.id), { code: "MODEL_UNAVAILABLE" });
  sessions.abortAll();
  assert.equal(generations[1].signal.aborted, true);
});

test("a session counts as used until its generation ends, and those that were idle for longer go before it", () => {
  let now = 0;
  const sessions = new WorkerSessions(() => now);
  const slow = sessions.create(PARAMS, undefined);
  slow.generation = new AbortController();
  const others = Array.from({ length: WORKER_LIMITS.sessions - 1 }, () => sessions.create(PARAMS, undefined));
  now = WORKER_LIMITS.idleMs - 1;
  sessions.endGeneration(slow);
  sessions.create(PARAMS, undefined);
  assert.equal(sessions.find(slow.id), slow, "the one that just ended its answer is not the one that makes room");
  assert.throws(() => sessions.find(others[0]!.id), { code: "MODEL_UNAVAILABLE" });
  now = WORKER_LIMITS.idleMs;
  assert.equal(sessions.size, 2, "the idle ones are closed, though an older session is still in use");
});

test("a session that was closed while it generated does not come back when its generation ends", () => {
  const sessions = new WorkerSessions(() => 0);
  const session = sessions.create(PARAMS, undefined);
  session.generation = new AbortController();
  sessions.close(session.id);
  sessions.endGeneration(session);
  assert.equal(sessions.size, 0);
  assert.throws(() => sessions.find(session.id), { code: "MODEL_UNAVAILABLE" });
});

const message = (role: WorkerMessage["role"], content: string): WorkerMessage => ({ role, content });

test("a conversation beyond its bounds loses its oldest messages, but not the system's", () => {
  const system = message("system", "be brief");
  const half = "x".repeat(WORKER_LIMITS.conversationChars / 2);
  const kept = extendConversation([system, message("user", half), message("assistant", half)], message("user", "now"));
  assert.deepEqual(
    kept.map(({ role }) => role),
    ["system", "assistant", "user"],
  );
  const many = Array.from({ length: WORKER_LIMITS.messages }, (_, at) => message("user", String(at)));
  const last = extendConversation(many, message("user", "last"));
  assert.deepEqual([last.length, last[0]?.content, last.at(-1)?.content], [WORKER_LIMITS.messages, "1", "last"]);
  assert.deepEqual(extendConversation([], message("user", "a")), [message("user", "a")]);
  const long = message("user", "x".repeat(WORKER_LIMITS.conversationChars + 1));
  assert.deepEqual(extendConversation([system, message("user", "before")], long), [system, long]);
});
