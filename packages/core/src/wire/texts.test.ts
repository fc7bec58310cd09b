import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { endFacts, endOfEvent, endWords, receiptText } from "../receipt.ts";
import type { ActionEnd } from "../tool.ts";
import { withKnownCode } from "./action-end.ts";
import {
  formatInvitation,
  formatInvitationProof,
  installCommand,
  joinCommand,
  nextForJoining,
  parseInvitation,
  parseInvitationProof,
} from "./enrolment.ts";
import { formatWarrant, parseWarrant, tcpHandName, warrantText } from "./warrant.ts";
import { workerLineDecoder } from "./worker-lines.ts";
import type { WorkerLine } from "./worker-lines.ts";

const output = (text: string) => ({ text, bytes: text.length, truncated: false, sha256: "0".repeat(64) });
const FINISHED: ActionEnd = {
  type: "finished",
  outcome: {
    kind: "process",
    exitCode: 0,
    signal: null,
    timedOut: false,
    durationMs: 5,
    stdout: output("secret"),
    stderr: output(""),
  },
};

describe("a warrant", () => {
  const order = {
    run: "run_1",
    action: { id: "act_1", tool: "shell", input: {}, callId: "c" },
    approved: "h",
    ledger: "l",
  };

  it("signs another text for another hand, run, action, plan, ledger or time", () => {
    const base = { hand: "h1", order, expiresAt: 5 };
    const texts = [
      base,
      { ...base, hand: "h2" },
      { ...base, expiresAt: 6 },
      { ...base, order: { ...order, run: "run_2" } },
      { ...base, order: { ...order, action: { ...order.action, id: "act_2" } } },
      { ...base, order: { ...order, approved: "g" } },
      { ...base, order: { ...order, ledger: "m" } },
    ].map((terms) => warrantText(terms));
    assert.equal(new Set(texts).size, texts.length);
  });

  it("cannot be made to say the same by moving letters from one part to the next", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (hand, run, otherHand, otherRun) => {
        const text = (one: string, other: string): string =>
          warrantText({ hand: one, order: { ...order, run: other }, expiresAt: 1 });
        assert.equal(text(hand, run) === text(otherHand, otherRun), hand === otherHand && run === otherRun);
      }),
    );
  });

  it("is read back as it was written, and nothing else is one", () => {
    const signature = "A".repeat(86);
    assert.deepEqual(parseWarrant(formatWarrant({ expiresAt: 123, signature })), { expiresAt: 123, signature });
    for (const text of ["", "123", `123.${"A".repeat(85)}`, `x.${signature}`, `123.${signature}\n`, `-1.${signature}`])
      assert.equal(parseWarrant(text), undefined, text);
  });

  it("names TCP hands in a form that no joined hand has", () => assert.equal(tcpHandName("a"), "tcp:a"));
});

describe("the texts of a receipt", () => {
  it("have a prefix of their own, and every part", () => {
    const receipt = { run: "r", action: "a", plan: "p", outcome: "o", words: "w", at: 1, ledger: "l", key: "k" };
    assert.equal(receiptText(receipt), '["vidro-receipt-1","r","a","p","o","w",1,"l","k"]');
  });

  it("keep words out of the facts, which redaction must not change", () => {
    assert.doesNotMatch(endFacts(FINISHED), /secret/);
    assert.match(endWords(FINISHED), /secret/);
    assert.doesNotMatch(endFacts({ type: "failed", fault: { code: "TOOL_FAILED", message: "secret" } }), /secret/);
    assert.equal(endWords({ type: "unknown", fault: { code: "OUTCOME_UNKNOWN", message: "m" } }), '["m",null]');
    assert.equal(
      endWords({ type: "finished", outcome: { kind: "value", text: "t", data: { a: 1 } } }),
      '["t",{"a":1}]',
    );
  });

  it("are the same for an end and for the event that records it", () => {
    const unknown = { type: "unknown", fault: { code: "OUTCOME_UNKNOWN", message: "m" }, partial: "p" } as const;
    const event = { type: "action.unknown", action: "act_1", fault: unknown.fault, partial: "p" } as const;
    assert.deepEqual(endOfEvent(event), unknown);
    const failed = { type: "action.failed", action: "act_1", fault: { code: "TOOL_FAILED", message: "m" } } as const;
    assert.equal(endFacts(endOfEvent(failed)), endFacts({ type: "failed", fault: failed.fault }));
  });
});

describe("an end from a newer peer", () => {
  const receipt = { signature: "x" } as never;

  it("keeps a code that is known here, and its receipt", () => {
    const known: ActionEnd = { type: "failed", fault: { code: "TOOL_FAILED", message: "m" }, receipt };
    assert.equal(withKnownCode(known), known);
    assert.equal(withKnownCode(FINISHED), FINISHED);
  });

  it("gets the nearest code for one that is not, without the receipt, which would not match", () => {
    const strange = (type: "failed" | "unknown") =>
      ({ type, fault: { code: "FROM_THE_FUTURE", message: "m" }, receipt }) as unknown as ActionEnd;
    assert.deepEqual(withKnownCode(strange("failed")), {
      type: "failed",
      fault: { code: "TOOL_FAILED", message: "m" },
    });
    assert.deepEqual(withKnownCode(strange("unknown")), {
      type: "unknown",
      fault: { code: "OUTCOME_UNKNOWN", message: "m" },
    });
  });

  it("is not misled by a code that is a method of every object", () => {
    const odd = { type: "failed", fault: { code: "constructor", message: "m" } } as unknown as ActionEnd;
    assert.equal(
      withKnownCode(odd).type === "failed" && (withKnownCode(odd) as { fault: { code: string } }).fault.code,
      "TOOL_FAILED",
    );
  });
});

