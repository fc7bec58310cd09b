import assert from "node:assert/strict";
import { openStore } from "../../stores/stores.ts";
import { HandRegister } from "./hand-register.ts";

// Bars a hand from a process of its own: the file of the store, the word, the hand's id.
const [path, word, id] = process.argv.slice(2);
assert.ok(path !== undefined && id !== undefined);
const { records, journal } = await openStore("sqlite", path);
const hands = new HandRegister({ records, log: () => undefined, now: Date.now });
await hands.load();
if (word === "revoke") await hands.revoke(id, "The laptop was stolen.");
else if (word === "quarantine") await hands.quarantine(id, "It behaves oddly.");
else await hands.release(id);
await hands.close();
await journal.close();
