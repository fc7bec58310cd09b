/** Exit codes that do not come from the table of faults. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  /** Ctrl-C, or the run was aborted. */
  aborted: 130,
  /** The reader of stdout closed it: 128 + SIGPIPE. */
  readerGone: 141,
  /** 128 + SIGTERM. */
  terminated: 143,
  /** 128 + SIGHUP. */
  hungUp: 129,
} as const;
