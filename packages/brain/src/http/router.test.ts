import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@vidro/core";
import type { Route, Surface } from "./route.ts";
import { createRouter } from "./router.ts";

function route(method: Route["method"], path: string): Route {
  return { method, path, summary: "", scope: undefined, answer: {}, handle: async () => ({ json: path }) };
}

function surface(name: string, ...routes: readonly Route[]): Surface {
  return { name, routes, faultBody: () => name };
}

const ways = createRouter([
  surface("plain", route("GET", "/healthz")),
  surface(
    "runs",
    route("GET", "/runs/{run}"),
    route("DELETE", "/runs/{id}"),
    route("GET", "/runs/newest"),
    route("POST", "/runs"),
    route("GET", "/runs/{run}/events/{seq}"),
    route("GET", "/runs/newest/log"),
  ),
]);

test("a path finds its route and its decoded parameters", () => {
  const found = ways.find("/runs/a%2Fb%20%C3%A9/events/7")?.route("GET");
  assert.equal(found?.route.path, "/runs/{run}/events/{seq}");
  assert.deepEqual(found?.params, { run: "a/b é", seq: "7" });
  assert.equal(found?.surface.name, "runs");
});

test("a fixed segment goes before a parameter, and a parameter is tried where it leads nowhere", () => {
  assert.equal(ways.find("/runs/newest")?.route("GET")?.route.path, "/runs/newest");
  assert.deepEqual(ways.find("/runs/newest/events/1")?.route("GET")?.params, { run: "newest", seq: "1" });
});

test("routes of one path may name their parameters differently", () => {
  assert.deepEqual(ways.find("/runs/x")?.route("GET")?.params, { run: "x" });
  assert.deepEqual(ways.find("/runs/x")?.route("DELETE")?.params, { id: "x" });
});

test("a path without a route is nothing, also with a slash too many", () => {
  for (const path of ["/", "", "*", "/run", "/runs/", "/runs//events/1", "//runs", "/runs/x/events", "/healthz/"])
    assert.equal(ways.find(path), undefined, path);
});

test("a place names its methods, HEAD finds the route of GET, and other methods find none", () => {
  const place = ways.find("/runs/x");
  assert.deepEqual(place?.methods, ["GET", "DELETE", "HEAD", "OPTIONS"]);
  assert.equal(place?.route("HEAD")?.route.method, "GET");
  assert.equal(place?.route("POST"), undefined);
  assert.deepEqual(ways.find("/runs")?.methods, ["POST", "OPTIONS"]);
  assert.equal(ways.find("/runs")?.route("HEAD"), undefined);
});

test("a broken escape is a bad request", () => {
  for (const path of ["/runs/%", "/runs/%zz", "/runs/%C3%28"]) {
    assert.throws(
      () => ways.find(path),
      (thrown) => thrown instanceof Fault && thrown.code === "BAD_REQUEST",
      path,
    );
  }
});

test("names of an object's own are ordinary segments", () => {
  for (const path of ["/__proto__", "/constructor", "/runs/__proto__/x"]) assert.equal(ways.find(path), undefined);
  assert.deepEqual(ways.find("/runs/__proto__")?.route("GET")?.params, { run: "__proto__" });
});

test("the surface with the same beginning speaks for a path without a route, else the first", () => {
  assert.equal(ways.surfaceFor("/runs/1/2/3/4").name, "runs");
  assert.equal(ways.surfaceFor("/elsewhere").name, "plain");
});

test("two surfaces cannot have the same route", () => {
  const one = surface("one", route("GET", "/a/{x}"));
  const two = surface("two", route("GET", "/a/{y}"));
  assert.throws(() => createRouter([one, two]), /belongs to both one and two/);
});
