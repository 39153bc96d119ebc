import { execFile } from 'node:child_process';
import { link, mkdir, rm, symlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { pino } from 'pino';
import type { Logger } from '../../src/platform/logger.ts';

const run = promisify(execFile);

/**
 * Outputs that a compromised program may leave at the path of its file. @param secret a file that it may not
 * read.
 */
export const MALICIOUS_OUTPUTS = {
  'a link': (path: string, secret: string) => symlink(secret, path),
  'a hard link': (path: string, secret: string) => link(secret, path),
  'a pipe': (path: string) => run('mkfifo', [path]),
  'a folder': (path: string) => mkdir(path),
} as const;

export type MaliciousOutput = keyof typeof MALICIOUS_OUTPUTS;
export const KINDS: readonly MaliciousOutput[] = ['a link', 'a hard link', 'a pipe', 'a folder'];

/** Replaces the file by a malicious output. */
export async function plantOutput(kind: MaliciousOutput, path: string, secret: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
  await MALICIOUS_OUTPUTS[kind](path, secret);
}

/** Returns a log that collects its errors, one message each. */
export function errorLog(): { log: Logger; errors: string[] } {
  const errors: string[] = [];
  const write = (line: string) => void errors.push(String(JSON.parse(line).msg));
  return { log: pino({ level: 'error' }, { write }), errors };
}
