/* oxlint-disable no-control-regex -- control characters are what these tests are about */
import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { afterEach, beforeEach, describe, test } from "node:test";
import type { TestContext } from "node:test";
import type { WriteStream } from "node:tty";
import { TERMINAL_LIMITS } from "@vidro/core";
import type { Action, Event, Outcome, Plan, PolicyJudged, QuestionAsked, RunStarted } from "@vidro/core";
import { columnsOf } from "./columns.ts";
import { terminalScreen } from "./run-view.ts";
import type { Screen, TerminalOptions } from "./screen.ts";
import { ShownTerminal } from "./shown-terminal.fixture.ts";

const WIDTHS = [20, 40, 80, 200] as const;
const RUN = "run_01980000-0000-7000-8000-0000abcd1234";

/** A screen on a terminal of some width; with other options than those of a person who watches. */
function watch(
  t: TestContext,
  columns = 80,
  options: Partial<TerminalOptions> = {},
): { readonly terminal: ShownTerminal; readonly screen: Screen; readonly take: (...events: Event[]) => void } {
  const terminal = new ShownTerminal(columns);
  const screen = terminalScreen({
    run: RUN,
    stream: terminal as unknown as WriteStream,
    live: true,
    isPiped: false,
    quiet: false,
    verbose: false,
    ...options,
  });
  t.after(() => screen.close());
  let seq = 0;
  const take = (...events: Event[]): void => {
    for (const event of events) screen.entry({ seq: (seq += 1), at: seq * 1000, event });
  };
  return { terminal, screen, take };
}

const started = (about: Partial<RunStarted> = {}): RunStarted => ({
  type: "run.started",
  task: "how much disk is free here?",
  system: "",
  agent: "bunny",
  model: "vendor/model",
  hand: "local",
  workspace: "/srv/app",
  tools: [],
  budget: {} as RunStarted["budget"],
  thread: "thread_1",
  history: [],
  ...about,
});

const called: Event = { type: "model.called", step: 1, attempt: 1 };
const ACTION: Action = { id: "act_1", tool: "shell", input: { command: "df -h" } } as unknown as Action;
const usage = { inputTokens: 1200, outputTokens: 34 };
const PLAN = { kind: "shell", command: "df -h", cwd: "/srv/app", env: {}, timeoutMs: 1000 } as unknown as Plan;

const judged = (decision: "allow" | "ask" | "deny", kind: "read" | "write" = "read"): PolicyJudged => ({
  type: "policy.judged",
  action: "act_1",
  plan: PLAN,
  hash: "h",
  policy: "p",
  verdict: { decision, rule: "r", class: kind, reason: "Because." },
});

function finishedWith(exitCode: number, stdout: string, stderr = ""): Event {
  const stream = (text: string) => ({ text, bytes: text.length, truncated: false, sha256: "" });
  const ended = { exitCode, signal: null, timedOut: false, durationMs: 1500 };
  const outcome: Outcome = { kind: "process", ...ended, stdout: stream(stdout), stderr: stream(stderr) };
  return { type: "action.finished", action: "act_1", outcome };
}

const replied = (text: string, about: object = {}): Event => ({
  type: "model.replied",
  model: "vendor/model",
  text,
  usage,
  ...about,
});
const finished = (result: unknown, about: object = {}): Event => ({ type: "run.finished", result, ...about }) as Event;
const delta = (text: string, from = 0) => ({ type: "model.delta", text, from }) as const;

/** A whole run: a plan, an action that looks, an answer. */
const STORY: readonly Event[] = [
  started(),
  called,
  { type: "plan.made", steps: ["look at the disks", "tell how much is free"] },
  replied("", { action: ACTION }),
  judged("allow"),
  { type: "action.started", action: ACTION, hand: "local" },
  finishedWith(0, "Filesystem Size\n/dev/vda1 252G\n"),
  { ...called, step: 2 },
  replied("71 GiB are free.", { answer: "71 GiB are free." }),
  finished("71 GiB are free."),
];

const before = { LANG: process.env["LANG"], TERM: process.env["TERM"], LC_ALL: process.env["LC_ALL"] };
beforeEach(() => {
  Object.assign(process.env, { LANG: "C.UTF-8", TERM: "xterm-256color" });
  delete process.env["LC_ALL"];
});
afterEach(() => {
  for (const [name, value] of Object.entries(before))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
});

