import type { ModelRow } from "@vidro/brain/home";
import { FAULTS, Fault } from "@vidro/core";
import type { ModelFacts, ModelPrice } from "@vidro/core";
import { spanWords, usageWords } from "@vidro/core/text";
import { EXIT } from "../program/exit-codes.ts";
import { print, say, writeJson } from "../program/output.ts";
import { commandConfig } from "../program/settings.ts";
import { paint } from "../view/symbols.ts";

/** What the commands below `vidro models` may be told. */
interface ModelsFlags {
  readonly json?: boolean;
}

const loadHome = () => import("@vidro/brain/home");

const HEADINGS = ["MODEL", "WINDOW", "ANSWER", "$ IN/OUT/CACHED", "CAN", "NEEDS"] as const;

/** Lists the models that are known or listed by a server, with what is known of each. */
export async function listKnownModels(flags: ModelsFlags): Promise<number> {
  const rows = await (await loadHome()).listModels(commandConfig());
  if (flags.json === true) {
    for (const { name, facts, needs = null, url = null } of rows) writeJson({ name, ...facts, needs, url });
    return EXIT.ok;
  }
  const cells = rows.map(cellsOf);
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...cells.map((row) => row[column]!.length)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd();
  print(paint("dim", line(HEADINGS)), ...cells.map(line));
  return EXIT.ok;
}

/** Prints what is known of a model, and where each fact comes from. */
export async function showModel(name: string | undefined, flags: ModelsFlags): Promise<number> {
  const page = await (await loadHome()).describeModel(commandConfig(), name);
  if (flags.json === true) {
    writeJson({ ...page });
    return EXIT.ok;
  }
  print(`${paint("bold", page.name)}  ${paint("dim", page.because)}`);
  for (const { url, listens } of page.servers) print(`  server    ${url}${listens ? "" : ": nothing listens there"}`);
  for (const { fact, value, from } of page.facts)
    print(`  ${fact.padEnd(8)}  ${factWords(fact, value)}  ${paint("dim", from)}`);
  if (page.facts.length === 0)
    print("  Nothing is known of it: its window is asked from its server, or learnt when that refuses a prompt.");
  return EXIT.ok;
}

/** Calls a model with a small task and tells what came of it; fails with the model's own fault. */
export async function testModel(name: string | undefined, flags: ModelsFlags): Promise<number> {
  const trial = await (await loadHome()).tryModel(commandConfig(), name);
  if (flags.json === true) writeJson({ ...trial });
  const { model, isRight, calls, thinks, tookMs, usage, healed, fault, answer } = trial;
  if (flags.json !== true) {
    for (const heal of healed) say(`  healed: ${heal}`);
    if (fault === undefined) {
      const how = calls === undefined ? "calls no tool" : `calls tools ${calls}`;
      const times = tookMs.map((ms) => spanWords(ms)).join(" + ");
      print(
        `${model}: ${isRight ? "works" : "answers"} · ${how} · ${thinks ? "thinks" : "shows no thinking"} · ${times}`,
      );
      print(`  ${usageWords(usage)}`);
      if (!isRight) say(`  It was to call a tool and answer with its word, and answered: ${answer.slice(0, 200)}`);
    }
  }
  if (fault !== undefined) throw new Fault(fault.code, fault.message);
  return isRight ? EXIT.ok : FAULTS.MODEL_RUBBISH.exit;
}

function cellsOf({ name, facts, needs, url }: ModelRow): readonly string[] {
  const { window, answer, prices = [] } = facts;
  return [name, tokenWords(window), tokenWords(answer), priceWords(prices[0]), abilities(facts), needs ?? url ?? ""];
}

function tokenWords(tokens: number | undefined): string {
  return tokens === undefined ? "?" : tokens.toLocaleString("en");
}

function priceWords(price: ModelPrice | undefined): string {
  if (price === undefined) return "?";
  const { input, output, cached } = price;
  return [input, output, ...(cached === undefined ? [] : [cached])].join(" / ");
}

function abilities({ tools, images, thinking }: ModelFacts): string {
  return [...(tools ? ["tools"] : []), ...(images ? ["images"] : []), ...(thinking ? ["thinking"] : [])].join(" ");
}

function factWords(fact: keyof ModelFacts, value: unknown): string {
  if (fact === "prices" && Array.isArray(value))
    return (value as readonly ModelPrice[]).map((price) => `$${priceWords(price)}${whenWords(price)}`).join("; ");
  if (typeof value === "number") return value.toLocaleString("en");
  return value === true ? "yes" : String(value);
}

function whenWords({ abovePromptTokens, from }: ModelPrice): string {
  return [
    ...(abovePromptTokens === undefined ? [] : [` above ${abovePromptTokens.toLocaleString("en")} tokens`]),
    ...(from === undefined ? [] : [` from ${from}`]),
  ].join("");
}
