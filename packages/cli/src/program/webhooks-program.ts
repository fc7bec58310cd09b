import { Option } from "commander";
import type { Command } from "commander";
import { JSON_FLAG, splitCommas } from "./flags.ts";
import type { Exit } from "./flags.ts";

const load = () => import("../commands/webhooks.ts");

/** Adds the commands below `vidro webhooks`. */
export function addWebhooks(root: Command, exit: Exit): void {
  const webhooks = root
    .command("webhooks")
    .description("add, list and remove addresses that the daemon tells of events of runs");
  webhooks
    .command("add")
    .description("tell an address of events of all runs; prints the secret of its signatures")
    .argument("<url>", "address that takes POST")
    .addOption(
      new Option("--events <a,b>", "types of events (default: a run asks, or has ended)").argParser(splitCommas),
    )
    .option(...JSON_FLAG)
    .action(async (url: string, flags) => exit(await (await load()).addWebhook(url, flags)));
  webhooks
    .command("list")
    .description("list webhooks without their secrets")
    .option(...JSON_FLAG)
    .action(async (flags) => exit(await (await load()).listWebhooks(flags)));
  webhooks
    .command("remove")
    .description("remove a webhook and drop what waits for it")
    .argument("<id>", "id of the webhook")
    .option(...JSON_FLAG)
    .action(async (id: string, flags) => exit(await (await load()).removeWebhook(id, flags)));
}
