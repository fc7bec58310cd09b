import { readFileSync, writeFileSync } from "node:fs";
import { ROOT } from "../setup.js";
import { learnWeights } from "./learn.ts";
import { readPhrases } from "./phrases.ts";
import { trainedFile } from "./trained.ts";

const PATH = "packages/brain/src/models/offline/trained.json";

const phrases = readPhrases();
const text = trainedFile(learnWeights(phrases), phrases);
if (!process.argv.includes("--check")) {
  writeFileSync(ROOT + PATH, text);
  process.stdout.write(`train: ${PATH} from ${phrases.length} phrases, ${Math.round(text.length / 1024)} KiB\n`);
} else if (readFileSync(ROOT + PATH, "utf8") !== text) {
  process.stderr.write(`train: ${PATH} is older than its phrases; make it anew: npm run train\n`);
  process.exitCode = 1;
}
