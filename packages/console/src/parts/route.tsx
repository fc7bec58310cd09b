import { useSyncExternalStore } from "react";
import type { ReactNode } from "react";

/* The address of the page names what is shown: `/runs/<id>?view=timeline#seq=17`. */

const listeners = new Set<() => void>();
addEventListener("popstate", () => listeners.forEach((listener) => listener()));

/** Goes to another page of the console. */
export function go(path: string): void {
  history.pushState(null, "", path);
  scrollTo(0, path.endsWith("#question") ? document.documentElement.scrollHeight : 0);
  for (const listener of listeners) listener();
}

/** The present address, from its path on. */
export function useAddress(): URL {
  const href = useSyncExternalStore(subscribe, () => location.href);
  return new URL(href);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** A link to another page of the console. */
export function Link(props: {
  readonly to: string;
  readonly className?: string;
  readonly current?: boolean;
  readonly title?: string;
  /** What the link is read out as, where its children are a sign. */
  readonly label?: string;
  readonly children: ReactNode;
}): ReactNode {
  const { to, className, current, title, label, children } = props;
  return (
    <a
      href={to}
      className={className}
      title={title ?? label}
      aria-label={label}
      aria-current={current === true ? "page" : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        go(to);
      }}
    >
      {children}
    </a>
  );
}
