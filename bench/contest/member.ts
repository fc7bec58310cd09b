import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { assertLoopback } from "./loopback.ts";

/** A process that takes part: it does what it is asked for, one thing after the other, and tells what came of it. */
export interface Member<Ready> {
  readonly pid: number;
  /** What it said when it was ready. */
  readonly ready: Ready;
  /** Asks for something that its script knows; rejects with what went wrong there. */
  ask<Answer>(order: string, ...args: readonly unknown[]): Promise<Answer>;
  /** Lets it go: it ends what it has started, and itself. */
  end(): Promise<void>;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
}

/** What a script of a member is made of: what it says when it is ready, and what it can be asked for. */
export interface Duties {
  readonly ready: unknown;
  readonly orders: { readonly [order: string]: (...args: never[]) => unknown };
}

interface Answered {
  readonly id: number;
  readonly value?: unknown;
  readonly failed?: string;
}

/** Starts a script of this folder's parent with settings that it reads by `serveMember`. */
export async function member<Ready>(script: string, settings: object): Promise<Member<Ready>> {
  const path = fileURLToPath(new URL(`../${script}`, import.meta.url));
  // Peers have conditions of their own named like ours, which lead to sources that they do not ship.
  const conditions = script.startsWith("peers/") ? [] : ["--conditions=vidro-source"];
  const execArgv = [...conditions, "--disable-warning=ExperimentalWarning"];
  const child = fork(path, [JSON.stringify(settings)], { execArgv });
  const gone = once(child, "exit").then(([code]) => Promise.reject(new Error(`${script} ended with ${code}.`)));
  gone.catch(() => undefined);
  // Whatever happens to us, it must not outlive us.
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const waiting = new Map<number, (answer: Answered) => void>();
  child.on("message", (answer: Answered) => waiting.get(answer.id)?.(answer));
  let last = 0;
  const answerTo = async <Answer>(id: number): Promise<Answer> => {
    const answered = new Promise<Answered>((resolve) => waiting.set(id, resolve));
    const { value, failed } = await Promise.race([answered, gone]).finally(() => waiting.delete(id));
    if (failed !== undefined) throw new Error(failed);
    return value as Answer;
  };
  const pid = child.pid ?? 0;
  const ready = await answerTo<Ready>(READY);
  assertLoopback(pid);
  return {
    pid,
    ready,
    ask(order, ...args) {
      last += 1;
      child.send({ id: last, order, args });
      return answerTo(last);
    },
    async end() {
      if (child.connected) child.disconnect();
      await gone.catch(() => process.off("exit", kill));
    },
    async kill() {
      kill();
      await gone.catch(() => process.off("exit", kill));
    },
  };
}

/** The message that says that a member is ready answers no order. */
const READY = 0;

/** Serves the process that has started this one: reads the settings, gets ready, and does what is asked for. */
export async function serveMember(open: (settings: never) => Promise<Duties>): Promise<void> {
  const tell = (answer: Answered): void => void process.send?.(answer);
  process.once("disconnect", () => process.exit());
  const settings = JSON.parse(process.argv[2] ?? "{}") as never;
  const { ready, orders } = await open(settings);
  process.on("message", ({ id, order, args }: { id: number; order: string; args: never[] }) => {
    Promise.try(async () => orders[order]?.(...args)).then(
      (value) => tell({ id, value }),
      (thrown: unknown) => tell({ id, failed: thrown instanceof Error ? (thrown.stack ?? "") : String(thrown) }),
    );
  });
  tell({ id: READY, value: ready });
}
