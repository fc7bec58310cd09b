import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { JsonObject } from "../json.ts";
import { RUN_LIMITS } from "../limits.ts";
import type { Order } from "../ports.ts";
import type { ActionEnd, Output, ProcessOutcome } from "../tool.ts";
import {
  actionToJudge,
  bareOrder,
  bytesOf,
  endOfReply,
  endReply,
  endReplyWithReceipt,
  fitReply,
  judgeMessage,
  openEnvelope,
  orderMessage,
  orderOfRequest,
  outputParts,
  tooLongFault,
  toolsOfCapabilities,
} from "./agent-ws.ts";

const text = fc.string({
  unit: fc.constantFrom("a", " ", '"', "\\", "\n", "é", "😀", "\u0000", "\u2028"),
  maxLength: 40,
});
const output: fc.Arbitrary<Output> = fc.record(
  {
    text,
    bytes: fc.nat(),
    truncated: fc.boolean(),
    sha256: fc.constant("ab".repeat(32)),
  },
  { noNullPrototype: true },
);
const processOutcome: fc.Arbitrary<ProcessOutcome> = fc.record(
  {
    kind: fc.constant("process"),
    exitCode: fc.option(fc.integer({ min: 0, max: 255 })),
    signal: fc.option(fc.constantFrom("SIGKILL", "SIGTERM")),
    timedOut: fc.boolean(),
    durationMs: fc.nat(),
    stdout: output,
    stderr: output,
  },
  { noNullPrototype: true },
);
const end: fc.Arbitrary<ActionEnd> = fc.oneof(
  processOutcome.map((outcome): ActionEnd => ({ type: "finished", outcome })),
  fc
    .record({ text, data: fc.dictionary(fc.constantFrom("a", "path"), fc.jsonValue()) })
    .map(({ text: said, data }): ActionEnd => {
      const value = JSON.parse(JSON.stringify(data)) as JsonObject;
      return { type: "finished", outcome: { kind: "value", text: said, data: value } };
    }),
  fc.record({ message: text, settled: fc.boolean() }).map(({ message, settled }): ActionEnd => {
    const fault = { code: "TOOL_FAILED", message } as const;
    return { type: "failed", fault, ...(settled ? { settled: true } : {}) };
  }),
  fc.record({ message: text, partial: fc.option(text, { nil: undefined }) }).map(({ message, partial }): ActionEnd => {
    const fault = { code: "OUTCOME_UNKNOWN", message } as const;
    return { type: "unknown", fault, ...(partial === undefined ? {} : { partial }) };
  }),
);

/** What arrives of a reply at the other end of a wire. */
function sent(reply: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify({ ...reply, id: "q", action_id: "a" })) as JsonObject;
}

test("every end of an action arrives as it was sent", () => {
  fc.assert(
    fc.property(end, (ended) => {
      assert.deepEqual(endOfReply(sent(endReply("tool.run", ended))), ended);
    }),
    { numRuns: 300 },
  );
});

test("a receipt arrives with the words that it covers, also where the contract has no field for them", () => {
  const receipt = {
    run: "r",
    action: "a",
    plan: "p",
    outcome: "o",
    words: "w",
    at: 1,
    ledger: "l",
    key: "k",
    signature: "s",
  };
  fc.assert(
    fc.property(end, fc.constantFrom("tool.run", "file.diff"), (ended, method) => {
      const signed = { ...ended, receipt };
      assert.deepEqual(endOfReply(sent(endReplyWithReceipt(method, signed))), signed);
    }),
  );
});

test("a receipt beside a fault of an unknown code is dropped: it covers another fault", () => {
  const reply = { ok: false, code: "NEW_CODE", error: "no", receipt: { key: "k" } };
  assert.deepEqual(endOfReply(reply), { type: "failed", fault: { code: "TOOL_FAILED", message: "no" } });
});

