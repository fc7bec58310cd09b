import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { JsonObject } from "@vidro/core";
import { servedDaemon } from "./served-daemon.fixture.ts";
import type { ServedDaemon } from "./served-daemon.fixture.ts";

const place = realpathSync(mkdtempSync(join(tmpdir(), "vidro-documents-")));
const [folder, missing] = [join(place, "docs"), join(place, "missing")];
let daemon: ServedDaemon;
let ana = "";
before(async () => {
  mkdirSync(folder);
  writeFileSync(
    join(folder, "ports.md"),
    "# Ports\n\nThe API listens on 9042.\n\n# Names\n\nThe API is called Vera.\n",
  );
  daemon = await servedDaemon({ localHand: false, env: { VIDRO_DOCUMENTS: `${folder},${missing}` } });
  ana = await daemon.tokenOf("ana");
});
after(async () => {
  await daemon[Symbol.asyncDispose]();
  rmSync(place, { recursive: true, force: true });
});

const look = async (): Promise<readonly JsonObject[]> =>
  (await daemon.ask("POST", "/v1/documents/index")).json["folders"] as readonly JsonObject[];

test("a look indexes the files of the folders and names those that it could not read", async () => {
  const [found, absent] = await look();
  assert.partialDeepStrictEqual(found, { folder, documents: 1, sections: 2, leftOut: [], fault: null });
  assert.ok(Number(found?.["at"]) > 0);
  assert.partialDeepStrictEqual(absent, { folder: missing, documents: 0, sections: 0 });
  assert.equal(typeof absent?.["fault"], "string");
  const { json } = await daemon.ask("GET", "/v1/documents/folders", undefined, ana);
  assert.deepEqual(json["folders"], [found, absent]);
});

test("sections are found by their words, at most as many as asked for, with file and line", async () => {
  await look();
  const search = async (query: string): Promise<readonly JsonObject[]> =>
    (await daemon.ask("GET", `/v1/documents?${query}`, undefined, ana)).json["documents"] as readonly JsonObject[];
  const [first] = await search("q=api%20listens");
  assert.deepEqual([first?.["path"], first?.["line"], first?.["title"]], [join(folder, "ports.md"), 1, "Ports"]);
  assert.equal((await search("q=api")).length, 2);
  assert.equal((await search("q=api&limit=1")).length, 1);
  assert.deepEqual(await search("q=zebra"), []);
  assert.deepEqual(await search("q=%22%27)%20OR%201%3D1%20--%20NEAR(*"), []);
});

test("a folder that went away keeps what was indexed, and says that it is away", async () => {
  await look();
  renameSync(folder, `${folder}-away`);
  const [away] = await look();
  assert.deepEqual([away?.["documents"], typeof away?.["fault"]], [1, "string"]);
  const { json } = await daemon.ask("GET", "/v1/documents?q=9042");
  assert.equal((json["documents"] as unknown[]).length, 1);
  renameSync(`${folder}-away`, folder);
  assert.deepEqual((await look())[0]?.["fault"], null);
});

test("a search without words or beyond its bounds is refused, and only an administrator has the folders looked through", async () => {
  for (const query of ["", "q=", `q=${"x".repeat(501)}`, "q=a&limit=0", "q=a&limit=1001", "q=a&folder=/etc"]) {
    const { status } = await daemon.ask("GET", `/v1/documents?${query}`, undefined, ana);
    assert.equal(status, 422, query.slice(0, 40));
  }
  const { status, json } = await daemon.ask("POST", "/v1/documents/index", {}, ana);
  assert.deepEqual([status, json["code"]], [403, "FORBIDDEN"]);
});
