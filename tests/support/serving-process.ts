import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Line, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { until } from "./daemon-process.ts";

/** A process that serves, and what it has said. */
export class ServingProcess implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly pid: number;
  ready: Line = { body: {} };
  log = "";

  private constructor(child: ChildProcess) {
    this.child = child;
    this.pid = child.pid ?? 0;
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (this.log += chunk));
  }

  static async start(stage: Stage, argv: readonly string[]): Promise<ServingProcess> {
    const [program = "", ...args] = argv;
    const serving = new ServingProcess(spawn(program, args, { cwd: stage.workspace, env: stage.command.env }));
    const gone = once(serving.child, "exit");
    const line = once(createInterface({ input: serving.child.stdout! }), "line");
    const first = await Promise.race([line, gone]);
    assert.ok(typeof first[0] === "string", serving.log);
    serving.ready = JSON.parse(first[0]) as Line;
    return serving;
  }

  get url(): string {
    return String(this.ready["url"]);
  }

  /** Signals it, and waits until it has said so many times that it heard. */
  async hears(signal: NodeJS.Signals, words: string, times = 1): Promise<void> {
    this.child.kill(signal);
    await until(`${signal}: ${words}`, () => {
      assert.equal(this.child.exitCode ?? this.child.signalCode, null, `${signal} ended it:\n${this.log}`);
      return this.log.split(words).length > times;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, "exit");
    this.child.kill("SIGKILL");
    await gone;
  }
}
