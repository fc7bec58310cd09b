import { join } from "node:path";

/** The packages of vendors, which the set-up of the tests installs. */
export const PACKAGES = join(import.meta.dirname, "..", "..", "packages", "brain", "vendors");
