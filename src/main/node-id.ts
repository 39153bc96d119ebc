import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '../kernel/ids.ts';

/** A folder that has had no media role may get one. */
const REREAD_MS = 1000;

/** @returns what tells the name of the media role on a folder; null while there was none. */
export function createNodeIdReader(dataDir: string): () => Promise<string | null> {
  let reading: Promise<string | null> | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  let known: string | null = null;
  const read = async () => {
    known = await findNodeId(dataDir);
    return known;
  };
  return () => {
    const isFresh = known !== null || performance.now() - readAt < REREAD_MS;
    if (reading !== null && isFresh) return reading;
    readAt = performance.now();
    reading = read();
    return reading;
  };
}

/** The node keeps its name over restarts: that is how it knows its former connections. */
export async function nodeIdOf(dataDir: string): Promise<string> {
  const held = await findNodeId(dataDir);
  if (held !== null) return held;
  const id = newId('nod');
  await writeFile(fileIn(dataDir), `${id}\n`);
  return id;
}

const fileIn = (dataDir: string) => join(dataDir, 'node-id');

async function findNodeId(dataDir: string): Promise<string | null> {
  const text = await readFile(fileIn(dataDir), 'utf8').catch(() => '');
  return text.trim() === '' ? null : text.trim();
}
