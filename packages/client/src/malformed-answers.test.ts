import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { CLIENT_LIMITS } from "@vidro/core";
import type { Json } from "@vidro/core";
import { Vidro } from "./client.ts";
import { answer, begin, cursorOf, cut, JOURNAL, line, linesAfter, scriptedBrain } from "./scripted-brain.fixture.ts";
import type { Script } from "./scripted-brain.fixture.ts";
import { VidroError } from "./vidro-error.ts";

const QUICK = { retries: 2, backoffMs: 1 };

const follow = (url: string, after = 0) =>
  Array.fromAsync(new Vidro({ url, ...QUICK }).attach("run_1").follow({ after, live: false }));

describe("a stream that is none", () => {
  test("is BAD_ANSWER at once, whatever its page holds, and is not asked for again", async () => {
    for (const [type, body] of [
      ["text/html", "<html>\n<body>\n"],
      ["text/html; charset=utf-8", "<h1>Sign in</h1>"],
      ["application/json", '{"ok":true}'],
      ["text/event-stream", `data: ${JSON.stringify(JOURNAL[0])}\n\n`],
      ["application/x-ndjson-other", linesAfter(0).join("")],
      ["", linesAfter(0).join("")],
    ] as const) {
      await using brain = await scriptedBrain((response) =>
        response.writeHead(200, type === "" ? {} : { "content-type": type }).end(body),
      );
      await assert.rejects(follow(brain.url), { code: "BAD_ANSWER", status: 200 }, type);
      assert.equal(brain.seen.length, 1, type);
    }
  });

  test("is taken with parameters and capitals in its type", async () => {
    for (const type of ["application/x-ndjson; charset=utf-8", "Application/X-NDJSON", "application/x-ndjson ;a=b"]) {
      await using brain = await scriptedBrain((response) =>
        response.writeHead(200, { "content-type": type }).end(linesAfter(0).join("")),
      );
      assert.equal((await follow(brain.url)).length, JOURNAL.length + 1);
    }
  });
});

describe("a line of a stream", () => {
  test("that is no JSON, no UTF-8 or no object is BAD_ANSWER, and entries before it were told", async () => {
    for (const rubbish of ["{", "nul\n", '{"seq":1', "[]", "5", '"text"', "\ufeff{}", "\u0000"]) {
      await using brain = await scriptedBrain((response) =>
        begin(response).end(`${line(JOURNAL[0])}${rubbish}\n${line(JOURNAL[1])}`),
      );
      const told: number[] = [];
      const reading = (async () => {
        for await (const item of new Vidro({ url: brain.url, ...QUICK }).attach("run_1").follow())
          if ("entry" in item) told.push(item.entry.seq);
      })();
      await assert.rejects(reading, { code: "BAD_ANSWER" }, JSON.stringify(rubbish));
      assert.deepEqual(told, [1]);
    }
    await using brain = await scriptedBrain((response) => begin(response).end(Buffer.from([0x22, 0xff, 0x22, 0x0a])));
    await assert.rejects(follow(brain.url), { code: "BAD_ANSWER" });
  });

  test("that is an object of a kind that this version does not know is left out", async () => {
    const strange: readonly Json[] = [
      {},
      { heartbeat: true },
      { seq: "1", at: 1, event: { type: "x" } },
      { seq: 1.5, at: 1, event: { type: "x" } },
      { seq: 1, at: null, event: { type: "x" } },
      { seq: 1, at: 1, event: { kind: "x" } },
      { seq: 1, at: 1, event: [] },
      { after: 0, live: { text: "no type" } },
      { newer: { thing: 1 } },
    ];
    await using brain = await scriptedBrain((response) =>
      begin(response).end([...strange.map(line), ...linesAfter(0)].join("")),
    );
    const items = await follow(brain.url);
    assert.deepEqual(
      items.flatMap((item) => ("entry" in item ? [item.entry.seq] : [])),
      [1, 2, 3, 4, 5],
    );
  });

  test("that ends the stream with a fault has its code, or BAD_ANSWER where it has none", async () => {
    for (const [fault, code] of [
      [{ code: "RUN_BUSY", message: "x" }, "RUN_BUSY"],
      [{ message: "x" }, "BAD_ANSWER"],
      [{ code: 5 }, "BAD_ANSWER"],
      [{}, "BAD_ANSWER"],
    ] as const) {
      await using brain = await scriptedBrain((response) => begin(response).end(line({ fault })));
      await assert.rejects(follow(brain.url), { code }, JSON.stringify(fault));
    }
  });

  test("without its end is not an entry yet, also when it is the last of the run", async () => {
    await using brain = await scriptedBrain((response, request, n) => {
      const all = linesAfter(cursorOf(request)).join("");
      begin(response).end(n === 1 ? all.trimEnd() : all);
    });
    const items = await follow(brain.url);
    assert.equal(items.filter((item) => "entry" in item).length, JOURNAL.length);
    assert.deepEqual(brain.seen.map(cursorOf), [0, 4]);
  });
});

