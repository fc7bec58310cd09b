import { useEffect, useState } from "react";
import type { ReactNode } from "react";
import { translate } from "../words/translate.ts";
import type { Phrase } from "../words/words.ts";
import { go } from "./route.tsx";

/** The keys of the console, and what they do. */
const MAP: readonly (readonly [keys: string, does: Phrase])[] = [
  ["g o", "Home"],
  ["g r", "Runs"],
  ["g w", "Waiting for you"],
  ["g h", "Hands"],
  ["g a", "Agents"],
  ["g p", "Policy"],
  ["g k", "Knowledge"],
  ["g s", "Settings"],
  ["c", "Chat"],
  ["/", "Filter"],
  ["j k", "Next and previous link of a list"],
  ["y n", "Yes once, no"],
  ["?", "These keys"],
];
const PAGES: { readonly [key: string]: string } = {
  o: "/",
  r: "/runs",
  w: "/waiting",
  h: "/hands",
  a: "/agents",
  p: "/policy",
  k: "/knowledge",
  s: "/settings",
};

/** Listens to the keyboard, unless a person is typing; `?` shows the keys. */
export function Keys(): ReactNode {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    let hasGone = false;
    const pressed = (event: KeyboardEvent): void => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      const page = hasGone ? PAGES[event.key] : undefined;
      hasGone = event.key === "g";
      if (page !== undefined) go(page);
      else if (event.key === "?") setShown((before) => !before);
      else if (event.key === "Escape") setShown(false);
      else if (event.key === "c") go("/chat");
      else if (event.key === "/") focusFilter(event);
      else if (event.key === "j" || event.key === "k") focusNext(event.key === "j" ? 1 : -1);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  if (!isShown) return null;
  return (
    <aside className="keys card" aria-label={translate("Keys")}>
      <dl>
        {MAP.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{translate(does)}</dd>
          </div>
        ))}
      </dl>
    </aside>
  );
}

function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

function focusFilter(event: KeyboardEvent): void {
  const filter = document.querySelector<HTMLInputElement>("[data-filter]");
  if (filter === null) return;
  event.preventDefault();
  filter.focus();
}

/** Moves the focus along the links of the lists on the page. */
function focusNext(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>("main .item, main .entry-head")];
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[at === -1 ? (by === 1 ? 0 : links.length - 1) : at + by]?.focus();
}