test("a reply of a hand that says little is read as far as it goes", () => {
  const ended = endOfReply({ ok: true, exit_code: 0, stdout: "hé" });
  assert.deepEqual(ended.type === "finished" && ended.outcome.kind === "process" && ended.outcome.stdout, {
    text: "hé",
    bytes: 3,
    truncated: false,
    sha256: "",
  });
  const wrong = { ok: true, exit_code: "0", signal: 9, duration_ms: "1", stdout: 5, output: [], timed_out: "yes" };
  const read = endOfReply(wrong);
  assert.ok(read.type === "finished" && read.outcome.kind === "process");
  const { exitCode, signal, durationMs, timedOut, stdout } = read.outcome;
  assert.deepEqual([exitCode, signal, durationMs, timedOut, stdout.text], [null, null, 0, false, ""]);
});

test("a name of a signal cannot be longer than a name", () => {
  const read = endOfReply({ ok: true, exit_code: null, signal: "S".repeat(100_000) });
  assert.ok(read.type === "finished" && read.outcome.kind === "process");
  assert.ok((read.outcome.signal ?? "").length < 1000);
});

test("an order arrives as it was sent, for tools with a method of their own and for all others", () => {
  const input = { command: "ls", args: ["-l"], cwd: "/tmp", timeout_ms: 5, path: "a", want: "w" };
  for (const tool of ["command", "file_diff", "file_apply", "shell", "own__tool"]) {
    const order: Order = {
      action: { id: "a1", tool, input, callId: "a1" },
      run: "r1",
      epoch: 3,
      ttlMs: 0,
      approved: "hash",
      ledger: "mark",
      warrant: "w",
      traceparent: "00-1-2-01",
    };
    const read = orderOfRequest(openEnvelope(orderMessage(order, 7)));
    assert.deepEqual(
      { ...read, action: { ...read.action, input: {} } },
      { ...order, action: { ...order.action, input: {} } },
    );
    for (const [name, value] of Object.entries(read.action.input))
      assert.deepEqual(value, (input as JsonObject)[name], `${tool} ${name}`);
    assert.equal(openEnvelope(orderMessage(order, 7)).fields["session_epoch"], 7);
  }
});

test("an order without run is fenced by its session, and gets the default time to live", () => {
  const { action } = actionOrder();
  const read = orderOfRequest(openEnvelope({ ...bareOrder({ action } as Order), session_epoch: 4 }));
  assert.deepEqual([read.run, read.epoch, read.ttlMs], ["session", 4, RUN_LIMITS.orderMs]);
});

test("an action to judge is the same action as the order", () => {
  const { action } = actionOrder();
  const { fields } = openEnvelope(judgeMessage(action));
  assert.deepEqual(actionToJudge(fields), { ...action, callId: action.id });
});

function actionOrder(): Pick<Order, "action"> {
  return { action: { id: "a1", tool: "shell", input: { command: "ls" }, callId: "c" } };
}

test("capabilities imply standard tools by their methods, and no others", () => {
  const standard = ["command", "file_diff", "shell"].map((name) => {
    return { name, description: "", parameters: {}, idempotent: true, effect: "read" } as const;
  });
  const implied = toolsOfCapabilities(["command.exec", "file.diff", "shell", "constructor"], standard);
  assert.deepEqual(
    implied.map(({ name }) => name),
    ["command", "file_diff"],
  );
});

test("parts of live output are the whole of it, and none is longer than the bound or half a character", () => {
  const message = (chunk: string): JsonObject => ({ method: "exec.output", chunk });
  const empty = bytesOf(message(""));
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), fc.nat(40), (chunk, room) => {
      const parts = outputParts(chunk, empty + room, message).map(chunkOf);
      assert.equal(parts.join(""), chunk);
      for (const part of parts) {
        assert.ok(part.isWellFormed() || !chunk.isWellFormed(), JSON.stringify(part));
        // A single character goes out whole even when the bound is smaller than it.
        assert.ok(bytesOf(message(part)) <= empty + room || Array.from(part).length <= 1, JSON.stringify([part, room]));
      }
    }),
    { numRuns: 300 },
  );
});

