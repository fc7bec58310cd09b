// npm run pictures: takes the pictures of the README anew: the console by its browser test, the terminal by a recording.
import { copyFileSync, mkdirSync, statSync } from "node:fs";
import { NODE, NODE_FLAGS, ROOT, installPeers, run, setUp } from "./setup.js";

/** Pictures of the console that the README shows, by their names in docs/images. */
const SHOWN = { "run.png": "run-1280-light", "phone.png": "waiting-390-light" };
const MOST_BYTES = 200_000;

setUp();
installPeers("tests");
run(NODE, [...NODE_FLAGS, "--test", `${ROOT}tests/console/pictures.test.ts`]);
mkdirSync(`${ROOT}docs/images`, { recursive: true });
for (const [name, picture] of Object.entries(SHOWN)) {
  const path = `${ROOT}.cache/pictures/${picture}.png`;
  if (statSync(path).size > MOST_BYTES) throw new Error(`${picture} has more than ${MOST_BYTES} bytes.`);
  copyFileSync(path, `${ROOT}docs/images/${name}`);
}
run(NODE, [...NODE_FLAGS, `${ROOT}scripts/recording/main.ts`]);
