import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Connection data for local processes to reach the Janus that the media role runs. */
export interface JanusLink {
  /** Port of its WebSocket on 127.0.0.1. */
  port: number;
  /** API secret, part of every request. */
  secret: string;
  /** Admin key, part of every request that creates a room. */
  adminKey: string;
  /** Working folder of Janus; contains its output. */
  folder: string;
  pid: number;
}

/** Writes the file atomically, readable only by the platform's user. */
export async function writeLink(path: string, link: JanusLink): Promise<void> {
  const fresh = `${path}.new`;
  await mkdir(dirname(path), { recursive: true });
  await rm(fresh, { force: true });
  const file = await open(fresh, 'wx', 0o600);
  try {
    await file.writeFile(JSON.stringify(link));
  } finally {
    await file.close();
  }
  await rename(fresh, path);
}

/** @returns null when there is no file, as while Janus does not run. */
export async function readLink(path: string): Promise<JanusLink | null> {
  const text = await readFile(path, 'utf8').catch(() => null);
  return text === null ? null : parse(text);
}

function parse(text: string): JanusLink | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { port, secret, adminKey, folder, pid } = { ...NOTHING, ...value };
  if (typeof port !== 'number' || typeof pid !== 'number') return null;
  if (typeof secret !== 'string' || typeof adminKey !== 'string' || typeof folder !== 'string') return null;
  return { port, secret, adminKey, folder, pid };
}

const NOTHING = { port: null, secret: null, adminKey: null, folder: null, pid: null };
