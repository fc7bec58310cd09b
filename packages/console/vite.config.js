import { defineConfig } from "vite";

export default defineConfig({
  // The sources of our own packages, as everywhere in the repository.
  resolve: {
    conditions: ["vidro-source", "browser", "module"],
  },
  build: {
    target: "es2023",
    // Its polyfill is an inline script, which the page's policy refuses.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