describe("a run on a terminal", () => {
  test("is shown by its task, its action with its outcome, its answer, its plan and what it used", (t) => {
    const { terminal, take } = watch(t);
    take(...STORY);
    assert.deepEqual(terminal.shown.slice(0, -1), [
      "▸ how much disk is free here?",
      "  bunny with vendor/model in /srv/app · run abcd1234",
      "✓ df -h · exit 0 · 31 B · 1.5 s",
      "",
      "71 GiB are free.",
      "",
      "✓ look at the disks",
      "✓ tell how much is free",
    ]);
    assert.match(terminal.shown.at(-1) ?? "", /^ {2}2 steps · 1 action · .* · 9/);
  });

  for (const columns of WIDTHS)
    test(`of ${columns} columns has no row that is wider, but for a word that is`, (t) => {
      const { terminal, screen, take } = watch(t, columns);
      take(...STORY.slice(0, 6));
      screen.live({ type: "action.output", action: "act_1", stream: "stdout", chunk: "x".repeat(500) });
      screen.redraw();
      screen.notice("web-1 is down since 10:00, waiting for it to come back again");
      take(...STORY.slice(6));
      for (const row of terminal.shown)
        assert.ok(columnsOf(row) <= columns || !row.trim().slice(2).includes(" "), `${columnsOf(row)}: ${row}`);
      assert.ok(terminal.shown.some((row) => row.includes("71 GiB")));
    });

  test("leaves no row that is redrawn behind when it ends, is released or is closed", (t) => {
    for (const leave of ["releaseTerminal", "close"] as const) {
      const { terminal, screen, take } = watch(t);
      take(started(), called);
      screen.redraw();
      assert.ok(terminal.shown.some((row) => row.includes("thinking")));
      screen[leave]();
      assert.ok(!terminal.shown.some((row) => row.includes("thinking")), leave);
      const rows = terminal.shown.length;
      screen.redraw();
      assert.equal(terminal.shown.length, rows, "nothing is drawn any more");
    }
  });

  test("goes on with its rows after a question of a helper took the terminal", (t) => {
    const { terminal, screen, take } = watch(t);
    take(started(), called);
    screen.releaseTerminal();
    screen.goOn();
    assert.ok(terminal.shown.some((row) => row.includes("thinking")));
  });

  test("shows the row that a person writes below all others", (t) => {
    const { terminal, screen, take } = watch(t, 40, { written: (columns) => `› written in ${columns}` });
    take(started(), called);
    screen.redraw();
    assert.equal(terminal.shown.at(-1), "› written in 40");
  });
});

describe("an answer", () => {
  /** The live events of a text in pieces. */
  const inPieces = (...pieces: readonly string[]) =>
    pieces.map((piece, at) => delta(piece, pieces.slice(0, at).join("").length));

  test("that was shown while it was written is not printed once more", (t) => {
    const { terminal, screen, take } = watch(t);
    take(started(), called);
    const answer = "71 GiB are free 😀";
    for (const piece of inPieces("71 GiB ", "are fr", "ee \ud83d", "\ude00")) screen.live(piece);
    take(replied(answer, { answer }), finished(answer));
    assert.equal(terminal.shown.filter((row) => row.includes("71 GiB are free")).length, 1);
  });

  test("of which a piece was missed on the way is printed whole at the end", (t) => {
    const { terminal, screen, take } = watch(t);
    take(started(), called);
    const answer = "Do not erase\nthe disk.";
    const [first, , last] = inPieces("Do not ", "erase\n", "the disk.\n");
    screen.live(first!);
    screen.live(last!);
    take(replied(answer, { answer }), finished(answer));
    assert.ok(!terminal.shown.some((row) => row.includes("Do not the disk")));
    assert.deepEqual(terminal.shown.slice(terminal.shown.lastIndexOf("Do not erase")).slice(0, 2), answer.split("\n"));
  });

  test("of another text than the one that was shown is printed", (t) => {
    const { terminal, screen, take } = watch(t);
    take(started(), called);
    screen.live(delta("I look around.\n"));
    take(replied("I look around.", { action: ACTION }), finished("All is well."));
    assert.equal(terminal.shown.filter((row) => row === "I look around.").length, 1);
    assert.equal(terminal.shown.filter((row) => row === "All is well.").length, 1);
  });

  test("that is no text is shown as JSON, and not as Markdown", (t) => {
    const { terminal, take } = watch(t);
    take(started(), finished({ "**a**": ["# b"], c: null }));
    for (const row of ["{", '  "**a**": [', '    "# b"', '  "c": null', "}"])
      assert.ok(terminal.shown.includes(row), row);
  });

  test("of the built-in model is shown to the letter: it quotes files", (t) => {
    const { terminal, take } = watch(t);
    take(started({ model: "offline" }), finished("# no heading\n**x**\n```\ny"));
    for (const row of ["# no heading", "**x**", "```", "y"]) assert.ok(terminal.shown.includes(row), row);
  });

  test("goes to stdout alone when that is a pipe, and is Markdown there as the model wrote it", (t) => {
    const out: string[] = [];
    const { terminal, screen, take } = watch(t, 80, { isPiped: true });
    const { mock } = t.mock.method(process.stdout, "write", (text: string) => out.push(text) > 0);
    take(started(), called);
    screen.live(delta("# Disks\n"));
    take(finished("# Disks\n**all** well\n"));
    mock.restore();
    assert.deepEqual(out, ["# Disks\n**all** well\n"]);
    assert.ok(!terminal.shown.some((row) => row.includes("Disks")));
  });

  test("is all that there is with --quiet, without blank rows around it", (t) => {
    const { terminal, screen, take } = watch(t, 80, { quiet: true });
    for (const event of STORY) {
      take(event);
      screen.live(delta("thinking aloud\n"));
    }
    assert.deepEqual(terminal.shown, ["71 GiB are free."]);
  });

  test("of nothing but blanks leaves the end of the run where it is", (t) => {
    const { terminal, take } = watch(t);
    take(started(), finished("  \n "));
    assert.match(terminal.shown.at(-1) ?? "", /0 steps · 0 actions/);
  });
});

