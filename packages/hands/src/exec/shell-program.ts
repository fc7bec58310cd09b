import { existsSync } from "node:fs";

/** The shell of this host. Models write for bash; hosts without it use the POSIX shell. */
export const SHELL = existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";
