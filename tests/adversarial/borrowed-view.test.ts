import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import { decoded, STATE_SECRET } from "./attack.fixture.ts";
import { canScreenProcesses, NOBODY, startAttackedHand } from "./attacked-hand.fixture.ts";

/*
 * A line of root's that a person approved looks at the host through /proc/<pid>/root of a process that has no more
 * powers than the line. Landlock closes that way; docs/decisions/0026 says on which hosts it stays open.
 */

const skip = canScreenProcesses() ? false : "needs root, perl and a kernel with Landlock 2";

async function startProcess(t: TestContext, [program = "", ...words]: readonly string[]): Promise<number> {
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "ignore"], cwd: "/" });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child.pid ?? 0;
}

const WAIT = ["/bin/sh", "-c", "echo started; exec sleep 600"];
const asOther = `setpriv --reuid=${NOBODY} --regid=${NOBODY} --clear-groups`;
const POWER = "--inh-caps=+dac_override --ambient-caps=+dac_override";

test("an approved line of root's sees no state through a process of another user", { skip }, async (t) => {
  const hand = await startAttackedHand(t);
  const other = await startProcess(t, [...asOther.split(" "), ...WAIT]);
  const token = `/proc/${other}/root${decoded(`${hand.state}/token`)}`;
  for (const words of ["", `${asOther} `, `${asOther} ${POWER} `]) {
    const command = `${words}cat ${token} 2>&1; echo end`;
    const { text } = await hand.approve("shell", { command, access: "host" });
    assert.match(text, /end\n$/);
    assert.doesNotMatch(text, new RegExp(STATE_SECRET), command);
  }
});

test("an approved line of root's sees no state through a service of root's with few powers", { skip }, async (t) => {
  const hand = await startAttackedHand(t);
  const service = await startProcess(t, ["setpriv", "--bounding-set=-all,+dac_override", ...WAIT]);
  for (const part of ["root", "cwd"]) {
    const command = `cat /proc/${service}/${part}${decoded(`${hand.state}/token`)} 2>&1; echo end`;
    const { text } = await hand.approve("shell", { command, access: "host" });
    assert.match(text, /end\n$/);
    assert.doesNotMatch(text, new RegExp(STATE_SECRET), command);
  }
});

test(
  "a screened line of root's moves files between folders, signals other processes and sees its own",
  { skip },
  async (t) => {
    const hand = await startAttackedHand(t);
    const other = await startProcess(t, WAIT);
    const { text } = await hand.approve("shell", {
      command: `mkdir -p one two && echo moved >one/a && mv one/a two/a && ln two/a one/b && cat one/b
      readlink /proc/self/cwd >/dev/null && echo own; kill -0 ${other} && echo signalled; pwd`,
      access: "host",
    });
    assert.match(text, /^moved\nown\nsignalled\n\/.*\n$/);
  },
);
