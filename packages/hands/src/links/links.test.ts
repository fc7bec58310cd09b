import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { LINKS, loadJoinedLink } from "./links.ts";

/** Files of this folder that are named after a wire: the three ends of a wire have one name. */
function wiresIn(folder: string): readonly string[] {
  const files = readdirSync(new URL(folder, import.meta.url));
  return files.flatMap((file) => /^((?:agent|executor)-(?:ws|http|tcp))\.ts$/.exec(file)?.[1] ?? []).toSorted();
}

test("the list has every link: the wires of core, of the brain and of this folder are the same", () => {
  const listed = Object.keys(LINKS).toSorted();
  assert.deepEqual(listed, wiresIn("."));
  assert.deepEqual(listed, wiresIn("../../../core/src/wire/"));
  assert.deepEqual(listed, wiresIn("../../../brain/src/south/"));
});

test("each link of the list loads", async () => {
  const loaded = await Promise.all(Object.values(LINKS).map((link): Promise<object> => link.load()));
  assert.equal(new Set(loaded).size, 4);
  const { serveAgentTcp } = await LINKS["agent-tcp"].load();
  const { Executor } = await LINKS["executor-ws"].load();
  assert.deepEqual([typeof serveAgentTcp, typeof Executor], ["function", "function"]);
});

test("a host is served over the link that it joined with", async () => {
  const ws = await LINKS["agent-ws"].load();
  const http = await LINKS["agent-http"].load();
  assert.equal(await loadJoinedLink({ url: "wss://brain:3121/southbound" }), ws);
  assert.equal(await loadJoinedLink({ url: "https://brain:3121" }), http);
});

test("an identity with an address of no link is refused: the hand would end at once without a reason", async () => {
  for (const url of ["ws://brain:3121", "http://brain", "tcp://brain:4000", "", "javascript:0", "wssx://brain"])
    await assert.rejects(loadJoinedLink({ url }), { code: "STORE_UNREADABLE", message: /join again/ });
});