test("a journal is told whole and in order, wherever connections are cut and whatever is repeated", async () => {
  const bytes = (after: number): Buffer => Buffer.from(linesAfter(after).join(""));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(400), fc.nat(2)), { maxLength: 6 }), async (cuts) => {
      // A brain repeats up to two entries that the client has, and breaks off after so many bytes.
      const script: Script = (response, request, n) => {
        const [size, again] = cuts[n - 1] ?? [Infinity, 0];
        const all = bytes(Math.max(0, cursorOf(request) - again));
        if (size >= all.length) begin(response).end(all);
        else begin(response).write(all.subarray(0, size), () => response.destroy());
        if (size === 0) response.destroy();
      };
      await using brain = await scriptedBrain(script);
      const items = await Array.fromAsync(
        new Vidro({ url: brain.url, retries: 20, backoffMs: 1 }).attach("run_1").follow(),
      );
      assert.deepEqual(
        items.flatMap((item) => ("entry" in item ? [item.entry] : [])),
        JOURNAL,
      );
      const cursors = brain.seen.map(cursorOf);
      assert.deepEqual(
        cursors,
        cursors.toSorted((one, other) => one - other),
        "a cursor never goes back",
      );
    }),
    { numRuns: 60 },
  );
});

describe("an error status", () => {
  test("with a page of a proxy has a part of it in the message, and is tried again only where that may help", async () => {
    for (const [status, tries] of [
      [400, 1],
      [401, 1],
      [403, 1],
      [404, 1],
      [408, 3],
      [425, 3],
      [429, 3],
      [500, 1],
      [502, 3],
      [503, 3],
      [504, 3],
    ] as const) {
      const page = `<html>${"x".repeat(5000)}</html>`;
      await using brain = await scriptedBrain((response) =>
        response.writeHead(status, { "content-type": "text/html" }).end(page),
      );
      const vidro = new Vidro({ url: brain.url, ...QUICK });
      await assert.rejects(vidro.attach("x").head(), (thrown) => {
        assert.ok(thrown instanceof VidroError);
        assert.deepEqual([thrown.code, thrown.status], ["BAD_ANSWER", status]);
        assert.ok(thrown.message.startsWith(`The answer is ${status}: <html>xxx`) && thrown.message.length < 400);
        return true;
      });
      assert.equal(brain.seen.length, tries, String(status));
      await assert.rejects(follow(brain.url), { code: "BAD_ANSWER", status });
    }
  });

  test("of a redirect is not followed, by no method, and a stream is not either", async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      await using elsewhere = await scriptedBrain((response) => answer(response, 200, {}));
      await using brain = await scriptedBrain((response) =>
        response.writeHead(status, { location: elsewhere.url }).end(),
      );
      const vidro = new Vidro({ url: brain.url, token: "id.secret", ...QUICK });
      const asks = [
        () => vidro.attach("x").head(),
        () => vidro.run("x"),
        () => vidro.agents.delete("x"),
        () => follow(brain.url),
      ];
      for (const ask of asks)
        await assert.rejects(ask(), { code: "BAD_ANSWER", status, message: /points to another one/ });
      assert.equal(elsewhere.seen.length, 0, "the token goes nowhere else");
    }
  });

  test("whose body breaks off, or is longer than any, is still an error", async () => {
    await using brain = await scriptedBrain((response, _, n) => {
      if (n === 1) response.writeHead(404, { "content-length": 900 }).write('{"code":', () => response.destroy());
      else if (n === 2) answer(response, 404, { code: "NOT_FOUND", message: "None." });
      else response.writeHead(404).end(Buffer.alloc(CLIENT_LIMITS.answerBytes + 1, "x"));
    });
    const vidro = new Vidro({ url: brain.url, ...QUICK });
    await assert.rejects(vidro.attach("x").head(), { code: "NOT_FOUND" });
    assert.equal(brain.seen.length, 2, "the one that broke off was asked for again");
    await assert.rejects(vidro.attach("x").head(), { code: "PAYLOAD_TOO_LARGE" });
  });
});

