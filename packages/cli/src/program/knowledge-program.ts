import { Option } from "commander";
import type { Command } from "commander";
import { addBrainFlags, JSON_FLAG, splitCommas } from "./flags.ts";
import type { Exit } from "./flags.ts";
import { count } from "./numbers.ts";

const load = () => import("../commands/knowledge.ts");
const ID = ["<id>", "id of an entry, or its last characters (4 or more)"] as const;

/** Adds the commands below `vidro kb`. */
export function addKnowledge(root: Command, exit: Exit): void {
  const kb = root.command("kb").description("search, list, add, verify and remove what runs and people have found out");
  const reading = (name: string, words: string): Command =>
    addBrainFlags(kb.command(name))
      .description(words)
      .option(...JSON_FLAG);
  const status = (): Option =>
    new Option("--status <status>", "only entries that a person has checked, or has not").choices([
      "unverified",
      "verified",
    ]);
  const limit = (): Option => new Option("--limit <n>", "entries at most (default: 20)").argParser(count);
  reading("search", "search the knowledge; accents, capitals and plurals do not matter")
    .argument("<words...>", "what to look for")
    .addOption(status())
    .addOption(limit())
    .action(async (words: string[], flags) => exit(await (await load()).searchKnowledge(words, flags)));
  reading("list", "list entries, newest first")
    .addOption(status())
    .addOption(limit())
    .action(async (flags) => exit(await (await load()).listKnowledge(flags)));
  reading("show", "show an entry with its source")
    .argument(...ID)
    .action(async (id: string, flags) => exit(await (await load()).showKnowledge(id, flags)));
  reading("add", "keep a finding, which later runs find by research")
    .argument("<title>", "what it is about, in a few words")
    .argument("[text...]", "what is worth knowing; - reads it from stdin")
    .option("--tags <tags>", "tags, with commas", splitCommas)
    .option("--verified", "you have checked it")
    .action(async (title: string, text: string[], flags) =>
      exit(await (await load()).addKnowledgeEntry(title, text, flags)),
    );
  reading("verify", "say that you have checked an entry")
    .argument(...ID)
    .action(async (id: string, flags) => exit(await (await load()).verifyKnowledge(id, flags)));
  reading("index", "look through the folders of documents now, and index what has changed").action(async (flags) =>
    exit(await (await load()).indexDocuments(flags)),
  );
  reading("status", "show what is indexed of each folder of documents").action(async (flags) =>
    exit(await (await load()).showDocumentFolders(flags)),
  );
  reading("remove", "remove an entry")
    .argument(...ID)
    .action(async (id: string, flags) => exit(await (await load()).removeKnowledge(id, flags)));
}
