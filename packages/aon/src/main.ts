import { parseArgs } from "node:util";
import { checkServer } from "./check.ts";
import type { ClauseFinding } from "./check.ts";

const USAGE = `aon check <url>   checks a server against Adaptive Observability Negotiation

  --failing <url>    a route that fails for good, so that its healing can be seen
  --method <name>    GET unless told otherwise
  --data <json>      a body to send; the method is POST then, unless told otherwise
  --header "N: v"    a header to send, such as Authorization; may be given more than once
  --json             one JSON object on standard output

The route is asked about ten times. Exit: 0 no clause fails, 1 one fails, 2 usage, 7 cannot reach.
`;
const EXIT = { ok: 0, failed: 1, usage: 2, unreachable: 7 } as const;
const STATE_SIGNS = { ok: "[x]", fail: "[ ]", unknown: "[?]" } as const;

/** The aon command: gives the code to exit with. */
async function main(argv: string[]): Promise<number> {
  const asked = argumentsOf(argv);
  if (asked === undefined) {
    process.stderr.write(USAGE);
    return EXIT.usage;
  }
  if (asked.values.help === true) {
    process.stdout.write(USAGE);
    return EXIT.ok;
  }
  const { values, url } = asked;
  const findings = await checkServer({
    url,
    ...(values.failing === undefined ? {} : { failingUrl: values.failing }),
    ...(values.data === undefined ? {} : { body: values.data }),
    method: values.method ?? (values.data === undefined ? "GET" : "POST"),
    headers: Object.fromEntries((values.header ?? []).map((line) => pairOf(line))),
  });
  const isCompliant = findings.every(({ state }) => state !== "fail");
  process.stdout.write(
    values.json === true ? `${JSON.stringify({ url, compliant: isCompliant, findings })}\n` : listOf(findings),
  );
  return isCompliant ? EXIT.ok : EXIT.failed;
}

function argumentsOf(argv: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        failing: { type: "string" },
        method: { type: "string" },
        data: { type: "string" },
        header: { type: "string", multiple: true },
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
    const [command, url = "", ...more] = positionals;
    const urls = values.failing === undefined ? [url] : [url, values.failing];
    const isCheck =
      command === "check" && more.length === 0 && urls.every((each) => /^https?:/.test(each) && URL.canParse(each));
    return isCheck || values.help === true ? { values, url } : undefined;
  } catch {
    return undefined;
  }
}

function pairOf(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, Math.max(0, colon)).trim(), line.slice(colon + 1).trim()];
}

function listOf(findings: readonly ClauseFinding[]): string {
  const lines = findings.flatMap(({ state, title, notes }) => [
    `${STATE_SIGNS[state]} ${title}`,
    ...notes.map((note) => `      ${note}`),
  ]);
  return `${lines.join("\n")}\n`;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (thrown) {
  const why =
    thrown instanceof Error ? thrown.message || String((thrown as NodeJS.ErrnoException).code) : String(thrown);
  process.stderr.write(`aon: the server cannot be reached: ${why}\n`);
  process.exitCode = EXIT.unreachable;
}
