import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
// oxlint-disable-next-line import/no-unassigned-import -- a style has no value
import "./look.css";
// oxlint-disable-next-line import/no-unassigned-import -- a style has no value
import "./cards.css";
// oxlint-disable-next-line import/no-unassigned-import -- a style has no value
import "./lists.css";

const root = document.querySelector("#root");
if (root !== null) createRoot(root).render(<App />);
