import { createContext, useCallback, useContext, useMemo } from "react";
import type { ReactNode } from "react";
import type { HandRecord } from "@vidro/client";
import { CONSOLE_LIMITS } from "@vidro/core";
import { vidro } from "./connection.ts";
import { usePolled } from "./polled.ts";

const Hands = createContext<ReadonlyMap<string, HandRecord>>(new Map());

/** Gives the pages below it the names of the hands, by which people know them; journals have their ids. */
export function HandNames({ children }: { readonly children: ReactNode }): ReactNode {
  const { value } = usePolled("hand-names", () => vidro.hands.list(), CONSOLE_LIMITS.catalogMs);
  const hands = useMemo(() => new Map(value?.map((hand) => [hand.id, hand])), [value]);
  return <Hands value={hands}>{children}</Hands>;
}

/** A function that gives the names of hands for their ids, which commas separate; an id without a name stays. */
export function useHandNames(): (ids: string) => string {
  const hands = useContext(Hands);
  return useCallback(
    (ids) =>
      ids
        .split(",")
        .map((id) => hands.get(id)?.name ?? id)
        .join(", "),
    [hands],
  );
}

/** The name of the hand that is away, of those that a run works with; undefined when none is. */
export function useAwayHand(ids: string): string | undefined {
  const hands = useContext(Hands);
  return ids
    .split(",")
    .map((id) => hands.get(id))
    .find((hand) => hand?.state === "down")?.name;
}
