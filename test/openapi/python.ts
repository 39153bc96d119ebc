import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const PEERS = join(import.meta.dirname, '../../.cache/peers');

/** Returns the reason why a Python tool cannot be run; null if it can. */
export function pythonPeerUnavailableReason(peer: string): string | null {
  if (existsSync(join(PEERS, peer))) return null;
  return `${peer} is not there; with Python installed type: node scripts/test-tools.mjs ${peer}`;
}

export interface Outcome {
  failed: boolean;
  text: string;
}

/** Runs Python with a peer's packages. */
export async function python(peer: string, args: string[], cwd: string): Promise<Outcome> {
  const env = { ...process.env, PYTHONPATH: join(PEERS, peer), NO_COLOR: '1' };
  const options = { cwd, env, maxBuffer: 1e8 };
  try {
    const { stdout, stderr } = await promisify(execFile)('python3', args, options);
    return { failed: false, text: stdout + stderr };
  } catch (error) {
    const { stdout, stderr } = { stdout: '', stderr: String(error), ...Object(error) };
    return { failed: true, text: `${stdout}${stderr}` };
  }
}
