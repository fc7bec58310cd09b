import type { ScreenRun } from "./screen.ts";

/** What the screen showed from a moment on. */
export interface Frame {
  readonly atMs: number;
  readonly rows: readonly (readonly ScreenRun[])[];
}

const [CHAR_PX, ROW_PX, PAD_PX] = [8, 19, 14];
/** How long the last frame stays before the animation begins again. */
const REST_MS = 4000;

/** Colours of the terminal by their codes. */
const COLOURS: { readonly [code: string]: string } = {
  "31": "#ff8f86",
  "32": "#6dcf87",
  "33": "#f0b650",
  "34": "#7fb2ff",
  "35": "#ab97f6",
  "36": "#52c6d9",
  "90": "#8fa6ae",
};

/** An animated picture of a terminal: each frame is shown in its time, by styles alone, without script. */
export function animatedSvg(
  frames: readonly Frame[],
  { columns, rows }: { readonly columns: number; readonly rows: number },
): string {
  const [width, height] = [columns * CHAR_PX + 2 * PAD_PX, rows * ROW_PX + 2 * PAD_PX];
  const whole = (frames.at(-1)?.atMs ?? 0) + REST_MS;
  const styles = frames.map((frame, index) => {
    const [from, to] = [percent(frame.atMs, whole), percent(frames[index + 1]?.atMs ?? whole, whole)];
    const before = from === 0 ? "" : `0%,${from}%{visibility:hidden}`;
    const later = to >= 100 ? "" : `${to}%,100%{visibility:hidden}`;
    return `@keyframes f${index}{${before}${from + 0.001}%,${to - 0.001}%{visibility:visible}${later}}#f${index}{animation:f${index} ${whole}ms infinite step-end}`;
  });
  const shown = frames.map(
    (frame, index) =>
      `<g id="f${index}"${index === frames.length - 1 ? "" : ' visibility="hidden"'}>${rowsOf(frame.rows, rows)}</g>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>A task in the terminal</title>`,
    `<style>text{font:13.3px ui-monospace,"DejaVu Sans Mono",monospace;fill:#e2ecef;white-space:pre}${styles.join("")}`,
    `@media(prefers-reduced-motion:reduce){g{animation:none!important}}</style>`,
    `<rect width="100%" height="100%" rx="8" fill="#0f1518"/>`,
    ...shown,
    "</svg>",
    "",
  ].join("\n");
}

function percent(ms: number, whole: number): number {
  return Number(((ms / whole) * 100).toFixed(3));
}

/** The last rows of a frame that fit. */
function rowsOf(all: Frame["rows"], rows: number): string {
  return all
    .slice(-rows)
    .map((runs, row) => {
      const spans = runs.filter(({ text }) => text !== "").map(spanOf);
      return spans.length === 0
        ? ""
        : `<text x="${PAD_PX}" y="${PAD_PX + (row + 0.75) * ROW_PX}" xml:space="preserve">${spans.join("")}</text>`;
    })
    .join("");
}

function spanOf({ text, look }: ScreenRun): string {
  const codes = look.split(" ");
  const colour = codes.map((code) => COLOURS[code]).find((one) => one !== undefined);
  const styles = [
    ...(colour === undefined ? [] : [`fill="${colour}"`]),
    ...(codes.includes("1") ? ['font-weight="bold"'] : []),
    ...(codes.includes("2") ? ['fill-opacity=".65"'] : []),
  ];
  const words = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return styles.length === 0 ? words : `<tspan ${styles.join(" ")}>${words}</tspan>`;
}