describe("an answer", () => {
  test("without a body, or of blanks, is no record", async () => {
    for (const body of ["", " ", "\n", "null", "true", "[]", '"x"', '{"id":5}', '{"id":"run_1"}']) {
      await using brain = await scriptedBrain((response) =>
        response.writeHead(200, { "content-type": "application/json" }).end(body),
      );
      await assert.rejects(new Vidro({ url: brain.url, ...QUICK }).attach("x").head(), { code: "BAD_ANSWER" }, body);
    }
  });

  test("in any pieces, also within a character, is the same answer", async () => {
    const head = {
      id: "run_1",
      owner: "grün",
      thread: "t",
      task: "日本 😀",
      status: "running",
      seq: 1,
      startedAt: 1,
      updatedAt: 2,
    };
    const bytes = Buffer.from(JSON.stringify(head));
    await using brain = await scriptedBrain((response, _, n) => {
      response.writeHead(200, { "content-type": "application/json" }).flushHeaders();
      response.write(bytes.subarray(0, n), () => setImmediate(() => response.end(bytes.subarray(n))));
    });
    const vidro = new Vidro({ url: brain.url, ...QUICK });
    for (let at = 1; at < bytes.length; at += 7) assert.equal((await vidro.attach("run_1").head()).task, "日本 😀");
  });

  test("that is cut off in its middle is asked for again, and is told as lost when it never comes whole", async () => {
    await using brain = await scriptedBrain((response) => cut(response, '{"id":"run_1"'));
    await assert.rejects(new Vidro({ url: brain.url, ...QUICK }).attach("x").head(), { code: "CONNECTION_LOST" });
    assert.equal(brain.seen.length, 3);
  });

  test("of each list and record without one of its fields is BAD_ANSWER that names the field", async () => {
    const records: readonly (readonly [object, (vidro: Vidro) => Promise<unknown>, (one: object) => Json])[] = [
      [
        { id: "s1", owner: "me", cron: "* * * * *", task: "x", missed: "once", nextAt: 1 },
        (vidro) => vidro.schedules.list(),
        (one) => ({ schedules: [one] }) as Json,
      ],
      [
        { id: "h1", owner: "me", task: "x", path: "/hooks/h1" },
        (vidro) => vidro.hooks.list(),
        (one) => ({ hooks: [one] }) as Json,
      ],
      [
        { id: "k1", owner: "me", title: "t", snippet: "s", status: "verified", trust: "person", at: 1 },
        (vidro) => vidro.knowledge.list(),
        (one) => ({ entries: [one] }) as Json,
      ],
      [
        { folder: "/d", documents: 1, sections: 2, at: 5 },
        (vidro) => vidro.knowledge.documentFolders(),
        (one) => ({ folders: [one] }) as Json,
      ],
      [
        { id: "run_1", owner: "me", thread: "t", task: "x", status: "running", seq: 1, startedAt: 1, updatedAt: 1 },
        (vidro) => vidro.list(),
        (one) => ({ runs: [one] }) as Json,
      ],
    ];
    for (const [record, ask, listed] of records) {
      let shown: Json = null;
      await using brain = await scriptedBrain((response) => answer(response, 200, shown));
      const vidro = new Vidro({ url: brain.url, ...QUICK });
      shown = listed(record);
      assert.equal(((await ask(vidro)) as unknown[]).length, 1);
      for (const name of Object.keys(record)) {
        const { [name]: _, ...rest } = record as { [field: string]: Json };
        shown = listed(rest);
        await assert.rejects(ask(vidro), { code: "BAD_ANSWER", message: new RegExp(`: ${name} is missing`) }, name);
      }
      for (const wrong of [null, [], "x", { runs: 5, hooks: null, entries: {}, folders: "", schedules: 1 }] as const) {
        shown = wrong;
        await assert.rejects(ask(vidro), { code: "BAD_ANSWER" });
      }
    }
  });
});
