import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { approvalWords } from "@vidro/core/text";
import { approved, decoded, judged, STATE_SECRET, target } from "./attack.fixture.ts";
import type { Target } from "./attack.fixture.ts";

/*
 * What a person approved, and Vidro's own state: neither given out nor changed. A plan that names the state is denied;
 * a plan that finds its name some other way finds an empty folder.
 */

async function lineOf(at: Target, command: string): Promise<string> {
  const { decision, text } = await approved(at.hand, "shell", { command, access: "host" });
  assert.equal(decision, "ask", command);
  return text;
}

test("an approved line or command finds nothing where the state is, by whatever name, and changes nothing there", async (t) => {
  const at = await target(t, { inSight: true });
  const token = join(at.state, "token");
  const folder = decoded(at.state);
  symlinkSync(at.workspace, join(at.outside, "way"));
  for (const command of [
    `cat ${folder}/token`,
    `cd ..; cat v*o/token`,
    `grep -rs kept-in ${decoded(join(at.workspace, ".."))}`,
    `for p in /proc/[0-9]*; do cat $p/root$(printf %s ${folder})/token $p/cwd/../vidro/token; done 2>/dev/null; true`,
    `umount ${folder}; mount -t tmpfs x ${folder}; cat ${folder}/token`,
    `unshare -Urm sh -c 'umount "$0"; cat "$0"/token' ${folder}`,
    `nsenter -t ${process.pid} -m cat ${folder}/token; nsenter -t 1 -m cat ${folder}/token`,
    `echo x > ${folder}/policy.json; rm -rf ${folder}/*; mv ${folder} ${folder}2; echo done`,
  ])
    assert.doesNotMatch(await lineOf(at, command), new RegExp(STATE_SECRET), command);
  const script = at.put("read.sh", `#!/bin/sh\ncat ${folder}/token; echo y > ${folder}/policy.json; echo ran\n`);
  const { text } = await approved(at.hand, "command", { command: script });
  assert.match(text, /ran/);
  assert.doesNotMatch(text, new RegExp(STATE_SECRET));
  assert.equal(readFileSync(token, "utf8"), `${STATE_SECRET}\n`);
  assert.ok(!existsSync(join(at.state, "policy.json")));
});

test("a plan that names the state is denied, and an approval does not overrule that", async (t) => {
  const at = await target(t, { inSight: true });
  for (const [tool, input] of [
    ["shell", { command: `cat ${at.state}/token` }],
    ["shell", { command: "cat ../vidro/token" }],
    ["shell", { command: `echo {} >${at.state}/policy.json`, access: "all" }],
    ["shell", { command: "ls", dir_path: at.state }],
    ["command", { command: "python3", args: ["-c", `print(open("${at.state}/token").read())`] }],
    ["command", { command: "su", args: ["-c", `cat ${at.state}/token`] }],
    ["command", { command: "cp", args: ["x", `--target-directory=${at.state}`] }],
    ["command", { command: "tee", args: ["../vidro/policy.json"], access: "all" }],
  ] as const) {
    const { decision, fault } = await approved(at.hand, tool, input);
    assert.deepEqual([decision, fault], ["deny", "POLICY_DENIED"], JSON.stringify(input));
  }
});

test("what approved lines do on the host is as before: files, processes, exit codes, names", async (t) => {
  const at = await target(t, { inSight: true });
  assert.equal(await lineOf(at, `echo x > ${at.mark} && cat ${at.mark}; pwd`), `x\n${at.workspace}\n`);
  assert.match(await lineOf(at, `kill -0 ${process.pid} && echo seen; exit 3`), /seen\n\n\[exit code 3\]/);
  symlinkSync("/bin/bash", join(at.workspace, "other-name"));
  const named = await approved(at.hand, "command", { command: "./other-name", args: ["-c", "echo $0"] });
  assert.equal(named.text, "./other-name\n");
});

test("a plan that can reach the state says so, and is privileged", async (t) => {
  const at = await target(t, { inSight: true });
  const held = await judged(at.hand, "shell", { command: "date" });
  assert.match(approvalWords(held), /without Vidro's own state/);
  assert.equal(held.verdict.class, "code-exec");
  for (const [tool, input] of [
    ["shell", { command: "date", access: "all" }],
    ["command", { command: "date", args: ["-u", "-s", "now"], access: "all" }],
    ["command", { command: "su", args: ["-c", "true"] }],
  ] as const) {
    const open = await judged(at.hand, tool, input);
    assert.equal(open.verdict.class, "privileged");
    assert.match(approvalWords(open), /it can reach Vidro's own state/, JSON.stringify(input));
    assert.match(approvalWords(open, "pt"), /alcança o estado do próprio Vidro/);
    assert.match(approvalWords(open, "es"), /alcanza el estado del propio Vidro/);
  }
});

test("a hand gives out nothing of another brain or hand that runs on its host, by lines or by files", async (t) => {
  const at = await target(t, { inSight: true });
  const [home, joined] = [join(at.outside, "home"), join(at.outside, "joined")];
  for (const folder of [home, join(joined, "hand")]) mkdirSync(folder, { recursive: true });
  for (const file of [join(home, "audit-key"), join(home, "journal.db"), join(joined, "identity.json")])
    writeFileSync(file, `${STATE_SECRET}\n`);
  writeFileSync(join(joined, "hand", "ledger.db"), "");
  const opens = `
    const { openSync } = require("node:fs");
    openSync(${JSON.stringify(join(home, "journal.db"))}); openSync(${JSON.stringify(join(joined, "hand/ledger.db"))});
    console.log("open"); setInterval(() => {}, 1000);`;
  const other = spawn(process.execPath, ["-e", opens], { stdio: ["ignore", "pipe", "ignore"] });
  t.after(() => other.kill("SIGKILL"));
  await new Promise((resolve) => other.stdout.once("data", resolve));
  // The hand looks for others now and then.
  while ((await judged(at.hand, "shell", { command: `ls ${home}` })).verdict.decision !== "deny") await sleep(100);
  for (const file of [join(home, "audit-key"), join(joined, "identity.json")]) {
    assert.doesNotMatch(await lineOf(at, `cat ${decoded(file)}`), new RegExp(STATE_SECRET));
    assert.equal((await approved(at.hand, "shell", { command: `cat ${file}` })).fault, "POLICY_DENIED");
    for (const [tool, input] of [
      ["read_file", { file_path: file }],
      ["write_file", { file_path: file, content: "x" }],
    ] as const)
      assert.equal((await at.attempt(tool, input)).fault, "POLICY_DENIED", tool);
  }
});
