import type { Values } from './cli-values.ts';

/** Result of a command: for programs (`--json`) and for people. */
export interface Result {
  data: unknown;
  text: string;
  /** Whether the command succeeded but found a problem: it exits with status 1. */
  isBad?: true;
}

/** A command as it is known before anything is built: the usage needs no database. */
export interface CommandDefinition {
  /** `<noun> <verb>`. */
  name: string;
  /** The name, and its options. */
  usage: string;
  /** Options with a text value, in addition to those of every command. */
  options?: readonly string[];
}

/** Implementation of a command. */
export interface CommandRunner {
  command: CommandDefinition;
  run(values: Values): Promise<Result>;
}
