import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { decoded, STATE_SECRET } from "./attack.fixture.ts";
import { NOBODY, startAttackedHand } from "./attacked-hand.fixture.ts";

/*
 * The one way around the cover that docs/decisions/0026 leaves open, as it says it: a line of root's that a person
 * approved takes the id of another user, keeps the power to read all files, and looks at the host through a process of
 * that user. If this fails because the way is closed, the document is to be changed with it.
 */

const isRoot = process.getuid?.() === 0;

test(
  "an approved line of root's reaches Vidro's state through a process of another user, and in no simpler way",
  { skip: !isRoot },
  async (t) => {
    const hand = await startAttackedHand(t);
    const other = spawn("/bin/sleep", ["600"], { uid: NOBODY, gid: NOBODY, stdio: "ignore", cwd: "/" });
    t.after(() => other.kill("SIGKILL"));
    await once(other, "spawn");
    const token = `/proc/${other.pid}/root${decoded(`${hand.state}/token`)}`;
    const seen = async (command: string): Promise<string> =>
      (await hand.approve("shell", { command: `${command} 2>&1; echo end`, access: "host" })).text;
    const become = `setpriv --reuid=${NOBODY} --regid=${NOBODY} --clear-groups`;
    for (const line of [`cat ${token}`, `${become} cat ${token}`]) {
      const text = await seen(line);
      assert.match(text, /end\n$/);
      assert.doesNotMatch(text, new RegExp(STATE_SECRET), line);
    }
    const keeping = `${become} --inh-caps=+dac_override --ambient-caps=+dac_override`;
    assert.match(await seen(`${keeping} cat ${token}`), new RegExp(STATE_SECRET));
  },
);
