import { useEffect } from "react";

const TITLE_CHARS = 60;

/** Names the page in the title of its tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title.slice(0, TITLE_CHARS)} · Vidro`;
  }, [title]);
}
