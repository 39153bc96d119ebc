import type { Values } from './cli-values.ts';

/** What a command answers: for programs (`--json`) and for people. */
export interface Result {
  data: unknown;
  text: string;
  /** The command did its work and found what is wrong: it ends with status 1. */
  isBad?: true;
}

/** A command as it is known before anything is built: the usage needs no database. */
export interface CommandDefinition {
  /** `<noun> <verb>`. */
  name: string;
  /** The name, and its options. */
  usage: string;
  /** Options with a text, beside those that every command knows. */
  options?: readonly string[];
}

/** Who does a command. */
export interface CommandRunner {
  command: CommandDefinition;
  run(values: Values): Promise<Result>;
}
