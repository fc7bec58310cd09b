import assert from "node:assert/strict";
import { test } from "node:test";
import { rebootWords } from "./supervisor.ts";
import { serveSignals } from "./signals.ts";

test("the line for crontab keeps a path with blanks whole, and no percent sign ends it", () => {
  const [, line = "", end = ""] = rebootWords("/home/ana b/50%/state");
  assert.match(line, /^@reboot \S.* serve --detach --state '\/home\/ana b\/50\\%\/state'$/);
  assert.match(end, /stop --state '\/home\/ana b\/50%\/state'$/);
  const [, plain = ""] = rebootWords("/var/lib/vidro");
  assert.match(plain, / --state \/var\/lib\/vidro$/);
});

test("a hangup at which the settings cannot be told does not keep the next one from reloading them", async (t) => {
  const before = process.listeners("SIGHUP");
  const reloaded = Promise.withResolvers<string>();
  let asked = 0;
  serveSignals(
    () => {
      asked += 1;
      if (asked === 1) throw new Error("not yet");
      return [{ what: "policy", reload: () => undefined }];
    },
    (event) => reloaded.resolve(event),
  );
  t.after(() => {
    for (const listener of process.listeners("SIGHUP")) if (!before.includes(listener)) process.off("SIGHUP", listener);
  });
  process.emit("SIGHUP");
  process.emit("SIGHUP");
  assert.equal(await reloaded.promise, "settings.reloaded");
  assert.equal(asked, 2);
});
