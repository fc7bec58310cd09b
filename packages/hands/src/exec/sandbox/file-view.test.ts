import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { Confinement } from "@vidro/core";
import * as fc from "fast-check";
import { isWithin } from "../../files/is-within.ts";
import { scratch } from "../../scratch.fixture.ts";
import { buildFileView, isInView, listAncestors, resolveIfPresent } from "./file-view.ts";
import type { SandboxScope, ViewPart } from "./file-view.ts";

const SECRETS = ["{workspace}/.env", "{workspace}/vault/**"];

/** A workspace with secrets, and a hand's state beside it or around it. */
function scene(t: TestContext, { isAround = false } = {}) {
  const top = scratch(t);
  const state = join(top, "state");
  const workspace = isAround ? join(state, "work") : join(top, "work");
  for (const folder of [
    state,
    workspace,
    join(workspace, "vault/deep"),
    join(workspace, "src"),
    join(top, "tools/bin"),
  ])
    mkdirSync(folder, { recursive: true });
  for (const file of [".env", "vault/key", "src/a.txt"]) writeFileSync(join(workspace, file), "x");
  const scope = (confined: Confinement): SandboxScope => ({
    confined,
    workspace,
    state,
    reserved: [state],
    env: { PATH: `/usr/bin:/bin:${join(top, "tools/bin")}:${join(top, "gone")}` },
  });
  const view = (confined: Confinement, foreign: readonly string[] = []): readonly ViewPart[] =>
    buildFileView(scope(confined), SECRETS, foreign);
  return { top, state, workspace, view, scope };
}

const at = (parts: readonly ViewPart[], path: string): readonly ViewPart[] => parts.filter((part) => part.at === path);

/** Whether a part shows nothing of the host: an empty folder, or the null device. */
const isCover = ({ options, shows }: ViewPart): boolean =>
  shows === "own" || (options[0] === "--ro-bind" && options[1] === "/dev/null");

for (const confined of ["files", "workspace", "network"] as const)
  test(`a command that is held to ${confined} finds secrets covered, and only the last mount at a place counts`, (t) => {
    const { workspace, view } = scene(t);
    const parts = view(confined);
    for (const secret of [".env", "vault"]) {
      const last = at(parts, join(workspace, secret)).at(-1);
      assert.ok(last !== undefined && isCover(last), secret);
    }
    const [bound] = at(parts, workspace);
    assert.equal(bound?.options[0], confined === "files" ? "--ro-bind" : "--bind");
    assert.ok(!parts.some((part) => part.at === join(workspace, "src/a.txt")));
  });

test("every part is mounted behind the folders around it, which would hide it", (t) => {
  for (const isAround of [false, true]) {
    const { view, workspace } = scene(t, { isAround });
    for (const confined of ["files", "workspace", "facts"] as const) {
      const parts = view(confined, [join(workspace, "src/a.txt")]).filter(({ at: place }) => place !== "/");
      for (const [index, part] of parts.entries())
        for (const later of parts.slice(index + 1))
          if (later.at !== part.at && !part.at.startsWith("/proc/self"))
            assert.ok(!isWithin(later.at, part.at), `${confined}: ${later.at} comes after ${part.at}`);
    }
  }
});

test("the hand's own state is never in view, also where the workspace lies in it", (t) => {
  for (const isAround of [false, true]) {
    const { view, state, workspace } = scene(t, { isAround });
    for (const confined of ["files", "workspace", "facts"] as const) {
      const parts = view(confined);
      const shown = parts.filter((part) => typeof part.shows === "object" && isWithin(part.shows.path, state));
      // Only the whole host shows what is around the state, and then the state is covered behind it.
      if (shown.length > 0) assert.ok(at(parts, state).some(isCover), confined);
      assert.ok(!parts.some(({ shows }) => typeof shows === "object" && shows.path === state));
      const places = parts.map((part) => part.at);
      if (isAround && confined === "facts")
        assert.ok(places.indexOf(state) < places.lastIndexOf(workspace), "the workspace is bound back into the cover");
    }
  }
});

test("files of the workspace that are not only its own are covered, and folders around covers cannot be renamed", (t) => {
  const { view, workspace } = scene(t);
  mkdirSync(join(workspace, "a/b"), { recursive: true });
  const foreign = join(workspace, "a/b/linked");
  writeFileSync(foreign, "x");
  const parts = view("workspace", [foreign]);
  assert.ok(at(parts, foreign).some(isCover));
  for (const pinned of ["a", "a/b"]) assert.deepEqual(at(parts, join(workspace, pinned)).at(-1)?.options[0], "--bind");
  // A command that only reads renames nothing.
  assert.deepEqual(at(view("files", [foreign]), join(workspace, "a")), []);
});

test("programs of PATH outside of the system are in view, and folders that are not there are not", (t) => {
  const { top, view, scope, workspace } = scene(t);
  assert.equal(at(view("files"), join(top, "tools/bin")).length, 1);
  assert.deepEqual(at(view("files"), join(top, "gone")), []);
  const held = scope("files");
  for (const [folder, isSeen] of [
    [workspace, true],
    [join(workspace, "src"), true],
    ["/usr/lib", true],
    ["/tmp", true],
    [join(top, "tools/bin"), true],
    [join(top, "tools"), false],
    [top, false],
    [`${workspace}-not`, false],
    ["/root", false],
    ["/", false],
  ] as const)
    assert.equal(isInView(folder, held), isSeen, folder);
});

test("the folders above paths come outermost first, without the paths themselves and what lies in them", () => {
  assert.deepEqual(listAncestors(["/a/b/c"]), ["/a", "/a/b"]);
  assert.deepEqual(listAncestors(["/a"]), []);
  assert.deepEqual(listAncestors(["/a/b", "/a/b/c/d"]), ["/a"]);
  assert.deepEqual(listAncestors([]), []);
  const path = fc
    .array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 4 })
    .map((names) => `/${names.join("/")}`);
  fc.assert(
    fc.property(fc.array(path, { maxLength: 5 }), (paths) => {
      const above = listAncestors(paths);
      for (const folder of above) {
        assert.ok(paths.some((one) => one !== folder && isWithin(folder, one)));
        assert.ok(!paths.some((one) => isWithin(one, folder)));
      }
      for (const one of paths)
        if (!paths.some((other) => other !== one && isWithin(other, one)))
          for (let folder = dirname(one); folder !== "/"; folder = dirname(folder))
            assert.ok(above.includes(folder) || paths.includes(folder));
    }),
  );
});

test("a path is real where it is there, and nothing where it is not", (t) => {
  const { top, workspace } = scene(t);
  symlinkSync(workspace, join(top, "link"));
  symlinkSync(join(top, "gone"), join(top, "dangling"));
  symlinkSync(join(top, "circle"), join(top, "circle"));
  assert.deepEqual(resolveIfPresent(join(top, "link/src")), [join(workspace, "src")]);
  for (const name of ["dangling", "circle", "gone", "\0"])
    assert.deepEqual(resolveIfPresent(join(top, name)), [], name);
});
