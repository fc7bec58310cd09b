/** Bytes. */
export const KIB = 1024;
/** Bytes. */
export const MIB = 1024 * KIB;
/** Milliseconds. */
export const SECOND_MS = 1000;
/** Milliseconds. */
export const MINUTE_MS = 60 * SECOND_MS;
/** Milliseconds. */
export const HOUR_MS = 60 * MINUTE_MS;
/** Milliseconds. */
export const DAY_MS = 24 * HOUR_MS;
/** Milliseconds. The longest delay that setTimeout takes; a longer one fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
