import { readFileSync, writeFileSync } from "node:fs";
import { ROOT } from "../setup.js";
import { learnWeights } from "./learn.ts";
import { readPhrases } from "./phrases.ts";
import { languagesFile, trainedFile } from "./trained.ts";

const FOLDER = "packages/brain/src/models/offline/";

const phrases = readPhrases();
const learnt = learnWeights(phrases);
const files = { "trained.json": trainedFile(learnt, phrases), "trained-languages.json": languagesFile(learnt) };
for (const [name, text] of Object.entries(files)) {
  const path = FOLDER + name;
  if (!process.argv.includes("--check")) {
    writeFileSync(ROOT + path, text);
    process.stdout.write(`train: ${path} from ${phrases.length} phrases, ${Math.round(text.length / 1024)} KiB\n`);
  } else if (readFileSync(ROOT + path, "utf8") !== text) {
    process.stderr.write(`train: ${path} is older than its phrases; make it anew: npm run train\n`);
    process.exitCode = 1;
  }
}
