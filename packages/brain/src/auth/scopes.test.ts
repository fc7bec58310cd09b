import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { TOKEN_LIMITS } from "@vidro/core";
import { checkScopes, grants, isAdmin, ROLES } from "./scopes.ts";

describe("scopes", () => {
  it("are taken as they are written, each once", () => {
    assert.deepEqual(checkScopes(["runs", "agents:write", "runs", "*", "a.b_c-d"]), [
      "runs",
      "agents:write",
      "*",
      "a.b_c-d",
    ]);
  });

  it("are refused when there is none, too many, or one that is no scope", () => {
    assert.throws(() => checkScopes([]), { code: "BAD_REQUEST", message: /needs a scope/ });
    const many = Array.from({ length: TOKEN_LIMITS.scopes + 1 }, (_, index) => `s${index}`);
    assert.throws(() => checkScopes(many), { code: "BAD_REQUEST", message: /at most/ });
    const long = "a".repeat(TOKEN_LIMITS.scopeChars + 1);
    for (const scope of ["", "Runs", "1a", "a b", "a:", ":a", "a::b", "**", "a*", "é", "a\n", long])
      assert.throws(() => checkScopes([scope]), { code: "BAD_REQUEST" }, JSON.stringify(scope.slice(0, 20)));
  });

  it("grant themselves alone, but for the one that grants everything", () => {
    const scopes = new Set(["runs", "agents:write"]);
    assert.deepEqual(
      ["runs", "agents:write", "agents", "agents:read", "admin", "*"].map((scope) => grants(scopes, scope)),
      [true, true, false, false, false, false],
    );
    assert.equal(grants(new Set(["*"]), "whatever"), true);
    assert.equal(grants(new Set(), "runs"), false);
  });

  it("make an administrator by name or by everything", () => {
    assert.deepEqual(
      [["admin"], ["*"], ["runs"], []].map((scopes) => isAdmin(new Set(scopes))),
      [true, true, false, false],
    );
  });

  it("of each role are scopes", () => {
    for (const scopes of Object.values(ROLES)) assert.deepEqual(checkScopes(scopes), scopes);
    assert.equal(isAdmin(new Set(ROLES.user)), false);
    assert.equal(isAdmin(new Set(ROLES.admin)), true);
  });
});
