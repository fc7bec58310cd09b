import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { buildEnvironment } from "./environment.ts";

describe("the environment of processes", () => {
  it("lets through what programs need and no key", () => {
    const given = { PATH: "/bin", HOME: "/root", LC_ALL: "C", OPENAI_API_KEY: "k", BASH_ENV: "x", LD_PRELOAD: "y" };
    const env = buildEnvironment(given, "/srv/work");
    assert.equal(env["PATH"], "/bin");
    assert.equal(env["LC_ALL"], "C");
    for (const name of ["OPENAI_API_KEY", "BASH_ENV", "LD_PRELOAD"]) assert.ok(!(name in env), name);
  });

  it("always has a PATH", () => {
    for (const PATH of ["", ":", ".", "bin:/srv/work/bin"])
      assert.match(buildEnvironment({ PATH }, "/srv/work")["PATH"] ?? "", /\/usr\/bin/u);
    assert.match(buildEnvironment({}, "/srv/work")["PATH"] ?? "", /\/usr\/bin/u);
  });

  it("looks for programs neither in the workspace nor wherever a command happens to run", () => {
    const PATH = "/srv/work/node_modules/.bin::.:bin:/srv/work:/srv/workshop/bin:/usr/bin:";
    assert.equal(buildEnvironment({ PATH, HOME: "/root" }, "/srv/work")["PATH"], "/srv/workshop/bin:/usr/bin");
  });

  it("keeps the programs of a user who works in their home", () => {
    const env = { PATH: "/home/ada/.local/bin:/usr/bin", HOME: "/home/ada" };
    assert.equal(buildEnvironment(env, "/home/ada")["PATH"], env.PATH);
  });
});
