import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { outcomeText } from "@vidro/core";
import type { Hand, JsonObject } from "@vidro/core";
import { localHand, openPolicy } from "@vidro/hands";
import { converse } from "./conversation.fixture.ts";
import type { Told } from "./conversation.fixture.ts";

let folder = "";
let hand: Hand;
let actions = 0;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "vidro-offline-hand-"));
  const [workspace, state] = [join(folder, "work"), join(folder, "state")];
  mkdirSync(join(workspace, "src"), { recursive: true });
  mkdirSync(state);
  writeFileSync(join(workspace, "README.md"), "# Glass\n\nneedle\n");
  writeFileSync(join(workspace, "src", "notes"), "later\n");
  execFileSync("git", ["init", "--quiet", "--initial-branch=trunk"], { cwd: workspace });
  makeProject(join(workspace, "project"));
  hand = await localHand({
    id: "here",
    workspace,
    state,
    policy: openPolicy({ file: join(state, "none.json"), workspace, state }),
  });
});

after(async () => {
  await hand.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A small project with a history, in a repository of its own. */
function makeProject(path: string): void {
  mkdirSync(join(path, "src"), { recursive: true });
  const manifest = {
    name: "glass",
    version: "1.2.0",
    description: "A small server",
    scripts: { start: "node src/server.js", build: "node build.js" },
  };
  writeFileSync(join(path, "package.json"), JSON.stringify({ ...manifest, dependencies: { express: "^5.0.0" } }));
  writeFileSync(join(path, ".gitignore"), "node_modules/\nlogs/\n.env\n");
  writeFileSync(join(path, "src", "server.js"), "// one\n// two\n// three\n");
  writeFileSync(join(path, "app.log"), "fine\nERROR: it burns\nfine\n");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], { cwd: path });
  git("init", "--quiet", "--initial-branch=main");
  git("add", ".");
  git("commit", "--quiet", "-m", "begin");
  git("commit", "--quiet", "--allow-empty", "-m", "go on");
  git("tag", "v1");
  git("remote", "add", "origin", "https://example.org/glass.git");
  writeFileSync(join(path, "src", "server.js"), "// one\n// 2\n// three\n");
  mkdirSync(join(path, "node_modules", "express"), { recursive: true });
  writeFileSync(join(path, "node_modules", "express", "package.json"), JSON.stringify({ version: "5.0.3" }));
  mkdirSync(join(path, "logs"));
  writeFileSync(join(path, "logs", "jobs.log"), "job 1\njob 2 failed\n");
  utimesSync(join(path, "app.log"), 1_000_000_000, 1_000_000_000);
  // A folder with secrets is not searched by programs without a question.
  writeFileSync(join(path, ".env"), "TOKEN=hidden\n");
}

/** Performs an action on the real hand, but only what its policy allows without a person. */
async function perform(tool: string, input: JsonObject, by = hand): Promise<Told> {
  const judgement = await by.judge({ id: "judged", tool, input, callId: "judged" });
  if ("verdict" in judgement) {
    assert.equal(judgement.verdict.decision, "allow", `${tool} ${JSON.stringify(input)}: ${judgement.verdict.reason}`);
  }
  return await outcomeOf(tool, input, by);
}

async function outcomeOf(tool: string, input: JsonObject, by: Hand): Promise<Told> {
  actions += 1;
  const action = { id: `action-${actions}`, tool, input, callId: `call-${actions}` };
  const order = { action, epoch: 1, run: "run", ttlMs: 60_000 };
  for await (const event of by.perform(order, new AbortController().signal)) {
    if (event.type === "finished") return { text: outcomeText(event.outcome), failed: false };
    if (event.type !== "output") return { text: `${event.fault.code}: ${event.fault.message}`, failed: true };
  }
  return assert.fail("the hand never ended");
}

