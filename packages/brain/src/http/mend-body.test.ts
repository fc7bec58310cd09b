import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Fault, isObject } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import { acceptBody, reportMending } from "./mend-body.ts";
import type { Route } from "./route.ts";

const BODY: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["prompt"],
  properties: { prompt: { type: "string" }, session_id: { type: "string" }, temperature: { type: "number" } },
};
const ROUTE = { method: "POST", path: "/agent/generate", body: BODY, mends: true } as unknown as Route;

/** Takes bodies whose prompt is text and whose temperature, if any, is a number. */
const checks = {
  body(brought: Json): JsonObject {
    const { prompt, temperature = 0, ...rest } = isObject(brought) ? brought : {};
    const known = Object.keys(rest).every((name) => name === "session_id");
    if (typeof prompt === "string" && typeof temperature === "number" && known) return brought as JsonObject;
    throw new Fault("BAD_REQUEST", "It does not fit.");
  },
};

describe("a body that does not fit its schema", () => {
  it("is left as it is when it fits", () => {
    const brought = { prompt: "x", temperature: 1 };
    assert.deepEqual(acceptBody(ROUTE, checks, brought), { body: brought, changes: [] });
  });

  it("is mended by names of three languages, and by values that convert without loss", () => {
    for (const name of ["task", "Tarefa", "tarea", "pergunta", "instruction"]) {
      const { body, changes } = acceptBody(ROUTE, checks, { [name]: "x", temperatura: "0.5" });
      assert.deepEqual(body, { prompt: "x", temperature: 0.5 }, name);
      assert.ok(changes.length >= 2, name);
    }
  });

  it("tells of changes by their fields, never by their values", () => {
    const { changes } = acceptBody(ROUTE, checks, { task: "my secret words", temperature: "0.25" });
    assert.doesNotMatch(changes.join(" "), /secret|0\.25/);
  });

  it("is refused as before when nothing can be mended, or mending does not help", () => {
    for (const brought of [{}, { prompt: {} }, { task: "x", other: 1 }, null, [], "x"])
      assert.throws(() => acceptBody(ROUTE, checks, brought), { code: "BAD_REQUEST" }, JSON.stringify(brought));
  });

  it("is not mended for a route that does not allow it", () => {
    const { mends: _, ...strict } = ROUTE;
    assert.throws(() => acceptBody(strict, checks, { task: "x" }), {
      code: "BAD_REQUEST",
    });
  });

  it("is no reason to hide an error of our own", () => {
    const broken = {
      body(): JsonObject {
        throw new TypeError("a bug");
      },
    };
    assert.throws(() => acceptBody(ROUTE, broken, { task: "x" }), TypeError);
  });
});

describe("the report of a mending", () => {
  const told = (changes: readonly string[]) => {
    const events: [string, JsonObject][] = [];
    const tell = {
      status: () => undefined,
      intent: (metadata: JsonObject) => void events.push(["intent", metadata]),
      healing: (healing: JsonObject) => void events.push(["healing", healing]),
    };
    reportMending(tell, ROUTE, { body: {}, changes });
    return events;
  };

  it("is nothing when nothing was changed", () => assert.deepEqual(told([]), []));

  it("names what was wrong, what was changed and that it helped", () => {
    const [[first, intent] = ["", {}], [, trying] = ["", {}], [, done] = ["", {}]] = told(["task became prompt"]);
    assert.equal(first, "intent");
    assert.equal(intent["original_intent"], "POST /agent/generate");
    assert.deepEqual(trying["metadata"], { attempt: 1, changes: ["task became prompt"] });
    assert.deepEqual(done["metadata"], { attempt: 1, success: true });
  });
});
