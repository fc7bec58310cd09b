import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { basename, join, resolve } from "node:path";
import { missingLines } from "../../scripts/newcomer/readme.ts";
import { blocksOf, scriptOf } from "./doc-page.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** A person's machine on which pages of the documentation are followed: an empty home, a folder to work in. */
export class DocShell {
  /** The port of the daemon that the pages start; they name the usual one. */
  readonly port: number;
  readonly #work: string;
  readonly #output: string;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(folder: string, path: string, port: number) {
    this.port = port;
    const [home, host] = [join(folder, "home"), join(folder, "host")];
    [this.#work, this.#output] = [join(folder, "work"), join(folder, "output")];
    // As `npm install @vidro/client` would.
    const modules = join(this.#work, "node_modules/@vidro");
    for (const made of [join(home, ".local/state/vidro"), this.#output, host, modules])
      mkdirSync(made, { recursive: true, mode: 0o700 });
    symlinkSync(join(ROOT, "packages/client"), join(modules, "client"));
    writeFileSync(join(home, ".local/state/vidro/config.json"), JSON.stringify({ port, southbound_port: 0 }));
    this.#env = {
      PATH: path,
      HOME: home,
      HOST_HOME: host,
      OUTPUT: this.#output,
      NODE: process.execPath,
      LANG: "C.UTF-8",
      TERM: "xterm-256color",
    };
  }

  /** Makes the machine in a folder, with a path that has the commands of Vidro. */
  static async set(folder: string, path: string): Promise<DocShell> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    return new DocShell(folder, path, port);
  }

  /** Runs the blocks of a page as they are written; resolves to what failed or was not printed as the page shows it. */
  async follow(path: string): Promise<readonly string[]> {
    const blocks = blocksOf(readFileSync(join(ROOT, path), "utf8"));
    const script = scriptOf(path, blocks)
      .replaceAll("127.0.0.1:3120", `127.0.0.1:${this.port}`)
      .replaceAll("/var/backups", this.#work);
    const { code, said } = await this.#run(script);
    const printed = (index: number): string =>
      readFileSync(join(this.#output, `${basename(path, ".md")}-${index}`), "utf8");
    if (code !== 0) {
      const last = readFileSync(join(this.#output, "last"), "utf8");
      const index = blocks.findIndex(({ line }) => last.endsWith(`line ${line}\n`));
      return [`${last}${said}${index === -1 ? "" : printed(index)}`];
    }
    return blocks.flatMap(({ shown, line }, index) => {
      const missing = missingLines(shown, printed(index));
      return missing.length === 0
        ? []
        : [`${path}, line ${line} shows\n${missing.join("\n")}\nand printed\n${printed(index)}`];
    });
  }

  /** Ends the daemon and the hands that pages have started. */
  async end(): Promise<void> {
    await this.#run('for home in "$HOST_HOME"/*; do HOME=$home vidro-hand stop; done; vidro stop --now');
  }

  async #run(script: string): Promise<{ readonly code: number; readonly said: string }> {
    const child = spawn("/bin/sh", ["-s"], { cwd: this.#work, env: this.#env, stdio: ["pipe", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (said += text));
    child.stdin.end(script);
    // Not `close`: the daemon that a page starts holds the streams.
    const [code] = (await once(child, "exit")) as [number | null];
    return { code: code ?? 1, said };
  }
}
