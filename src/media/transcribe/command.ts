/** Placeholders in a command for the audio file, the spoken language and the output file. */
export const INPUT = '{input}';
const LANGUAGE = '{language}';
const OUTPUT = '{output}';
/** The engine finds out by itself. */
const ANY_LANGUAGE = 'auto';

/**
 * Splits a command into words by spaces and quotes, without any other feature of a shell.
 *
 * @throws {Error} whose message describes the problem.
 */
export function splitCommand(command: string): string[] {
  const words: string[] = [];
  const pattern = /\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))(?=\s|$)|\s*$/gy;
  while (pattern.lastIndex < command.length) {
    const match = pattern.exec(command);
    if (match === null) throw new Error('has an unclosed quote');
    const word = match[1] ?? match[2] ?? match[3];
    if (word !== undefined) words.push(word);
  }
  if (!words.some((word) => word.includes(INPUT)))
    throw new Error(`must contain ${INPUT}, the path of the audio`);
  return words;
}

/** @returns the program and its arguments. */
export function fillCommand(
  words: readonly string[],
  values: { input: string; output: string; language: string | null },
): [program: string, ...args: string[]] {
  const [program = '', ...args] = words.map((word) =>
    word
      .replaceAll(INPUT, values.input)
      .replaceAll(OUTPUT, values.output)
      .replaceAll(LANGUAGE, values.language ?? ANY_LANGUAGE),
  );
  return [program, ...args];
}
