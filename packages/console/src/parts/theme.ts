import { useState } from "react";

/** The colours of the console: those of the system, or a person's choice. */
export type Theme = "system" | "light" | "dark";

const KEY = "vidro-theme";
apply(storedTheme());

/** The theme, and a function that changes it and remembers it in this browser. */
export function useTheme(): readonly [theme: Theme, setTheme: (theme: Theme) => void] {
  const [theme, setTheme] = useState(storedTheme);
  return [
    theme,
    (chosen) => {
      localStorage.setItem(KEY, chosen);
      apply(chosen);
      setTheme(chosen);
    },
  ];
}

function storedTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

function apply(theme: Theme): void {
  document.documentElement.style.colorScheme = theme === "system" ? "light dark" : theme;
}
