import assert from "node:assert/strict";
import { test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Fault, FAULTS } from "@vidro/core";
import { openApi } from "./ops/openapi.ts";
import { createRouter } from "../http/router.ts";
import { SURFACES } from "./surfaces.ts";
import type { SurfaceDependencies } from "./surfaces.ts";
import { createValidator } from "../http/validate.ts";

// Routes are made before any request: making them touches no dependency.
const nowhere = {} as Parameters<(typeof SURFACES)[number]>[0] & SurfaceDependencies;
const [first, ...others] = SURFACES.map((surface) => surface(nowhere));
const all = [first!, ...others] as const;

test("no two surfaces have the same name or the same route", () => {
  assert.equal(new Set(all.map(({ name }) => name)).size, all.length);
  createRouter(all);
});

test("every schema of every route can be compiled", () => {
  for (const { routes } of all) {
    for (const route of routes) {
      const checks = createValidator(route);
      for (const check of [() => checks.body({}), () => checks.query(new URLSearchParams())]) {
        try {
          check();
        } catch (thrown) {
          assert.ok(thrown instanceof Fault, `${route.method} ${route.path}: ${(thrown as Error).message}`);
        }
      }
    }
  }
});

test("the document of all surfaces is valid OpenAPI 3.1", async () => {
  const checked = await new Validator().validate(structuredClone(openApi({ version: "0.0.0", surfaces: all })));
  assert.deepEqual(checked.errors ?? [], []);
  assert.equal(checked.valid, true);
});

test("no route that changes something is a GET without a token, and every one has words", () => {
  for (const { routes } of all) {
    for (const { method, path, scope, summary } of routes) {
      assert.notEqual(summary, "", path);
      // The body or a header has the credential: a token, the code of a link, the secret of a hook.
      const hasCredential =
        method === "POST" && /^\/(?:console\/session|answer(?:\/question)?|v1\/hooks\/\{hook\})$/.test(path);
      if (method !== "GET" && !hasCredential) assert.ok(scope !== undefined, `${method} ${path} needs a scope`);
    }
  }
});

test("every surface has words for every fault, and none of them is the fault itself", () => {
  for (const { faultBody, name } of all) {
    for (const code of Object.keys(FAULTS) as (keyof typeof FAULTS)[]) {
      const text = JSON.stringify(faultBody(new Fault(code, "what was wrong"), "req_1"));
      assert.ok(text.includes("what was wrong"), `${name}: ${code}`);
      assert.ok(!text.includes("stack"), `${name}: ${code}`);
    }
  }
});
