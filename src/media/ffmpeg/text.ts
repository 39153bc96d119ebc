/** Reads program output within limits: a compromised program may print endlessly. */

/** A line of a program has no use for more. */
export const MAX_LINE_CHARS = 16_384;

/**
 * Emits complete lines of text that arrives in chunks, cut at `MAX_LINE_CHARS`; an unterminated line is
 * dropped.
 */
export function lineReader(onLine: (line: string) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    const lines = text.split('\n');
    lines[0] = rest + (lines[0] ?? '');
    rest = (lines.pop() ?? '').slice(0, MAX_LINE_CHARS);
    for (const line of lines) onLine(line.slice(0, MAX_LINE_CHARS));
  };
}

/** A report that is short or of no use: `isTooLong` is raised when it has more than `maxChars`. */
export interface ReportReader {
  onOutput(text: string): void;
  /** Aborts when the text exceeds the limit. */
  readonly isTooLong: AbortSignal;
  text(): string;
}

export function reportReader(maxChars: number): ReportReader {
  const tooLong = new AbortController();
  let text = '';
  return {
    onOutput(more) {
      if (text.length + more.length > maxChars) tooLong.abort();
      else text += more;
    },
    isTooLong: tooLong.signal,
    text: () => text,
  };
}
