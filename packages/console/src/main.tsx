import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { openLanguage } from "./words/translate.ts";
// oxlint-disable-next-line import/no-unassigned-import -- a style has no value
import "./look.css";
// oxlint-disable-next-line import/no-unassigned-import -- a style has no value
import "./cards.css";
// oxlint-disable-next-line import/no-unassigned-import -- a style has no value
import "./lists.css";
// oxlint-disable-next-line import/no-unassigned-import -- a style has no value
import "./places.css";
// oxlint-disable-next-line import/no-unassigned-import -- a style has no value
import "./chat.css";

await openLanguage();
const root = document.querySelector("#root");
if (root !== null) createRoot(root).render(<App />);
