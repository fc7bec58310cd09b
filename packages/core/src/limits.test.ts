import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as limits from "./limits.ts";
import {
  BACKGROUND_LIMITS,
  BUS_LIMITS,
  CATALOG_LIMITS,
  CLIENT_LIMITS,
  CODEC_LIMITS,
  EXECUTOR_LIMITS,
  FILE_LIMITS,
  HAND_LIMITS,
  HEALTH_LIMITS,
  HTTP_LIMITS,
  LONGEST_TIMER_MS,
  MCP_LIMITS,
  MODEL_LIMITS,
  MOUNT_LIMITS,
  POSTGRES_LIMITS,
  PROCESS_LIMITS,
  REGISTER_LIMITS,
  RELAY_LIMITS,
  RUN_LIMITS,
  SAMPLE_LIMITS,
  SAMPLING_LIMITS,
  SIGNED_HTTP_LIMITS,
  SOUTHBOUND_LIMITS,
  STREAM_LIMITS,
  TCP_LIMITS,
  TELEMETRY_LIMITS,
  TRACE_LIMITS,
  WATCH_LIMITS,
  WORKER_LIMITS,
} from "./limits.ts";

/** Every bound with its group: `HAND_LIMITS.commandMs`. */
function allBounds(): readonly (readonly [string, unknown])[] {
  return Object.entries(limits).flatMap(([group, bounds]): (readonly [string, unknown])[] =>
    typeof bounds === "object"
      ? Object.entries<unknown>(bounds).map(([name, value]) => [`${group}.${name}`, value])
      : [[group, bounds]],
  );
}

const numbersOf = (value: unknown): readonly unknown[] =>
  typeof value === "object" && value !== null ? Object.values(value) : [value];

/** Bytes that JSON takes at most for one byte of text: six for a control character. */
const ESCAPED = 6;
const inBase64 = (bytes: number): number => Math.ceil(bytes / 3) * 4;
/** Room of a message for all but the text that fills it. */
const ENVELOPE_BYTES = 4096;

describe("every bound", () => {
  it("is a finite number above zero, or a list or range of such", () => {
    const mayBeZero = new Set([
      "MODEL_LIMITS.squeezedFreshTurns",
      "SAMPLING_LIMITS.temperature",
      "SAMPLING_LIMITS.topP",
    ]);
    for (const [name, value] of allBounds())
      for (const one of numbersOf(value)) {
        assert.ok(typeof one === "number" && Number.isFinite(one), name);
        assert.ok(one > 0 || (one === 0 && mayBeZero.has(name)), name);
      }
  });

  it("of bytes, characters, milliseconds and counts is a whole number", () => {
    const isPart = /Share$|PerSecond$|SAMPLING_LIMITS/;
    for (const [name, value] of allBounds())
      if (!isPart.test(name)) for (const one of numbersOf(value)) assert.ok(Number.isSafeInteger(one), name);
  });

  it("that is a share is below one", () => {
    for (const [name, value] of allBounds()) if (name.endsWith("Share")) assert.ok(Number(value) < 1, name);
  });

  it("of a delay is one that a timer can wait for; only lives of certificates are longer", () => {
    const lives = new Set([
      "SOUTHBOUND_LIMITS.authorityMs",
      "SOUTHBOUND_LIMITS.serverMs",
      "SOUTHBOUND_LIMITS.lapsedMs",
    ]);
    for (const [name, value] of allBounds())
      if (name.endsWith("Ms") && !lives.has(name))
        for (const one of numbersOf(value)) assert.ok(Number(one) <= LONGEST_TIMER_MS, name);
  });

  it("with a cap or a floor beside it does not go beyond that", () => {
    const bounds = new Map(allBounds());
    const pairs = [...bounds].flatMap(([name, cap]) => {
      const usual = /Cap(Ms)?$/.test(name) ? bounds.get(name.replace(/Cap(?=Ms$|$)/, "")) : undefined;
      return usual === undefined ? [] : [[name, usual, cap] as const];
    });
    assert.ok(pairs.length >= 12, `${pairs.length} pairs are compared`);
    for (const [name, usual, cap] of pairs) assert.ok(Number(usual) < Number(cap), name);
    assert.ok(TCP_LIMITS.commandFloorMs <= TCP_LIMITS.commandMs);
    for (const [name, { least, most }] of Object.entries(SAMPLING_LIMITS)) assert.ok(least < most, name);
  });
});

