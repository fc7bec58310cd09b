import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import fc from "fast-check";
import {
  formatInvitation,
  formatInvitationProof,
  installCommand,
  joinCommand,
  nextForJoining,
  parseInvitation,
  parseInvitationProof,
} from "./enrolment.ts";

const TOKEN = { id: "0123456789abcdef0123456789abcdef", secret: "s".repeat(43), fingerprint: "f".repeat(43) };
const TEXT = formatInvitation(TOKEN);

void test("a token comes back from its text, also with the white space of a paste around it", () => {
  assert.deepEqual(parseInvitation(TEXT), TOKEN);
  assert.deepEqual(parseInvitation(` \n${TEXT}\r\n`), TOKEN);
});

void test("a token that was not copied whole is refused with what to do", () => {
  const cut = fc.nat({ max: TEXT.length - 1 });
  fc.assert(
    fc.property(cut, (length) => {
      assert.throws(() => parseInvitation(TEXT.slice(0, length)), {
        code: "BAD_REQUEST",
        message: /copy the whole of it/,
      });
    }),
  );
  for (const text of [
    `${TEXT}x`,
    TEXT.replace("0", "G"),
    TEXT.toUpperCase(),
    TEXT.replace(".", " "),
    `${TEXT} ${TEXT}`,
  ])
    assert.throws(() => parseInvitation(text), { code: "BAD_REQUEST" }, text);
});

void test("what is sent to the brain has no fingerprint, and is read without any mercy", () => {
  const proof = formatInvitationProof(TOKEN);
  assert.deepEqual(parseInvitationProof(proof), { id: TOKEN.id, secret: TOKEN.secret });
  assert.ok(!proof.includes(TOKEN.fingerprint));
  for (const text of ["", TEXT, `${proof}\n`, ` ${proof}`, proof.slice(1), proof.replace("s", "+")])
    assert.equal(parseInvitationProof(text), undefined, JSON.stringify(text));
});

void test("the token of a join stands in the environment of the command, not among its arguments", () => {
  const line = joinCommand("wss://brain:3121", TEXT);
  const { stdout } = spawnSync("sh", ["-c", `vidro() { echo "$#:$*:$VIDRO_INVITATION"; }; ${line}`], {
    encoding: "utf8",
  });
  assert.equal(stdout.trim(), `3:hands join wss://brain:3121:${TEXT}`);
});

void test("what to do next is about the invitation where joining has words of its own", () => {
  assert.match(nextForJoining("INVALID_TOKEN"), /vidro hands invite/);
  assert.match(nextForJoining("CONFLICT"), /--name/);
  assert.ok(nextForJoining("STORAGE_FULL").length > 0);
});

const SCRIPT = 'echo "ran with $VIDRO_INVITATION"\n';

/** Runs the line of an install on a host whose curl gives `body` or fails with `status`. */
function runLine(
  t: TestContext,
  { body = SCRIPT, status = 0, hand }: { body?: string; status?: number; hand?: number },
) {
  const place = mkdtempSync(join(tmpdir(), "vidro-install-"));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  const program = (name: string, text: string): void => {
    writeFileSync(join(place, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(place, name), 0o700);
  };
  writeFileSync(join(place, "body"), body);
  program(
    "curl",
    `echo "$*" > '${place}/curl-args'; while [ "$1" != -o ]; do shift; done; cp '${place}/body' "$2"; exit ${status}`,
  );
  if (hand !== undefined) program("vidro-hand", `echo "hand $*"; exit ${hand}`);
  const sha256 = createHash("sha256").update(SCRIPT).digest("hex");
  const line = installCommand({ url: "wss://brain.example:3121/southbound", token: TEXT, pin: "UElO", sha256 });
  const env = { PATH: `${place}:${process.env["PATH"]}`, HOME: place, TMPDIR: place };
  const { stdout, stderr, status: code } = spawnSync("sh", ["-c", line], { encoding: "utf8", env });
  const asked = (): string => readFileSync(join(place, "curl-args"), "utf8");
  return { stdout: stdout.trim(), stderr: stderr.trim(), code, asked };
}

void test("the line runs the script that it names, with the token in the environment and in no argument", (t) => {
  const { stdout, code, asked } = runLine(t, {});
  assert.deepEqual([stdout, code], [`ran with ${TEXT}`, 0]);
  assert.match(asked(), /--pinnedpubkey sha256\/\/UElO .*https:\/\/brain\.example:3121\/southbound\/v1\/install$/m);
  assert.ok(!asked().includes(TOKEN.secret));
});

void test("another script than the named one is not run, and the person learns whose it was", (t) => {
  const { stdout, stderr, code } = runLine(t, { body: "echo evil\n" });
  assert.deepEqual([stdout, code], ["", 4]);
  assert.match(stderr, /brain\.example:3121 is not what the invitation names\..*Nothing was run\.$/);
});

void test("a server with another key and one that cannot be reached end the line, each with a code of its own", (t) => {
  const other = runLine(t, { status: 90 });
  assert.equal(other.code, 4);
  assert.match(other.stderr, /is not the brain that has invited; it was told nothing/);
  const away = runLine(t, { status: 7 });
  assert.equal(away.code, 7);
  assert.match(away.stderr, /cannot be reached/);
  assert.deepEqual([other.stdout, away.stdout], ["", ""]);
});

void test("on a host that has joined already its hand is started again and nothing is fetched", (t) => {
  const again = runLine(t, { hand: 0 });
  assert.deepEqual([again.stdout, again.code], ["hand rejoin", 0]);
  assert.throws(again.asked, { code: "ENOENT" });
  const failed = runLine(t, { hand: 5 });
  assert.equal(failed.code, 5);
  const fresh = runLine(t, { hand: 3 });
  assert.match(fresh.stdout, /ran with/, "a hand that never joined lets the line go on");
});
