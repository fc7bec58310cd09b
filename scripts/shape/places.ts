import { readFileSync } from "node:fs";
import { ROOT } from "../setup.js";

/* Where one thing of each kind is named: the files to touch for another one of that kind. */

interface Kind {
  readonly kind: string;
  readonly example: string;
  /** How the product names it. */
  readonly named: RegExp;
  /** Files that are the thing itself. */
  readonly own: RegExp;
}

const KINDS: readonly Kind[] = [
  { kind: "tool", example: "os_info", named: /"os_info"|tools\/os-info|\.\/os-info/, own: /os-info\.ts$/ },
  { kind: "model provider", example: "google", named: /"google"|@ai-sdk\/google/, own: /google/ },
  { kind: "store", example: "sqlite", named: /"sqlite"|\.\/sqlite|stores\/sqlite/, own: /stores\/sqlite/ },
  { kind: "surface", example: "journal", named: /north\/journal|"\.\/journal\.ts"/, own: /north\/journal/ },
  { kind: "wire to hands", example: "agent-tcp", named: /agent-tcp/, own: /agent-tcp/ },
  { kind: "event", example: "heal.tried", named: /"heal\.tried"/, own: /core\/src\/event\.ts$/ },
  { kind: "fault", example: "PLAN_CHANGED", named: /PLAN_CHANGED/, own: /fault-table\.ts$/ },
  { kind: "limit", example: "treePollMs", named: /\btreePollMs\b/, own: /\/limits\// },
  { kind: "command", example: "doctor", named: /"doctor|commands\/doctor|\.\/doctor/, own: /commands\/doctor/ },
];

/** For each kind: how many files are the example itself, and which others name it. */
export function placesToTouch(product: readonly string[]): readonly (readonly [string, string])[] {
  return KINDS.map(({ kind, example, named, own }) => {
    const mine = product.filter((path) => own.test(path));
    const others = product.filter((path) => !own.test(path) && named.test(readFileSync(ROOT + path, "utf8")));
    return [`${kind} (${example}): ${others.join(" ")}`, `${mine.length}+${others.length}`];
  });
}