describe("an action", () => {
  const end = (t: TestContext, event: Event, how: PolicyJudged = judged("allow", "write")) => {
    const { terminal, take } = watch(t);
    take(
      started(),
      replied("", { action: ACTION }),
      how,
      { type: "action.started", action: ACTION, hand: "local" },
      event,
    );
    return terminal.shown.slice(2);
  };

  test("is marked by its fate: done, failed, refused or unknown", (t) => {
    const fault = (code: string) => ({ code, message: "So it is." }) as never;
    for (const [event, mark] of [
      [finishedWith(0, ""), "✓"],
      [finishedWith(2, ""), "✗"],
      [{ type: "action.failed", action: "act_1", fault: fault("TOOL_FAILED") }, "✗"],
      [{ type: "action.failed", action: "act_1", fault: fault("POLICY_DENIED") }, "⊘"],
      [{ type: "action.unknown", action: "act_1", fault: fault("OUTCOME_UNKNOWN") }, "⁇"],
    ] as const) {
      const row = end(t, event).find((one) => one.includes("df -h"));
      assert.equal(row?.charAt(0), mark, JSON.stringify(event));
    }
  });

  test("that only looked shows its output only when it failed", (t) => {
    assert.ok(!end(t, finishedWith(0, "secretly long"), judged("allow")).join("\n").includes("secretly long"));
    assert.ok(
      end(t, finishedWith(2, "", "no such file"), judged("allow"))
        .join("\n")
        .includes("│ no such file"),
    );
    assert.ok(end(t, finishedWith(0, "made it")).join("\n").includes("│ made it"));
  });

  test("shows the head and the tail of long output, and each line of it behind its bar", (t) => {
    const lines = Array.from({ length: 100 }, (_, at) => `line ${at}`);
    const rows = end(t, finishedWith(0, lines.join("\n"))).filter((row) => row.startsWith("│ "));
    assert.equal(rows.length, TERMINAL_LIMITS.headLines + 1 + TERMINAL_LIMITS.outputLines);
    assert.deepEqual([rows[0], rows.at(-1)], ["│ line 0", "│ line 99"]);
  });

  test("whose name is longer than the row is cut, and its outcome is still shown", (t) => {
    const { terminal, take } = watch(t, 40);
    const action = { ...ACTION, input: { command: "x".repeat(500) } } as Action;
    take(started(), replied("", { action }), { type: "action.started", action, hand: "local" }, finishedWith(0, ""));
    assert.ok(terminal.shown.some((row) => row.includes("exit 0")));
    assert.ok(!terminal.shown.some((row) => row.includes("x".repeat(60))));
  });
});

