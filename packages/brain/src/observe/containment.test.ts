import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Fault } from "@vidro/core";
import { contain, containEvents, endContained } from "./containment.ts";
import type { LogFields } from "./log.ts";

interface Stage {
  readonly ended: string[];
  readonly logged: (LogFields | undefined)[];
  /** As the process does it with an error that reached it. */
  readonly escape: (thrown: unknown) => void;
  readonly count: () => number;
  readonly of: (name: string) => { fields: LogFields; end: (fault: Fault) => void };
}

function stage(): Stage {
  const ended: string[] = [];
  const logged: (LogFields | undefined)[] = [];
  let uncaught = 0;
  const observers = {
    log: (_event: string, fields?: LogFields): void => void logged.push(fields),
    metrics: { uncaught: { inc: () => (uncaught += 1) } },
  };
  return {
    ended,
    logged,
    escape: (thrown) => endContained(thrown, observers as unknown as Parameters<typeof endContained>[1]),
    count: () => uncaught,
    of: (name) => ({
      fields: { run_id: name },
      end: ({ code, message }) => void ended.push(`${name} ${code} ${message}`),
    }),
  };
}

test("an error that escapes ends the one for which its code worked, also from a timer or a promise", async () => {
  const { ended, escape, of, count, logged } = stage();
  const late = contain(of("a"), async () => {
    await pause(1);
    escape(new Error("late"));
  });
  contain(of("b"), () => setImmediate(() => escape(new Error("later"))));
  await late;
  await pause(5);
  assert.deepEqual(
    ended.map((text) => text.split(" ").slice(0, 3).join(" ")).toSorted((one, other) => one.localeCompare(other)),
    ["a INTERNAL_ERROR late", "b INTERNAL_ERROR later"],
  );
  assert.equal(count(), 2);
  assert.deepEqual(
    logged.map((fields) => fields?.run_id),
    ended.map((text) => text.split(" ")[0]),
  );
});

test("the one that ends is told the trace under which the stack is in the log", () => {
  const { ended, escape, of, logged } = stage();
  contain(of("a"), () => escape(new Error("broken")));
  const traceId = logged[0]?.trace_id ?? "none";
  assert.ok(ended[0]?.includes(`(trace ${traceId})`));
  assert.match(String(logged[0]?.["stack"]), /Error: broken\n/);
});

test("an inner container is ended, not the outer one; outside of all an error is counted and logged", () => {
  const { ended, escape, of, count } = stage();
  contain(of("outer"), () => contain(of("inner"), () => escape(new Error("x"))));
  escape(new Error("nowhere"));
  assert.deepEqual([ended.length, ended[0]?.startsWith("inner"), count()], [1, true, 2]);
});

test("an error in a listener of a shared emitter ends what the emitter was given to, not what emits", async () => {
  const { ended, escape, of } = stage();
  const emitter = new EventEmitter();
  containEvents(of("link"), emitter);
  emitter.on("data", () => escape(new Error("in a listener")));
  const heard = once(emitter, "data");
  contain(of("server"), () => emitter.emit("data", 1));
  assert.deepEqual(await heard, [1]);
  assert.deepEqual(ended.length, 1);
  assert.ok(ended[0]?.startsWith("link"));
});

test("no thrown value, however odd, throws again where errors end", () => {
  const { ended, escape, of } = stage();
  const own = new Error("own");
  own.cause = own;
  for (const odd of [Object.create(null), own, undefined, { toString: () => assert.fail() }])
    contain(of("a"), () => escape(odd));
  assert.equal(ended.length, 4);
});
