import { useEffect, useState } from "react";
import { CONSOLE_LIMITS } from "@vidro/core";

/** The present time, told again and again while it is asked for. */
export function useNow(isAsked: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isAsked) return undefined;
    const timer = setInterval(() => setNow(Date.now()), CONSOLE_LIMITS.tickMs);
    return () => clearInterval(timer);
  }, [isAsked]);
  return now;
}
