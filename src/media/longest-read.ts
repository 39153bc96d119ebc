/** The longest uninterrupted read of untrusted input in this process, and whose input it was. */
export interface LongestRead {
  /** Names the publish, bridge or connection. */
  reader: string;
  ms: number;
}

let longest: LongestRead | null = null;

/**
 * Records a finished read. @param reader names the source of its input; called only for the longest read
 * until now.
 */
export function recordRead(reader: () => string, ms: number): void {
  if (longest === null || ms > longest.ms) longest = { reader: reader(), ms };
}

/** Runs `read` and records how long it took. */
export function timeRead<T>(reader: () => string, read: () => T): T {
  const startedMs = performance.now();
  try {
    return read();
  } finally {
    recordRead(reader, performance.now() - startedMs);
  }
}

/** Returns the longest read since the last call, null without any. */
export function takeLongestRead(): LongestRead | null {
  const taken = longest;
  longest = null;
  return taken;
}
