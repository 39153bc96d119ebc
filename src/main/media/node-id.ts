import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '../../kernel/ids.ts';
import { listNodeFolders, nodeFolderOf } from './node.ts';

/** Pause between two searches for a node that is not on this machine: one may be added. */
const REREAD_MS = 1000;

/** Returns a function that finds the data folder of a media node; null when it is not below `dataDir`. */
export function createNodeFolders(dataDir: string): (nodeId: string) => Promise<string | null> {
  let folders: Promise<ReadonlyMap<string, string>> | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  return async (nodeId) => {
    const found = (await folders)?.get(nodeId);
    if (found !== undefined) return found;
    if (folders === null || performance.now() - readAt >= REREAD_MS) {
      readAt = performance.now();
      folders = readFolders(dataDir);
    }
    return (await folders).get(nodeId) ?? null;
  };
}

async function readFolders(dataDir: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const index of await listNodeFolders(dataDir)) {
    const folder = nodeFolderOf(dataDir, index);
    const nodeId = await findNodeId(folder);
    if (nodeId !== null) found.set(nodeId, folder);
  }
  return found;
}

/** Returns the node ID of a data folder, which stays the same over restarts; creates it when it is missing. */
export async function nodeIdOf(folder: string): Promise<string> {
  const existing = await findNodeId(folder);
  if (existing !== null) return existing;
  const id = newId('nod');
  await mkdir(folder, { recursive: true });
  await writeFile(fileIn(folder), `${id}\n`);
  return id;
}

const fileIn = (folder: string) => join(folder, 'node-id');

export async function findNodeId(folder: string): Promise<string | null> {
  const text = await readFile(fileIn(folder), 'utf8').catch(() => '');
  return text.trim() === '' ? null : text.trim();
}
