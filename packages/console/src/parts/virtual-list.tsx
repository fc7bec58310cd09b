import { memo, useLayoutEffect, useMemo, useReducer, useRef, useState } from "react";
import type { ReactNode } from "react";

/* A list that draws only what is on the screen. Heights are guessed until an item was drawn, and measured then. */

const MARGIN_PX = 600;
const PAGE_PX = 256;

/** Draws the items of a long list that are near the screen; `keyOf` names an item for as long as it is there. */
export function VirtualList<Item>(props: {
  readonly items: readonly Item[];
  readonly guessPx: number;
  readonly keyOf: (item: Item) => string;
  readonly draw: (item: Item) => ReactNode;
  readonly label?: string;
  /** Scrolls to this index when it changes. */
  readonly target?: number | undefined;
}): ReactNode {
  const { items, guessPx, keyOf, draw, label, target } = props;
  const list = useRef<HTMLDivElement>(null);
  const heights = useRef(new Map<string, number>()).current;
  const [, redraw] = useReducer(countUp, 0);
  const [version, measured] = useReducer(countUp, 0);
  const [watch] = useState(() => rowWatcher(heights, measured));
  useScroll(redraw);
  const tops = useMemo(
    () => topsOf(items, guessPx, (item) => heights.get(keyOf(item))),
    // The list of a journal grows in place.
    [items, items.length, guessPx, keyOf, version],
  );
  const place = list.current?.getBoundingClientRect().top ?? 0;
  const page = Math.floor(-place / PAGE_PX) * PAGE_PX;
  const first = Math.max(0, indexAt(tops, page - MARGIN_PX));
  const last = Math.min(items.length, indexAt(tops, page + innerHeight + PAGE_PX + MARGIN_PX) + 1);
  useLayoutEffect(() => {
    if (target === undefined || list.current === null) return;
    scrollTo(0, scrollY + list.current.getBoundingClientRect().top + (tops[target] ?? 0) - innerHeight / 3);
    // Only a new target scrolls.
  }, [target]);
  return (
    <div ref={list} className="virtual" role="list" aria-label={label} style={{ height: tops[items.length] }}>
      {items.slice(first, last).map((item, index) => (
        <Row
          key={keyOf(item)}
          name={keyOf(item)}
          top={tops[first + index] ?? 0}
          item={item}
          draw={draw}
          watch={watch}
        />
      ))}
    </div>
  );
}

function countUp(count: number): number {
  return count + 1;
}

const Row = memo(function Row(props: {
  readonly name: string;
  readonly top: number;
  readonly item: unknown;
  draw(this: void, item: unknown): ReactNode;
  readonly watch: (row: HTMLElement | null) => (() => void) | undefined;
}): ReactNode {
  const { name, top, item, draw, watch } = props;
  return (
    <div ref={watch} role="listitem" data-name={name} style={{ transform: `translateY(${top}px)` }}>
      {draw(item)}
    </div>
  );
});

/** Measures rows whenever their size changes, also when a person unfolds one. */
function rowWatcher(
  heights: Map<string, number>,
  changed: () => void,
): (row: HTMLElement | null) => (() => void) | undefined {
  const observer = new ResizeObserver((seen) => {
    let hasChanged = false;
    for (const { target } of seen) {
      const { dataset, offsetHeight } = target as HTMLElement;
      const name = dataset["name"] ?? "";
      if (heights.get(name) === offsetHeight || !target.isConnected) continue;
      heights.set(name, offsetHeight);
      hasChanged = true;
    }
    if (hasChanged) changed();
  });
  return (row) => {
    if (row === null) return undefined;
    observer.observe(row);
    return () => observer.unobserve(row);
  };
}

/** Where each item begins, and last where the list ends. */
function topsOf<Item>(
  items: readonly Item[],
  guessPx: number,
  heightOf: (item: Item) => number | undefined,
): readonly number[] {
  const tops: number[] = [];
  let top = 0;
  for (let index = 0; index < items.length; index += 1) {
    tops.push(top);
    top += heightOf(items[index]!) ?? guessPx;
  }
  tops.push(top);
  return tops;
}

/** The last index whose top is at or above a place. */
function indexAt(tops: readonly number[], place: number): number {
  let low = 0;
  let high = tops.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((tops[middle] ?? 0) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Calls back when another part of the list may be on the screen. */
function useScroll(moved: () => void): void {
  useLayoutEffect(() => {
    let page = -1;
    const look = (): void => {
      const now = Math.floor(scrollY / PAGE_PX);
      if (now === page) return;
      page = now;
      moved();
    };
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", moved);
    return () => {
      removeEventListener("scroll", look);
      removeEventListener("resize", moved);
    };
  }, [moved]);
}
