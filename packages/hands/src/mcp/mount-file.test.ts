import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { MOUNT_LIMITS } from "@vidro/core";
import { scratch } from "../scratch.fixture.ts";
import { readMountFile } from "./mount-file.ts";

/** Reads a file with this content. */
function readServers(t: TestContext, content: unknown, env: NodeJS.ProcessEnv = {}) {
  const file = join(scratch(t), "mcp.json");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return readMountFile(file, env);
}

/** What is wrong with one server, by the fault that reading it gives. */
function faultOf(t: TestContext, server: unknown, name = "files"): string {
  try {
    readServers(t, { mcpServers: { [name]: server } });
  } catch (thrown) {
    const { code, message } = thrown as { code: string; message: string };
    assert.equal(code, "BAD_REQUEST");
    return message.replace(/^.*mcp\.json: /, "");
  }
  throw new Error("The file was read.");
}

describe("the file of mounted servers", () => {
  it("names no server when it is not there", (t) => {
    assert.deepEqual(readMountFile(join(scratch(t), "mcp.json"), {}), []);
  });

  it("names programs with arguments and environment, and addresses with headers", (t) => {
    const servers = readServers(t, {
      mcpServers: {
        files: { command: "npx", args: ["-y", "server"], env: { MODE: "ro" } },
        web: { url: "https://example.test/mcp", headers: { Authorization: "Bearer x" } },
      },
    });
    assert.deepEqual(servers, [
      { name: "files", effects: new Map(), command: "npx", args: ["-y", "server"], env: { MODE: "ro" } },
      { name: "web", effects: new Map(), url: "https://example.test/mcp", headers: { Authorization: "Bearer x" } },
    ]);
  });

  it("leaves out servers that are disabled, also when they are wrong", (t) => {
    const servers = readServers(t, {
      mcpServers: { off: { disabled: true }, on: { command: "a", disabled: false } },
    });
    assert.deepEqual(
      servers.map(({ name }) => name),
      ["on"],
    );
  });

  it("has the effects that the owner of the host declares", (t) => {
    const [server] = readServers(t, {
      mcpServers: { files: { command: "a", effects: { read_file: "read", fetch: "network" } } },
    });
    assert.deepEqual(Object.fromEntries(server?.effects ?? []), { read_file: "read", fetch: "network" });
  });

  it("puts variables of the environment into every text", (t) => {
    const [program, address] = readServers(
      t,
      {
        mcpServers: {
          a: { command: "${BIN}/a", args: ["--key=${KEY}", "${KEY}${KEY}"], env: { TOKEN: "${KEY}" } },
          b: { url: "https://${HOST}/mcp", headers: { "x-key": "${KEY}" } },
        },
      },
      { BIN: "/opt", KEY: "k", HOST: "example.test" },
    );
    assert.deepEqual(program, {
      name: "a",
      effects: new Map(),
      command: "/opt/a",
      args: ["--key=k", "kk"],
      env: { TOKEN: "k" },
    });
    assert.deepEqual(address, {
      name: "b",
      effects: new Map(),
      url: "https://example.test/mcp",
      headers: { "x-key": "k" },
    });
  });

  it("leaves a dollar sign without braces as it is", (t) => {
    const [server] = readServers(t, { mcpServers: { a: { command: "$HOME/a" } } }, { HOME: "/root" });
    assert.equal(server !== undefined && "command" in server && server.command, "$HOME/a");
  });

  it("says which variable is not set, and where", (t) => {
    assert.equal(
      faultOf(t, { command: "a", env: { TOKEN: "${NO_SUCH}" } }),
      "files: env.TOKEN names the variable NO_SUCH, which is not set",
    );
  });

  it("refuses what is no server, each by its own sentence", (t) => {
    const cases: readonly (readonly [unknown, RegExp])[] = [
      ["npx server", /^files must be an object$/],
      [null, /^files must be an object$/],
      [[], /^files must be an object$/],
      [{}, /^files needs a command or a url$/],
      [{ command: "a", url: "https://a.test" }, /^files needs a command or a url$/],
      [{ command: 5 }, /^files: command must be text$/],
      [{ command: "a", args: "b" }, /^files: args must be a list$/],
      [{ command: "a", args: [1] }, /^files: args must be text$/],
      [{ command: "a", env: ["A=1"] }, /^files: env must be an object$/],
      [{ command: "a", env: { A: 1 } }, /^files: env\.A must be text$/],
      [{ url: "example.test" }, /^files: url must begin with http: or https:$/],
      [{ url: "file:///etc/passwd" }, /^files: url must begin with http: or https:$/],
      [{ url: "https://me:secret@example.test/" }, /^files: put credentials into headers, not into url$/],
      [{ url: "https://example.test", headers: "x" }, /^files: headers must be an object$/],
      [{ command: "a", effects: { read: "safe" } }, /^files: an effect is .*, not safe$/],
    ];
    for (const [server, expected] of cases) assert.match(faultOf(t, server), expected);
  });

  it("refuses names that could not begin the name of a tool", (t) => {
    for (const name of ["", "1st", "a b", "a.b", "a/b", "é", "x".repeat(33), "a__b", "a_"])
      assert.match(faultOf(t, { command: "a" }, name), /is no name of a server/, name);
    for (const name of ["a", "A-1_b", "x".repeat(32)])
      assert.equal(readServers(t, { mcpServers: { [name]: { command: "a" } } }).length, 1, name);
  });

  it("refuses a file without servers, without JSON, with too many servers, and one that is too large", (t) => {
    const read = (content: unknown): void => void readServers(t, content);
    assert.throws(() => read({ servers: {} }), /needs an object "mcpServers"/);
    assert.throws(() => read([]), /needs an object "mcpServers"/);
    assert.throws(() => read("{"), { code: "BAD_REQUEST" });
    const many = Object.fromEntries(
      Array.from({ length: MOUNT_LIMITS.servers + 1 }, (_, index) => [`s${index}`, { command: "a" }]),
    );
    assert.throws(() => read({ mcpServers: many }), /names more than 32 servers/);
    const padding = "x".repeat(MOUNT_LIMITS.fileBytes);
    assert.throws(() => read({ mcpServers: {}, padding }), /it has more than \d+ bytes/);
  });
});