describe("the end of a command", () => {
  it("comes in an order in which each party outlasts the one that it waits for", () => {
    assert.ok(HAND_LIMITS.commandMs <= HAND_LIMITS.commandCapMs);
    // SIGTERM, SIGKILL, the pipes; then the hand gives up, and after it the brain.
    assert.ok(HAND_LIMITS.graceMs + HAND_LIMITS.pipesMs < HAND_LIMITS.overdueMs);
    assert.ok(HAND_LIMITS.overdueMs < REGISTER_LIMITS.overdueMs);
    assert.ok(HAND_LIMITS.commandCapMs + REGISTER_LIMITS.overdueMs < REGISTER_LIMITS.endMs);
    assert.ok(HAND_LIMITS.treePollMs < HAND_LIMITS.graceMs);
    assert.ok(HAND_LIMITS.memoryLookMs < HAND_LIMITS.graceMs);
  });

  it("of a run that is aborted fits into the promise", () => {
    assert.ok(RUN_LIMITS.haltMs < RUN_LIMITS.abortMs);
    assert.ok(RUN_LIMITS.leaseMs + RUN_LIMITS.sweepMs < 30_000, "a run without a driver is taken up within 30 s");
    assert.ok(RUN_LIMITS.silenceMs <= RUN_LIMITS.wallMs);
  });

  it("is on record for as long as a run may ask for it", () => {
    assert.ok(RUN_LIMITS.handMs <= HAND_LIMITS.ledgerMs);
    assert.ok(RUN_LIMITS.handMs <= REGISTER_LIMITS.rememberedMs);
    assert.ok(HAND_LIMITS.ledgerEntries < HAND_LIMITS.evictedEntries);
    assert.ok(RUN_LIMITS.orderMs < REGISTER_LIMITS.warrantMs, "an order expires before its warrant");
    assert.ok(HAND_LIMITS.spoolBytes <= HAND_LIMITS.spoolFolderBytes);
    assert.ok(HAND_LIMITS.fileBytes * HAND_LIMITS.patchFiles >= HAND_LIMITS.undoBytes);
  });
});

