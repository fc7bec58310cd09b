import { Option } from "commander";
import type { Command } from "commander";
import type { TcpFlags } from "../commands/tcp.ts";
import { addBrainFlags, JSON_FLAG } from "./flags.ts";
import type { Exit } from "./flags.ts";
import { count } from "./numbers.ts";

/* Commands that speak a wire with other programs. */

/** Adds the server of MCP on stdio. */
export function addMcp(root: Command, exit: Exit): void {
  addBrainFlags(root.command("mcp"))
    .description("serve tasks, commands, hands and knowledge to a program that speaks MCP on stdin and stdout")
    .option("--workspace <folder>", "folder to work in (default: the current one)")
    .action(async (flags) => exit(await (await import("../commands/mcp.ts")).serveMcp(flags)));
}

/** Adds the agent for editors. */
export function addAcp(root: Command, exit: Exit): void {
  addBrainFlags(root.command("acp"))
    .description("serve an editor that speaks the Agent Client Protocol on stdin and stdout")
    .addOption(
      new Option(
        "--own",
        "use a brain inside this command even beside a daemon, so that files are the editor's",
      ).conflicts("url"),
    )
    .action(async (flags) => exit(await (await import("../commands/acp.ts")).serveAcp(flags)));
}

/** Adds the client of the TCP agent protocol. */
export function addTcp(root: Command, exit: Exit): void {
  root
    .command("tcp")
    .description("send one request to a server of the TCP agent protocol")
    .argument("<address>", "host or host:port (default port: 4000)")
    .argument("<act>", "name of the request: HELLO, PING, GET_OS_INFO, PS, WATCH, GET_WATCHES, OS_CMD, …")
    .argument("[data...]", "data of the request: a JSON object, or key=value pairs")
    .option("--token <token>", "token to send (default: VIDRO_TOKEN)")
    .option("--tls", "connect with TLS")
    .option("--ca <file>", "connect with TLS and trust this certificate, a file in PEM")
    .option(...JSON_FLAG)
    .action(async (address: string, act: string, ...[data, flags]: [string[], TcpFlags]) =>
      exit(await (await import("../commands/tcp.ts")).tcp(address, [act, ...data], flags)),
    );
}

/** Adds the server of a local model. */
export function addWorker(root: Command, exit: Exit): void {
  root
    .command("worker")
    .description("serve a local model on a Unix socket, for the brain and other programs")
    .requiredOption("--model <path>", "the model: a GGUF file, or a folder with one")
    .option("--socket <path>", "socket to listen on (default: FAZAI_GEMMA_SOCK, else /run/fazai/gemma.sock)")
    .addOption(
      new Option("--threads <n>", "threads of one evaluation (default: half of the processor's)").argParser(count),
    )
    .addOption(
      new Option("--context <tokens>", "tokens of a conversation (default: the model's, up to 8192)").argParser(count),
    )
    .addOption(
      new Option("--memory <MiB>", "most memory for the model and its contexts (default: what is free)").argParser(
        count,
      ),
    )
    .option("--json", "print one line of JSON when it is ready")
    .action(async (flags) => exit(await (await import("../commands/worker.ts")).runWorker(flags)));
}
