import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { environmentFrom } from "./environment.ts";

describe("the environment of processes", () => {
  it("lets through what programs need and no key", () => {
    const env = environmentFrom({
      PATH: "/bin",
      HOME: "/root",
      LC_ALL: "C",
      OPENAI_API_KEY: "k",
      BASH_ENV: "x",
      LD_PRELOAD: "y",
    });
    assert.equal(env["PATH"], "/bin");
    assert.equal(env["LC_ALL"], "C");
    for (const name of ["OPENAI_API_KEY", "BASH_ENV", "LD_PRELOAD"]) assert.ok(!(name in env), name);
  });

  it("always has a PATH", () => {
    assert.match(environmentFrom({})["PATH"] ?? "", /\/usr\/bin/u);
  });
});
