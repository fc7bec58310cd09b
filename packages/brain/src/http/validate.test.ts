import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import type { Route } from "./route.ts";
import { createValidator } from "./validate.ts";

function checks(schemas: Pick<Route, "body" | "query">): ReturnType<typeof createValidator> {
  return createValidator({
    ...schemas,
    method: "POST",
    path: "/",
    summary: "",
    scope: undefined,
    answer: {},
    handle: nothing,
  });
}

const nothing = async (): Promise<{ json: null }> => ({ json: null });

function refuses(work: () => unknown, message: RegExp): void {
  assert.throws(
    work,
    (thrown) => thrown instanceof Fault && thrown.code === "BAD_ARGUMENTS" && message.test(thrown.message),
  );
}

const BODY: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["prompt"],
  properties: {
    prompt: { type: "string", minLength: 1 },
    mode: { enum: ["a", "b"], default: "a" },
    params: { type: "object", properties: { top_p: { type: "number", maximum: 1 } } },
  },
};

test("a body that fits comes back with its defaults", () => {
  assert.deepEqual(checks({ body: BODY }).body({ prompt: "x" }), { prompt: "x", mode: "a" });
});

test("000-67: what does not fit a schema is refused with its path and the reason", () => {
  const body = (value: Json): unknown => checks({ body: BODY }).body(value);
  refuses(() => body({}), /^The body at \/prompt is missing\.$/);
  refuses(() => body({ prompt: "x", colour: 1 }), /^The body at \/colour is not known here\.$/);
  refuses(() => body({ prompt: "" }), /^The body at \/prompt must NOT have fewer than 1 characters\.$/);
  refuses(() => body({ prompt: "x", mode: "c" }), /^The body at \/mode must be one of "a", "b"\.$/);
  refuses(() => body({ prompt: "x", params: { top_p: 2 } }), /^The body at \/params\/top_p must be <= 1\.$/);
  refuses(() => body([]), /^The body must be object\.$/);
  refuses(() => checks({ body: {} }).body([]), /^The body must be an object\.$/);
});

test("000-67: the types of a body are never bent", () => {
  for (const prompt of [1, true, null, ["x"]]) refuses(() => checks({ body: BODY }).body({ prompt }), /must be string/);
});

test("a route that takes no body gets none", () => {
  assert.deepEqual(checks({}).body({ anything: 1 }), {});
});

test("a query is read as its schema has it, and stays text", () => {
  const query: JsonObject = {
    type: "object",
    additionalProperties: false,
    properties: { after: { type: "integer", minimum: 0, default: 0 }, open: { type: "boolean" } },
  };
  const read = (text: string): unknown => checks({ query }).query(new URLSearchParams(text));
  assert.deepEqual(read("after=12&open=true"), { after: "12", open: "true" });
  assert.deepEqual(read(""), { after: "0" });
  refuses(() => read("after=x"), /^The query at \/after must be integer\.$/);
  refuses(() => read("after=-1"), /^The query at \/after must be >= 0\.$/);
  refuses(() => read("after=1&after=2"), /^The query gives "after" twice: give it once\.$/);
  refuses(() => read("before=1"), /^The query at \/before is not known here\.$/);
  refuses(() => read(Array.from({ length: 65 }, (_, at) => `p${at}=1`).join("&")), /at most 64/);
});

test("a route without a schema for its query is given none of it", () => {
  assert.deepEqual(checks({}).query(new URLSearchParams("token=x")), {});
});

test("a keyword that does not exist is a mistake in the schema and no check", () => {
  assert.throws(() => checks({ body: { type: "object", require: ["x"] } }).body({}), /unknown keyword/);
});
