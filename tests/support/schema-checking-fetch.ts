import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Surface } from "../../packages/brain/src/http/route.ts";
import { createRouter } from "../../packages/brain/src/http/router.ts";

/** `fetch`, with each good JSON answer held against the schema that the API's own description promises for it. */
export function schemaCheckingFetch(surfaces: readonly [Surface, ...Surface[]]): typeof fetch {
  const ajv = new Ajv2020({ allowUnionTypes: true, validateFormats: false });
  const routes = createRouter(surfaces);
  return async (input, init) => {
    const response = await fetch(input, init);
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    if (!response.ok || !isJson) return response;
    const { pathname } = new URL(response.url);
    const route = routes.find(pathname)?.route(init?.method ?? "GET")?.route;
    assert.ok(route !== undefined, `${pathname} answers without a route`);
    const statuses = [String(route.status ?? 200), ...Object.keys(route.others ?? {})];
    assert.ok(statuses.includes(String(response.status)), `${route.method} ${route.path} answers ${response.status}`);
    const fits = ajv.validate(route.answer, await response.clone().json());
    assert.ok(fits, `${route.method} ${route.path} breaks its promise: ${ajv.errorsText()}`);
    return response;
  };
}