describe("an invitation", () => {
  const token = { id: "a".repeat(32), secret: "B".repeat(43), fingerprint: "C".repeat(43) };

  it("is read back as it was written, with blanks around it", () => {
    assert.deepEqual(parseInvitation(` ${formatInvitation(token)}\n`), token);
    assert.deepEqual(parseInvitationProof(formatInvitationProof(token)), { id: token.id, secret: token.secret });
  });

  it("is refused in words when it was not copied whole", () => {
    const text = formatInvitation(token);
    for (const part of ["", text.slice(1), text.slice(0, -1), `${text}x`, text.replaceAll(".", " ")])
      assert.throws(() => parseInvitation(part), { code: "BAD_REQUEST", message: /copy the whole of it/ });
    assert.equal(parseInvitationProof(text), undefined);
  });

  it("stays out of the arguments of the commands that use it", () => {
    const text = formatInvitation(token);
    assert.ok(joinCommand("wss://b:1/x", text).startsWith(`VIDRO_INVITATION=${text} vidro`));
    const sha256 = createHash("sha256").update("x").digest("hex");
    const line = installCommand({ url: "wss://brain.test:3121/southbound", token: text, pin: "PIN=", sha256 });
    assert.equal(line.indexOf(text), "VIDRO_INVITATION=".length);
    assert.equal(line.lastIndexOf(text), "VIDRO_INVITATION=".length);
    assert.ok(line.includes("--pinnedpubkey sha256//PIN="));
    assert.ok(line.includes(sha256));
    assert.ok(line.includes("https://brain.test:3121/"));
    assert.equal(line.split("'").length, 3);
  });

  it("that is refused has a next step of its own", () => {
    assert.match(nextForJoining("INVALID_TOKEN"), /vidro hands invite/);
    assert.match(nextForJoining("CONFLICT"), /--name/);
    assert.notEqual(nextForJoining("TOOL_FAILED"), "");
  });
});

describe("lines of a model worker", () => {
  const lines = (...texts: string[]): WorkerLine[] => {
    const decoder = workerLineDecoder();
    const read = texts.flatMap((text) => decoder.push(Buffer.from(text)));
    const last = decoder.end();
    return last === undefined ? read : [...read, last];
  };

  it("are messages of the wire, or text of the model", () => {
    assert.deepEqual(lines('{"type":"token","text":"a b"}\n'), [{ type: "token", text: "a b" }]);
    assert.deepEqual(lines("plain words \n\n"), [
      { type: "token", text: "plain words " },
      { type: "token", text: "\n" },
    ]);
    assert.deepEqual(lines('{"type":"stop","reason":"end"}\n'), [
      { type: "stop", fields: { type: "stop", reason: "end" } },
    ]);
    assert.deepEqual(lines('{"ok":true,"a":1}\n'), [{ type: "reply", fields: { ok: true, a: 1 } }]);
    assert.deepEqual(lines('{"action":"shell"}\n'), [{ type: "token", text: '\n{"action":"shell"}\n' }]);
    assert.deepEqual(lines("{broken\n"), [{ type: "token", text: "{broken" }]);
  });

  it("that tell of an error have its words, bounded, and its code", () => {
    assert.deepEqual(lines('{"ok":false,"error":"busy","code":7}\n'), [{ type: "error", message: "busy", code: 7 }]);
    assert.deepEqual(lines('{"type":"error"}\n'), [{ type: "error", message: "no reason was given" }]);
    const [long] = lines(`{"type":"error","message":"${"x".repeat(100_000)}"}\n`);
    assert.ok(long?.type === "error" && long.message.length < 10_000);
  });

  it("are the same in whatever pieces they come, also the last one without an end", () => {
    const text = '{"type":"token","text":"é😀"}\nplain\n{"type":"stop"}';
    const whole = lines(text);
    const decoder = workerLineDecoder();
    const pieces = [...Buffer.from(text)].flatMap((byte) => decoder.push(Uint8Array.of(byte)));
    assert.deepEqual([...pieces, decoder.end()], whole);
  });

  it("that are too long or no UTF-8 are rubbish, by name", () => {
    assert.throws(() => workerLineDecoder(10).push(Buffer.from(`${"x".repeat(11)}\n`)), { code: "MODEL_RUBBISH" });
    assert.throws(() => workerLineDecoder().push(Buffer.of(0xff, 0x0a)), { code: "MODEL_RUBBISH", message: /UTF-8/ });
  });
});