describe("on a real hand with the shipped policy, without a question, the answer is", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["how much disk is free?", /are free on \//],
    ["how much memory is available?", /of memory are available/],
    ["how many cpus are there?", /^\d+ processors?/],
    ["which processes use most cpu?", /^The processes that use most CPU, of \d+ in all:\n- \d/],
    ["is node running?", /^\d+ process(es)? match(es)? “node”:\n- \d/],
    ["há quanto tempo a máquina está ligada?", /^A máquina está ligada há \d+ /],
    ["what is the load average?", /^Load: \d.* over 1 minute/],
    ["which operating system is this?", / runs .*kernel Linux /],
    ["¿cuál es mi dirección IP?", /^Direcciones de red:\n- /],
    ["which ports are open?", /TCP port/],
    ["what are the largest files here?", /largest files in \.\/:\n- \d/],
    ["find files named *.md", /^1 path found \(\*\.md\):\n- README\.md$/],
    ['procure por "needle"', /^1 linha contém “needle”:\n- README\.md:3:needle$/],
    ["read README.md", /^README\.md \(3 lines read\):\n {4}│ # Glass/],
    ["leia o README", /^README\.md \(3 linhas lidas\):/],
    ["view src/notes", /^src\/notes \(1 line read\):\n {4}│ later$/],
    ["list src/", /^src\/ has 1 entry:\n.*notes$/],
    ["read missing", /^(I did not understand|Not done: `read_file missing`\. It is not there)/],
    ["lista los archivos", /^\.\/ tiene 4 entradas:\n.*README\.md/s],
    [
      "is the repository clean?",
      /^On branch trunk\. 3 paths have changed:\n {4}│ \?\? README\.md\n {4}│ \?\? project\/\n {4}│ \?\? src\/$/,
    ],
    ["o que mudou no git?", /^No branch trunk\. 3 caminhos mudaram:/],
    ["show the last commits", /^The repository has no commits yet\.$/],
    ["what time is it?", /^It is \w+, \d{4}-\d{2}-\d{2}, \d{2}:\d{2}:\d{2} \(\S+\) on this machine\.$/],
    ["who am I?", /^The hand works as \S+ \(uid \d+/],
    ["who is logged in?", /^(No user is logged in|Logged in: )/],
    ["em que pasta estou?", /^A pasta de trabalho é \/.*\/work\.$/],
    ["read missing.txt", /^Not done: `read_file missing\.txt`\. It is not there\.$/],
  ];
  for (const [task, answer] of cases) {
    it(`right for: ${task}`, async () => {
      const conversation = await converse(task, (tool, input) => perform(tool, input), {
        tools: hand.tools,
      });
      assert.match(conversation.answer, answer);
    });
  }
});

describe("in a project, on a real hand with the shipped policy, without a question, the answer is", () => {
  let projectHand: Hand;
  before(async () => {
    const [workspace, state] = [join(folder, "work", "project"), join(folder, "project-state")];
    mkdirSync(state);
    const policy = openPolicy({ file: join(state, "none.json"), workspace, state });
    projectHand = await localHand({ id: "project", workspace, state, policy });
  });
  after(() => projectHand.close());

  const cases: readonly (readonly [string, RegExp])[] = [
    ["how many inodes are left?", /inodes are free on \//],
    ["¿hay swap?", /^(No hay swap\.|Swap: .* en uso\.)$/],
    ["quantos processos estão rodando?", /^\d+ processos estão em execução\.$/],
    ["is nosuchprogramme running?", /^No process matches “nosuchprogramme”\.$/],
    ["what is the default gateway?", /^(The default gateway is |There is no default gateway|Not done: `ip route`)/],
    ["quais servidores dns são usados?", /^(Servidores de nomes: |Nenhum servidor de nomes)/],
    ["which kernel is this?", /^The kernel is Linux /],
    ["¿cómo se llama esta máquina?", /^Esta máquina se llama \S+\.$/],
    ["which user accounts exist?", /^\d+ accounts?; these can log in: .*root/],
    ["what is HOME set to?", /^HOME is \/|^HOME is not set/],
    ["are there errors in app.log?", /^1 line with an error \(app\.log\):\n {4}│ 2:ERROR: it burns$/],
    ["os 2 maiores arquivos", /^Os 2 maiores arquivos em \.\/:\n- .*\n- .*$/],
    ["size of src/", /^src\/ takes \d/],
    ["when was app.log last modified?", /^app\.log: a file, \d+ B, changed \d{4}-\d{2}-\d{2} .* permissions -rw/],
    ["files modified in the last 2 days", /^\d paths found \(changed within 2 days\):/],
    ["last line of app.log", /^The last line of app\.log:\n {4}│ fine$/],
    ["linha 2 de app.log", /^Linha 2 de app\.log:\n {4}│ ERROR: it burns$/],
    ["how many lines does src/server.js have?", /^src\/server\.js has 3 lines\.$/],
    ["cuántos archivos hay en src", /^1 archivo en src\.$/],
    ["how many commits are there?", /^The repository has 2 commits\.$/],
    ["últimos 2 commits", /^Os últimos 2 commits|^Los últimos 2 commits/],
    ["qué cambió en src/server.js", /│ -\/\/ two\n {4}│ \+\/\/ 2/],
    ["show the last commit", /go on/],
    ["who wrote line 1 of src/server.js", /^Line 1 of src\/server\.js was last changed by Ada on /],
    ["quem fez o último commit?", /^O último commit é [0-9a-f]+, de Ada, em .*: go on$/],
    ["who works on this repository?", /^1 author by number of commits:\n- Ada: 2$/],
    ["what is the git remote?", /^Remotes:\n- origin: https:\/\/example\.org\/glass\.git$/],
    ["is there anything in the stash?", /^The stash is empty\.$/],
    ["list the tags", /^1 tag:\n- v1$/],
    ["list the branches", /^1 branch, \* is the current one:\n {4}│ \* main$/],
    ["what is this project?", /^Node\.js project called glass 1\.2\.0\.\nA small server$/],
    ["em que linguagem está o código?", /^Por número de arquivos: JavaScript \(1\)\.$/],
    ["¿cuáles son las dependencias?", /^1 dependencia en package\.json:\n- express \^5\.0\.0$/],
    ["how do I start this project?", /^It is started with `npm start`\./],
    ["which version of git is installed?", /^git: git version /],
    [
      "which version of express do we use?",
      /^package\.json names express \^5\.0\.0\. Version 5\.0\.3 is installed in node_modules\.$/,
    ],
    ["o express está instalado?", /^package\.json nomeia express \^5\.0\.0\. A versão 5\.0\.3 está instalada/],
    ["¿el proyecto usa express?", /^Sí: package\.json nombra express \^5\.0\.0\./],
    ["which version of nosuchprogramme is installed?", /^nosuchprogramme is not installed here\.$/],
    ["which npm packages are installed?", /^1 dependency in package\.json:/],
    ["how are the tests run here?", /^The tests are run with `npm test`\.$/],
    ["¿cómo se ejecutan las pruebas?", /^Los tests se ejecutan con `npm test`\.$/],
    ["como faço pra rodar os testes?", /^Os testes são executados com `npm test`\.$/],
    ["how do I build this?", /^It is built with `npm run build`\./],
    [
      "mostra o log do projeto",
      /^As últimas 2 linhas \(logs\/jobs\.log\):\n.*\n {4}│ job 2 failed\nOutros logs aqui: app\.log\.$/,
    ],
    ["any errors in the app's log?", /^2 lines with an error \(logs\/jobs\.log, app\.log\):/],
    ["search for TOKEN", /^No line holds “TOKEN”\.$/],
    ['search for "JOB 2" in logs/jobs.log', /^1 line holds “JOB 2”:\n- logs\/jobs\.log:2:job 2 failed$/],
    ["how many lines of code are in this project?", /^\d+ lines in \d+ text files in \.\/\.$/],
    ["show the first commit", /begin/],
    ["show the commit before the last one", /begin/],
    ["what did Ada commit?", /^The last 2 commits, newest first:/],
    ["is there a readme here?", /^1 path found \(readme\):\n- README\.md$|^No path found/],
    ["which files changed today?", /^\d+ paths found \(changed within 1 day\):\n(?!.*node_modules)/s],
    ["what happened in git this week?", /^The last 2 commits, newest first \(changed within 7 days\):/],
    ["hubo avisos o errores en app.log", /^1 línea con un error o un aviso \(app\.log\):/],
    ["how many lines of javascript are in src?", /^3 lines in 1 text file in \*\.js · src\.$/],
    ["is there a branch called nosuch/branch?", /^There is no branch nosuch\/branch\. 1 branch/],
    ["is python installed?", /^python3? is installed: \/\S+\/python3?( \(Python 3\S*\))?$/],
    ["dime la hora y la fecha", /^Son las [^\n]*$/],
    ["compare my working copy with HEAD~1", /^ {4}│ diff --git /],
    ["is nosuchprogramme installed?", /^nosuchprogramme is not installed here\.$/],
    ["quais serviços estão rodando?", /^(\d+ serviços?:|Nenhum serviço|Esta máquina não usa systemd)/],
    ["qué tareas programadas hay", /^(Tareas programadas:|No encuentro tareas)/],
    ["is there a graphics card?", /^(Graphics: |There is a graphics device|No graphics card)/],
    ["git log --oneline -1", /^`git log --oneline -1` ended with exit code 0\.\n {4}│ [0-9a-f]+ go on$/],
    ["how many commits are there, and which branch am I on?", /^The repository has 2 commits\.\nOn branch main\.$/],
  ];
  for (const [task, answer] of cases) {
    it(`right for: ${task}`, async () => {
      const { answer: said } = await converse(task, (tool, input) => perform(tool, input, projectHand), {
        tools: projectHand.tools,
      });
      assert.match(said, answer);
    });
  }
});

describe("what changes something is one command that the shipped policy asks about:", () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["make a folder called reports", ["mkdir", "--", "reports"]],
    ["renomeie README.md para LEIAME.md", ["mv", "-n", "--", "README.md", "LEIAME.md"]],
    ["borra el archivo README.md", ["rm", "--", "README.md"]],
    ["kill process 4711", ["kill", "4711"]],
    ["reinicie o serviço cron", ["systemctl", "restart", "--", "cron"]],
    ['commit everything with the message "wip"', ["git", "commit", "-a", "-m", "wip"]],
  ];
  for (const [task, argv] of cases) {
    it(task, async () => {
      const asked: (readonly [string, JsonObject])[] = [];
      const refuse = async (tool: string, input: JsonObject): Promise<Told> => {
        const judgement = await hand.judge({ id: "judged", tool, input, callId: "judged" });
        if ("verdict" in judgement) assert.equal(judgement.verdict.decision, "ask");
        asked.push([tool, input]);
        return { text: "APPROVAL_DENIED: A person said no.", failed: true };
      };
      const { answer } = await converse(task, refuse, { tools: hand.tools });
      assert.deepEqual(asked, [["command", { command: argv[0], args: argv.slice(1) }]]);
      assert.match(answer, /A person said no\.|Uma pessoa disse não\.|Una persona dijo que no\./);
    });
  }
});