function chunkOf(part: JsonObject): string {
  return typeof part["chunk"] === "string" ? part["chunk"] : "none";
}

test("a bound below one character ends the splitting", () => {
  for (const chunk of ["😀", "😀😀", "é", "\uDC00\uDC00", "a"])
    for (const bound of [0, -5, 1]) {
      const parts = outputParts(chunk, bound, (part) => ({ chunk: part }));
      assert.equal(parts.map(chunkOf).join(""), chunk);
    }
});

test("a reply that is too long loses the middle of its texts, or says that it cannot be sent", () => {
  fc.assert(
    fc.property(end, fc.integer({ min: -10, max: 600 }), fc.nat(20), (ended, maxBytes, repeat) => {
      const reply = endReply("tool.run", ended);
      const stdout = typeof reply["stdout"] === "string" ? { stdout: reply["stdout"].repeat(repeat + 1) } : {};
      const fits = fitReply({ ...reply, ...stdout }, maxBytes);
      if (bytesOf(fits) <= maxBytes) return;
      assert.ok(fits["code"] === "OUTCOME_UNKNOWN" || fits["code"] === "PAYLOAD_TOO_LARGE", JSON.stringify(fits));
      // What was done does not become a failure because its report is long.
      if (reply["ok"] === true) assert.equal(fits["code"], "OUTCOME_UNKNOWN");
    }),
    { numRuns: 300 },
  );
});

test("a shortened reply says so, keeps its exit code and drops the receipt, which covers the whole", () => {
  const reply = { ok: true, exit_code: 3, stdout: "x".repeat(5000), receipt: { key: "k" }, data: { a: 1 } };
  const fits = fitReply(reply, 1000);
  assert.ok(bytesOf(fits) <= 1000);
  assert.deepEqual(
    [fits["exit_code"], fits["truncated"], fits["receipt"], fits["data"]],
    [3, true, undefined, undefined],
  );
  assert.deepEqual(fitReply(reply, 10_000), reply);
});

test("the bound of a message includes its last byte", () => {
  assert.equal(tooLongFault(10, 10), undefined);
  assert.equal(tooLongFault(11, 10)?.code, "PAYLOAD_TOO_LARGE");
});

test("a message may come in an envelope of either form", () => {
  const { method, id, fields } = openEnvelope({
    id: "q1",
    method: "action.ack",
    params: { action_id: "a" },
    timestamp: "t",
  });
  assert.deepEqual([method, id, fields["action_id"]], ["action.ack", "q1", "a"]);
  const plain = openEnvelope({ type: "action.ack", action_id: "a" });
  assert.deepEqual([plain.method, plain.id, plain.fields["action_id"]], ["action.ack", undefined, "a"]);
  for (const broken of [{}, { method: 5 }, { type: null }, { method: "a", params: 1 }, { method: "a", id: 1 }])
    assert.throws(() => openEnvelope(broken), { code: "BAD_REQUEST" }, JSON.stringify(broken));
});

test("a reply of a method of the contract is text for the model: the patch, or that there is none", () => {
  const textOf = (reply: JsonObject): string | undefined => {
    const read = endOfReply({ ok: true, ...reply });
    return read.type === "finished" && read.outcome.kind === "value" ? read.outcome.text : undefined;
  };
  assert.equal(textOf({ patch: "@@ 1", base_sha256: "ff" }), "@@ 1[base_sha256 ff]");
  assert.equal(textOf({ patch: "" }), "[no difference]");
  assert.equal(textOf({ applied: true }), '{"applied":true}');
});

test("a reply of exactly the bound is sent as it is", () => {
  const reply = { ok: true, exit_code: 0, stdout: "x".repeat(300) };
  assert.equal(fitReply(reply, bytesOf(reply)), reply);
  assert.notEqual(fitReply(reply, bytesOf(reply) - 1), reply);
});
