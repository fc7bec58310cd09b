// Installs the programs of others that the named folders use, each when it is missing; for set-ups that run at once.
import { installPeers } from "./setup.js";

process.argv.slice(2).forEach(installPeers);
