import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { BareHost } from "../support/bare-host.ts";
import { DaemonProcess, until } from "../support/daemon-process.ts";

/* Machines with sh, tar and curl or wget become hands by the line that an invitation prints. */

const SOURCES = join(import.meta.dirname, "../../packages/cli/src/main.ts");

let folder: string;
let stage: Stage;
let daemon: DaemonProcess;
const pids = new Set<number>();

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "vidro-joining-"));
  stage = await Stage.set();
  // The daemon of a clone: it makes the archive by itself, as the bundle of the tests cannot.
  const argv = [process.execPath, "--conditions=vidro-source", "--disable-warning=ExperimentalWarning", SOURCES];
  const clone = { command: { argv, env: stage.command.env }, workspace: stage.workspace };
  daemon = await DaemonProcess.up(clone, { flags: ["--port", "0", "--southbound-port", "0", "--no-local-hand"] });
});

after(async () => {
  for (const pid of pids) if (existsSync(`/proc/${pid}`)) process.kill(pid, "SIGKILL");
  await daemon[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

interface Letter {
  readonly command: string;
  readonly token: string;
}

async function invite(name: string): Promise<Letter> {
  const { code, stdout, stderr } = await stage.run("hands", "invite", "--name", name, "--json");
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Letter;
}

async function stateOf(name: string): Promise<unknown> {
  return lines((await stage.run("hands", "list", "--json")).stdout).find((hand) => hand["name"] === name)?.["state"];
}

let first: { readonly host: BareHost; readonly letter: Letter };

test("a machine with sh, curl and tar joins by the printed line, and again when it is pasted again", async () => {
  const host = new BareHost(join(folder, "one"), { programs: ["curl"] });
  assert.notEqual((await host.paste("command -v node || command -v vidro-hand")).code, 0);
  const letter = await invite("web-1");
  first = { host, letter };
  const joined = await host.paste(letter.command);
  assert.equal(joined.code, 0, joined.stderr);
  pids.add(host.pidOf());
  assert.match(joined.stdout, /^0\.1\.0 is installed: \/home\/user\/\.local\/bin\/vidro$/m);
  assert.match(joined.stderr, /^✓ web-1 connected$/m);
  assert.match(
    joined.stderr,
    /^@reboot \/home\/user\/\.local\/lib\/vidro\/\S+\/bin\/vidro-hand serve --detach --state \S+$/m,
  );
  assert.ok(!daemon.log.includes(letter.token.split(".")[1] ?? ""), "no secret is in the log");
  assert.equal(await stateOf("web-1"), "ok");
  const where = await stage.run("hands", "exec", "web-1", "--yes", "--", "pwd");
  assert.equal(where.stdout, "/home/user\n", where.stderr);

  const running = await host.paste(letter.command);
  assert.deepEqual([running.code, running.stdout], [0, ""], running.stderr);
  assert.match(running.stderr, /has joined with this invitation already; nothing of it is used/);
  assert.match(running.stderr, /✓ web-1 connected[^]*was running, as process \d+; nothing was started/);

  process.kill(host.pidOf(), "SIGKILL");
  await until("the brain knows", async () => (await stateOf("web-1")) === "down");
  const again = await host.paste(letter.command);
  assert.equal(again.code, 0, again.stderr);
  pids.add(host.pidOf());
  assert.match(again.stderr, /^✓ web-1 connected$/m);
  const rebooted = await host.paste(`kill -9 ${host.pidOf()}; ${/^@reboot (.*)$/m.exec(joined.stderr)?.[1]}`);
  assert.equal(rebooted.code, 0, rebooted.stderr);
  pids.add(host.pidOf());
  assert.match(rebooted.stderr, /^✓ web-1 connected$/m);
  const { length } = lines((await stage.run("hands", "list", "--json")).stdout);
  assert.equal(length, 1, "it is one hand");
  const ended = await host.paste("~/.local/bin/vidro-hand stop");
  assert.equal(ended.code, 0, ended.stderr);
  assert.equal((await host.paste("~/.local/bin/vidro-hand stop")).code, 3, "there is none any more");
});

test("an ordinary user of a machine with wget instead of curl joins the same way; a used line is refused", async () => {
  const host = new BareHost(join(folder, "two"), { programs: ["wget"], ordinary: true });
  const letter = await invite("web-2");
  const joined = await host.paste(letter.command);
  assert.equal(joined.code, 0, joined.stderr);
  pids.add(host.pidOf());
  assert.match(joined.stderr, /^✓ web-2 connected$/m);
  const foreign = await host.paste(first.letter.command);
  assert.equal(foreign.code, 4, foreign.stderr);
  assert.match(foreign.stderr, /invitation is unknown, was used already, or has expired[^]*vidro hands invite/);
  assert.equal(await stateOf("web-2"), "ok", "the hand that it is goes on");
});

test("where there is systemd the line makes a service of it", async () => {
  const etc = join(folder, "etc");
  mkdirSync(join(etc, "systemd/system"), { recursive: true });
  const users = "root:x:0:0::/root:/bin/sh\nvidro-hand:x:998:998::/var/lib/vidro-hand:/usr/sbin/nologin\n";
  writeFileSync(join(etc, "passwd"), users);
  writeFileSync(join(etc, "group"), "root:x:0:\nvidro-hand:x:998:\n");
  const made = ["run", "lib"].map((name) => join(folder, name)) as [string, string];
  for (const path of made) mkdirSync(path);
  const host = new BareHost(join(folder, "three"), {
    programs: ["curl", "install", "chown", "setsid"],
    folders: {
      "/etc": etc,
      "/run/systemd/system": made[0],
      "/var/lib": made[1],
      // What the first machine has installed is here already.
      "/usr/local": join(first.host.home, ".local"),
    },
    scripts: {
      // The user is there; systemd starts what the unit says and notes what it was told.
      useradd: "#!/bin/sh\nexit 9\n",
      systemctl:
        '#!/bin/sh\necho "$*" >> /var/lib/told\n[ "$1" = restart ] || exit 0\n' +
        "while IFS= read -r line; do case $line in ExecStart=*) setsid ${line#ExecStart=} </dev/null >/dev/null 2>&1 & ;; esac; done < /etc/systemd/system/$2.service\n",
    },
  });
  const joined = await host.paste((await invite("web-3")).command);
  assert.equal(joined.code, 0, joined.stderr);
  const { holder } = JSON.parse(readFileSync(join(made[1], "vidro-hand/state/serving.json"), "utf8"));
  pids.add(holder.pid);
  assert.match(joined.stderr, /✓ web-3 connected[^]*service vidro-hand and starts with this host/);
  assert.doesNotMatch(joined.stderr, /@reboot/);
  assert.equal(readFileSync(join(made[1], "told"), "utf8"), "daemon-reload\nenable vidro-hand\nrestart vidro-hand\n");
});

test("what is not as the line says is not run, with a sentence and an exit code", async () => {
  const { host } = first;
  const { command } = await invite("web-4");
  const wrongHash = command.replace(/= [0-9a-f]{64} /, `= ${"0".repeat(64)} `);
  const wrongPin = command.replace(/sha256\/\/\S+/, `sha256//${Buffer.alloc(32).toString("base64")}`);
  const gone = command.replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:9");
  for (const [line, code, words] of [
    [wrongHash, 4, /What came from 127\S+ is not what the invitation names\. .*Nothing was run\./],
    [wrongPin, 4, /What answers at 127\S+ is not the brain that has invited; it was told nothing\. Nothing was run\./],
    [gone, 7, /The brain at 127\.0\.0\.1:9 cannot be reached/],
  ] as const) {
    assert.notEqual(line, command);
    const ended = await host.paste(line);
    assert.deepEqual([ended.code, ended.stdout], [code, ""], ended.stderr);
    assert.match(ended.stderr, words);
  }
  const bare = await new BareHost(join(folder, "bare"), { programs: [] }).paste(command);
  assert.equal(bare.code, 1);
  assert.match(bare.stderr, /There is neither curl nor wget\. Nothing was run\./);
});

test("archives are read from disk as hosts take them, and nothing else is given", async () => {
  const { command } = await invite("web-5");
  const [server = ""] = /https:\/\/[^/]+/.exec(command) ?? [];
  for (const path of ["archive?platform=../token", "archive", "archive?platform=linux-none", "install/x"])
    assert.equal((await ask(`${server}/southbound/v1/${path}`)).statusCode, 404, path);
  const rss = daemon.rssBytes;
  const path = `/southbound/v1/archive?platform=${process.platform}-${process.arch}`;
  const stalled = await Promise.all(Array.from({ length: 12 }, () => ask(server + path)));
  assert.deepEqual([...new Set(stalled.map(({ statusCode }) => statusCode))], [200]);
  // Each of them takes a little, so that the daemon has written what it can.
  for (const response of stalled) assert.ok(response.readableLength > 0 || (await once(response, "readable")));
  assert.ok(Number(stalled[0]?.headers["content-length"]) > 40 * MIB);
  assert.ok(daemon.rssBytes - rss < 150 * MIB, "hosts that stop reading cost no memory");
  for (const response of stalled) response.destroy();
});

const MIB = 1024 * 1024;

/** The answer of the listener, whatever its certificate is; nothing of its body is read. */
async function ask(url: string): Promise<IncomingMessage> {
  const [response] = await once(get(url, { rejectUnauthorized: false, agent: false }), "response");
  return response as IncomingMessage;
}
