import assert from "node:assert/strict";
import { test } from "node:test";
import { installService } from "./systemd-unit.ts";

const SERVICE = {
  name: "vidro-test",
  description: "A test",
  command: ["/usr/bin/vidro-hand", "serve", "--state", "/var/lib/x"],
  workspace: "/srv/work",
  stopSeconds: 60,
  dryRun: true,
} as const;
const OWNER = { user: "vidro-hand", home: "/var/lib/vidro-hand", folders: ["/var/lib/vidro-hand/state"] };

/** The lines of a unit by their section. */
function sectionsOf(told: string): ReadonlyMap<string, readonly string[]> {
  const sections = new Map<string, string[]>();
  let open: string[] = [];
  for (const line of told.split("\n")) {
    const [, name] = /^\[(\w+)\]$/.exec(line) ?? [];
    if (name !== undefined) sections.set(name, (open = []));
    else if (line !== "" && !line.startsWith("#")) open.push(line);
  }
  return sections;
}

test("a service of one user has no owner, begins with the user and changes nothing of the system", () => {
  const told = installService(SERVICE);
  const sections = sectionsOf(told);
  assert.deepEqual([...sections.keys()], ["Unit", "Service", "Install"]);
  assert.ok(sections.get("Service")?.includes("ExecStart=/usr/bin/vidro-hand serve --state /var/lib/x"));
  assert.ok(sections.get("Service")?.includes("WorkingDirectory=/srv/work"));
  assert.ok(sections.get("Install")?.includes("WantedBy=default.target"));
  assert.doesNotMatch(told, /User=|useradd|ProtectSystem|\/etc\/systemd/);
  assert.match(told, /systemctl --user daemon-reload\nsystemctl --user enable vidro-test\nsystemctl --user restart/);
});

test("a service of the system has a user of its own, who owns its folders and has no powers", () => {
  const told = installService({ ...SERVICE, owner: OWNER, environment: { A: "1" } });
  const service = sectionsOf(told).get("Service") ?? [];
  for (const line of [
    "User=vidro-hand",
    "NoNewPrivileges=yes",
    "CapabilityBoundingSet=",
    "ProtectSystem=strict",
    "Environment=A=1",
    "ReadWritePaths=/srv/work",
    "StateDirectory=vidro-hand",
    "UMask=0077",
  ])
    assert.ok(service.includes(line), line);
  assert.match(told, /^useradd --system .* vidro-hand\ninstall -d -m 0700 -o vidro-hand -g vidro-hand/);
  assert.match(told, /# \/etc\/systemd\/system\/vidro-test\.service\n/);
});

test("words that would mean something else in a unit are refused, and nothing is written", () => {
  const bad = [
    "/srv/a b",
    "relative",
    "/srv/\nExecStart=/bin/sh",
    "/srv/a\n",
    "/srv/%h",
    "/srv/$HOME",
    '/srv/"a',
    "/srv/a;b",
    "",
    "/",
    "/srv/\u00e9",
    "/srv/\\x20",
  ];
  for (const workspace of bad)
    assert.throws(() => installService({ ...SERVICE, workspace }), { code: "BAD_REQUEST" }, JSON.stringify(workspace));
  for (const word of ["a b", "%i", "$X", "a\nb", "", "'", "`id`", "a;b", "\u200b"]) {
    assert.throws(() => installService({ ...SERVICE, command: ["/bin/x", word] }), { code: "BAD_REQUEST" }, word);
    assert.throws(() => installService({ ...SERVICE, environment: { A: word } }), { code: "BAD_REQUEST" }, word);
  }
  for (const user of ["", "-x", "a b", "root\n", "A", "x".repeat(33), "1a", "a$"])
    assert.throws(() => installService({ ...SERVICE, owner: { ...OWNER, user } }), { code: "BAD_REQUEST" }, user);
});
