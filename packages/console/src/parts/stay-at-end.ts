import { useEffect } from "react";

/** As near to the end a reader counts as being there. */
const NEAR_END_PX = 160;

/** Keeps who reads at the end of the page there while the page grows; `isAtEnd` is where the page begins. */
export function useStayAtEnd(isAtEnd: boolean): void {
  useEffect(() => {
    let isThere = isAtEnd;
    const look = (): void => {
      isThere = scrollY + innerHeight > document.documentElement.scrollHeight - NEAR_END_PX;
    };
    const grown = new ResizeObserver(() => {
      if (isThere) scrollTo(0, document.documentElement.scrollHeight);
    });
    grown.observe(document.body);
    addEventListener("scroll", look, { passive: true });
    return () => {
      grown.disconnect();
      removeEventListener("scroll", look);
    };
  }, []);
}
