/** The exit codes that no fault of the table gives; the others are the `exit` of their fault. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  /** Ctrl-C, or the run was aborted. */
  aborted: 130,
  /** Whoever read stdout went away: 128 + SIGPIPE. */
  readerGone: 141,
  /** 128 + SIGTERM. */
  terminated: 143,
  /** 128 + SIGHUP. */
  hungUp: 129,
} as const;
