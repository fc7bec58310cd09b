import { createContext, useCallback, useContext, useMemo } from "react";
import type { ReactNode } from "react";
import { CONSOLE_LIMITS } from "@vidro/core";
import { vidro } from "./connection.ts";
import { usePolled } from "./polled.ts";

const Names = createContext<ReadonlyMap<string, string>>(new Map());

/** Gives the pages below it the names of the hands, by which people know them; journals have their ids. */
export function HandNames({ children }: { readonly children: ReactNode }): ReactNode {
  const { value: hands } = usePolled("hand-names", () => vidro.hands.list(), CONSOLE_LIMITS.catalogMs);
  const names = useMemo(() => new Map(hands?.map(({ id, name }) => [id, name])), [hands]);
  return <Names value={names}>{children}</Names>;
}

/** A function that gives the names of hands for their ids, which commas separate; an id without a name stays. */
export function useHandNames(): (ids: string) => string {
  const names = useContext(Names);
  return useCallback(
    (ids) =>
      ids
        .split(",")
        .map((id) => names.get(id) ?? id)
        .join(", "),
    [names],
  );
}