describe("what one party makes", () => {
  it("fits into a message of a link: parts of an output, images, patches", () => {
    const room = REGISTER_LIMITS.messageBytes - ENVELOPE_BYTES;
    assert.ok(inBase64(HAND_LIMITS.spoolPartBytes) <= room);
    assert.ok(inBase64(FILE_LIMITS.imageBytes) <= FILE_LIMITS.taskChars);
    assert.ok(FILE_LIMITS.taskChars <= room);
    assert.ok(HAND_LIMITS.patchBytes <= room);
    assert.ok(HAND_LIMITS.argChars <= room);
    assert.ok(REGISTER_LIMITS.ownToolsChars <= room);
    assert.ok(2 * HAND_LIMITS.guideBytes + HAND_LIMITS.gitFactChars <= room);
    assert.ok(REGISTER_LIMITS.messageBytes < REGISTER_LIMITS.readBytes, "a message beyond the bound is still answered");
  });

  it("fits into an answer of a TCP agent, with every character escaped", () => {
    const outcome = 2 * (HAND_LIMITS.headBytes + HAND_LIMITS.tailBytes);
    assert.ok(outcome * ESCAPED + ENVELOPE_BYTES <= TCP_LIMITS.answerBytes);
    assert.ok(CODEC_LIMITS.frameBytesBeforeAuth < CODEC_LIMITS.frameBytes);
    assert.ok(TCP_LIMITS.args * TCP_LIMITS.argChars * ESCAPED + ENVELOPE_BYTES <= CODEC_LIMITS.frameBytes);
    assert.ok(TCP_LIMITS.tokenChars <= CODEC_LIMITS.frameBytesBeforeAuth);
  });

  it("fits into a message to a keeper: a command of the longest arguments, with every character escaped", () => {
    assert.ok(HAND_LIMITS.argChars * ESCAPED + ENVELOPE_BYTES <= PROCESS_LIMITS.messageBytes);
    assert.ok(PROCESS_LIMITS.inputChars * ESCAPED + ENVELOPE_BYTES <= PROCESS_LIMITS.messageBytes);
    assert.ok(PROCESS_LIMITS.inputChars * 3 <= PROCESS_LIMITS.unreadBytes);
    assert.ok(PROCESS_LIMITS.segmentBytes < PROCESS_LIMITS.outputBytes);
    assert.ok(PROCESS_LIMITS.readBytes < PROCESS_LIMITS.segmentBytes);
  });

  it("fits into the body of a request: a task with files, an agent with its picture", () => {
    assert.ok(FILE_LIMITS.taskChars + RUN_LIMITS.taskChars + ENVELOPE_BYTES <= HTTP_LIMITS.bodyBytes);
    assert.ok(CATALOG_LIMITS.promptChars + CATALOG_LIMITS.imageChars + ENVELOPE_BYTES <= HTTP_LIMITS.bodyBytes);
    assert.ok(RUN_LIMITS.answerChars <= HTTP_LIMITS.bodyBytes);
    assert.ok(SOUTHBOUND_LIMITS.csrChars < SOUTHBOUND_LIMITS.enrolBytes);
  });

  it("fits into a line of a run's events: a whole reply of a model with every character escaped", () => {
    assert.ok(MODEL_LIMITS.replyChars * ESCAPED + ENVELOPE_BYTES <= CLIENT_LIMITS.lineBytes);
    assert.ok(MODEL_LIMITS.unreadBytes < MODEL_LIMITS.replyChars);
    assert.ok(MODEL_LIMITS.compactedChars < MODEL_LIMITS.contextChars);
    assert.ok(MODEL_LIMITS.turnChars < MODEL_LIMITS.compactedChars);
    assert.ok(MODEL_LIMITS.oldOutputChars < MODEL_LIMITS.turnChars);
    assert.ok(FILE_LIMITS.countedChars < MODEL_LIMITS.contextChars);
  });

  it("fits between brains on one bus: a message of a hand, and one to an executor", () => {
    assert.ok(REGISTER_LIMITS.messageBytes < BUS_LIMITS.messageChars);
    assert.ok(EXECUTOR_LIMITS.toldBytes < BUS_LIMITS.messageChars);
    assert.ok(POSTGRES_LIMITS.notifyChars < 8000, "PostgreSQL takes less than 8000 bytes");
  });

  it("fits into one sample of telemetry and all samples of a hand", () => {
    assert.ok(TELEMETRY_LIMITS.samples * SAMPLE_LIMITS.everyMs >= TELEMETRY_LIMITS.keptMs);
    assert.ok((TELEMETRY_LIMITS.payloadChars + TELEMETRY_LIMITS.overheadBytes) * 2 < TELEMETRY_LIMITS.bytes);
    assert.ok(WATCH_LIMITS.page <= WATCH_LIMITS.pageCap && WATCH_LIMITS.pageCap <= WATCH_LIMITS.events);
    assert.ok(WATCH_LIMITS.active <= WATCH_LIMITS.kept);
  });
});

describe("silence", () => {
  it("is told from death by more than one missed heartbeat", () => {
    assert.ok(REGISTER_LIMITS.heartbeatsMissed >= 2 && TCP_LIMITS.heartbeatsMissed >= 2);
    assert.ok(2 * STREAM_LIMITS.sseHeartbeatMs < CLIENT_LIMITS.silenceMs);
    assert.ok(2 * STREAM_LIMITS.glassHeartbeatMs < CLIENT_LIMITS.silenceMs);
    assert.ok(2 * RELAY_LIMITS.beatMs < RELAY_LIMITS.silentMs);
    assert.ok(2 * BUS_LIMITS.probeMs < BUS_LIMITS.lostMs);
    assert.ok(TCP_LIMITS.heartbeatMs * TCP_LIMITS.heartbeatsMissed < TCP_LIMITS.idleMs);
  });

  it("of a poll ends before the wait for its answer does", () => {
    assert.ok(SIGNED_HTTP_LIMITS.pollMs < SOUTHBOUND_LIMITS.answerMs);
    assert.ok(SIGNED_HTTP_LIMITS.pollMs < SOUTHBOUND_LIMITS.requestMs);
    assert.ok(MCP_LIMITS.waitMs < MCP_LIMITS.longestWaitMs);
    assert.ok(PROCESS_LIMITS.lookMs < PROCESS_LIMITS.firstSignMs);
  });

  it("between statement and reply of PostgreSQL leaves the server time to say that it gave up", () => {
    assert.ok(POSTGRES_LIMITS.statementMs < POSTGRES_LIMITS.replyMs);
    assert.ok(POSTGRES_LIMITS.connectMs < POSTGRES_LIMITS.openMs);
  });

  it("ends a server before its supervisor would", () => {
    assert.ok(HTTP_LIMITS.waitingMs < HTTP_LIMITS.drainMs && HTTP_LIMITS.drainMs < HTTP_LIMITS.stopMs);
    assert.ok(HTTP_LIMITS.stopMs < BACKGROUND_LIMITS.endedMs);
    assert.ok(HTTP_LIMITS.headersMs <= HTTP_LIMITS.requestMs);
    assert.ok(HTTP_LIMITS.revokedMs < 1000, "a connection ends within a second of its token");
    assert.ok(MOUNT_LIMITS.probeMs < MOUNT_LIMITS.openMs);
    assert.ok(TRACE_LIMITS.closeMs < HTTP_LIMITS.stopMs);
  });
});