describe("text of others", () => {
  const HOSTILE = "a\u001b[2J\u001b[1;1H\u001b]0;owned\u0007\u202eb\u0000\nvidro: fake\r\u009b3J";

  test("cannot steer the terminal from any field of any event", (t) => {
    const { terminal, screen, take } = watch(t);
    const fault = { code: "TOOL_FAILED", message: HOSTILE } as never;
    take(
      started({ task: HOSTILE, agent: HOSTILE, model: HOSTILE, workspace: HOSTILE }),
      called,
      { type: "plan.made", steps: [HOSTILE, HOSTILE] },
      { type: "note.observed", note: HOSTILE },
      { type: "intent.analyzed", originalIntent: HOSTILE, detectedIssue: HOSTILE, decision: HOSTILE },
      { type: "model.failed", attempt: 1, fault },
      { type: "remark.made", id: "1", text: HOSTILE, by: HOSTILE },
      replied(HOSTILE, { action: { ...ACTION, tool: HOSTILE, input: { [HOSTILE]: HOSTILE } } }),
      { type: "action.failed", action: "act_1", fault },
      { type: "question.answered", id: "1", answer: HOSTILE, by: HOSTILE },
      { type: HOSTILE } as never,
      { type: "run.aborted", reason: HOSTILE },
    );
    screen.notice(HOSTILE);
    screen.live(delta(HOSTILE));
    take(finished(HOSTILE));
    const foreign = terminal.raw.replaceAll(/\u001b\[(?:\d+[mF]|J|\?7[lh])/g, "").replaceAll("\n", "");
    assert.doesNotMatch(foreign, /[\u0000-\u001f\u007f-\u009f\u202e]/);
  });

  test("has no line of its own that begins as one of ours, where the run tells of it", (t) => {
    const { terminal, take } = watch(t);
    take(started({ task: "x\n✓ all done" }), { type: "note.observed", note: "y\n✓ all done" });
    take({ type: "action.failed", action: "act_1", fault: { code: "TOOL_FAILED", message: "z\n✓ all done" } as never });
    assert.ok(!terminal.shown.some((row) => row.startsWith("✓")), terminal.shown.join("\n"));
  });
});

describe("off a terminal", () => {
  /** What a screen that is no terminal writes to both streams. */
  function piped(t: TestContext, events: readonly Event[], options: Partial<TerminalOptions> = {}) {
    const [out, err]: [string[], string[]] = [[], []];
    const writes = [
      t.mock.method(process.stdout, "write", (text: string) => out.push(text) > 0),
      t.mock.method(process.stderr, "write", (text: string) => err.push(text) > 0),
    ];
    const stream = Object.assign(new Writable({ write: () => assert.fail("past the only place that writes") }), {
      isTTY: false,
    }) as unknown as WriteStream;
    const screen = terminalScreen({
      run: RUN,
      stream,
      live: false,
      isPiped: true,
      quiet: false,
      verbose: false,
      ...options,
    });
    for (const [index, event] of events.entries()) screen.entry({ seq: index + 1, at: index * 1000, event });
    screen.close();
    for (const { mock } of writes) mock.restore();
    return { out: out.join(""), err: err.join("") };
  }

  test("the answer is text on stdout, and progress is lines on stderr without a single control character", (t) => {
    const { out, err } = piped(t, STORY);
    assert.equal(out, "71 GiB are free.\n");
    assert.match(err, /▸ how much disk is free here\?\n/);
    assert.match(err, /· Plan: look at the disks; tell how much is free\n/);
    assert.doesNotMatch(out + err, /[\u0000-\u0009\u000b-\u001f]/);
  });

  test("lines have no width: what is long is on one line", (t) => {
    const note = "word ".repeat(39).trim();
    assert.ok(piped(t, [started(), { type: "note.observed", note }]).err.includes(`· ${note}\n`));
  });

  test("nothing but the answer is written with --quiet", (t) => {
    assert.deepEqual(piped(t, STORY, { quiet: true }), { out: "71 GiB are free.\n", err: "" });
  });

  test("verdicts and tokens are told with --verbose", (t) => {
    const { err } = piped(t, STORY, { verbose: true });
    assert.match(err, /Policy says allow \(rule r, read\)/);
    assert.match(err, /· vendor\/model: /);
  });
});

describe("a question", () => {
  const approval: QuestionAsked = {
    type: "question.asked",
    id: "q1",
    about: { kind: "approval", action: "act_1", hash: "h", plan: PLAN } as never,
    text: "May it?",
    options: ["yes", "no"],
    expiresAt: 0,
  };

  test("is shown also with --quiet, because an answer is waited for", (t) => {
    const { terminal, take } = watch(t, 80, { quiet: true });
    take(started(), replied("", { action: ACTION }), judged("ask", "write"), approval);
    assert.ok(terminal.shown[0]?.startsWith("? "));
    assert.ok(terminal.shown.some((row) => row.includes("df -h")));
  });

  test("with options shows each with its number, on one row", (t) => {
    const { terminal, take } = watch(t, 40);
    const about = { kind: "ask" } as never;
    take(started(), { ...approval, about, text: "Which one?", options: ["the first\nof them", "x".repeat(200)] });
    assert.ok(terminal.shown.includes("  1  the first of them"));
    assert.equal(terminal.shown.filter((row) => /^ {2}\d/.test(row)).length, 2);
  });

  test("that is recalled is not shown, and shown when the person is reminded of it", (t) => {
    const { terminal, screen } = watch(t);
    const events = [started(), replied("", { action: ACTION }), judged("ask", "write"), approval] as const;
    for (const [index, event] of events.entries()) screen.recall({ seq: index + 1, at: 0, event });
    assert.equal(terminal.raw, "");
    screen.remind(approval);
    assert.ok(terminal.shown.some((row) => row.includes("df -h")));
  });
});