describe("proofs", () => {
  it("with a signature are remembered for as long as they could be used again", () => {
    assert.ok(SIGNED_HTTP_LIMITS.nonceMs >= (SIGNED_HTTP_LIMITS.skewS + SIGNED_HTTP_LIMITS.lifeS) * 1000);
    assert.ok(SIGNED_HTTP_LIMITS.nonceChars <= SIGNED_HTTP_LIMITS.nonceCharsAtMost);
    assert.ok(SIGNED_HTTP_LIMITS.nonceChars * 6 >= 128, "a nonce has 128 bits");
    assert.ok(SIGNED_HTTP_LIMITS.nonceCharsAtMost < SIGNED_HTTP_LIMITS.fieldChars);
  });

  it("with a certificate are renewed before they end, and may lapse for a while", () => {
    assert.ok(SOUTHBOUND_LIMITS.serverRenewMs < SOUTHBOUND_LIMITS.serverMs);
    assert.ok(SOUTHBOUND_LIMITS.certificateMs < SOUTHBOUND_LIMITS.lapsedMs);
    assert.ok(SOUTHBOUND_LIMITS.backdateMs < SOUTHBOUND_LIMITS.certificateMs / 3);
    assert.ok(SOUTHBOUND_LIMITS.serverMs < SOUTHBOUND_LIMITS.authorityMs);
    assert.ok(SOUTHBOUND_LIMITS.renewBurst * SOUTHBOUND_LIMITS.renewEveryMs <= SOUTHBOUND_LIMITS.certificateMs);
  });
});

describe("a queue", () => {
  it("holds at least one whole batch of what it gathers", () => {
    assert.ok(TRACE_LIMITS.batch <= TRACE_LIMITS.waiting);
    assert.ok(STREAM_LIMITS.batchPieces <= STREAM_LIMITS.windowPieces);
    assert.ok(STREAM_LIMITS.batchChars <= STREAM_LIMITS.windowChars);
    assert.ok(STREAM_LIMITS.turnBytes <= STREAM_LIMITS.unsentBytes);
    assert.ok(CODEC_LIMITS.sseBytes <= STREAM_LIMITS.unsentBytes * 2);
    assert.ok(REGISTER_LIMITS.messageBytes <= SOUTHBOUND_LIMITS.unsentBytes);
    assert.ok(REGISTER_LIMITS.messageBytes <= SIGNED_HTTP_LIMITS.outboxBytes);
    assert.ok(HAND_LIMITS.liveBytesPerSecond <= HAND_LIMITS.liveWaitingBytes);
    assert.ok(WORKER_LIMITS.lineBytes <= WORKER_LIMITS.unsentBytes);
    assert.ok(WORKER_LIMITS.answerTokens < WORKER_LIMITS.contextTokens);
  });

  it("that is full is noticed before the disk is", () => {
    assert.ok(HEALTH_LIMITS.fullBytes < HEALTH_LIMITS.lowBytes);
    assert.ok(TCP_LIMITS.strangers < TCP_LIMITS.connections);
    assert.ok(REGISTER_LIMITS.perRun < REGISTER_LIMITS.known);
  });
});
