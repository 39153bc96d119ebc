import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../platform/config.ts';

/** Folder of the media processes after the first one, below DATA_DIR. */
const NODES = 'nodes';

/** One of the media processes of this machine, each of which is a media node. */
export interface MediaProcessPosition {
  /** Number from 0. */
  index: number;
  /** Number of media processes. */
  count: number;
  nodeId: string;
  /** Node IDs of all processes, in their order. */
  nodeIds: readonly string[];
}

/** Returns the data folder of a media process: the first one keeps its files directly in DATA_DIR. */
export function nodeFolderOf(dataDir: string, index: number): string {
  return index === 0 ? dataDir : join(dataDir, NODES, String(index));
}

/** Lists the numbers of the media processes that have a data folder, including former ones. */
export async function listNodeFolders(dataDir: string): Promise<number[]> {
  const names = await readdir(join(dataDir, NODES)).catch(() => []);
  return [0, ...names.filter((name) => /^[1-9]\d{0,2}$/.test(name)).map(Number)];
}

/** Returns the port of a media process for other nodes; 0 uses a free one. */
export function nodePortOf({ MEDIA_PORT: port }: Pick<Config, 'MEDIA_PORT'>, index: number): number {
  return port === 0 ? 0 : port + index;
}

/** Returns the URL of a media process for other nodes. @param port that it listens on. */
export function nodeUrlOf(
  { MEDIA_HOST: host, MEDIA_URL: first }: Pick<Config, 'MEDIA_HOST' | 'MEDIA_URL'>,
  { index, port }: { index: number; port: number },
): string {
  if (first === undefined) return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (index === 0) return first;
  const url = new URL(first);
  const firstPort = url.port === '' ? DEFAULT_PORTS[url.protocol] : url.port;
  url.port = String(Number(firstPort) + index);
  return url.href.replace(/\/$/, '');
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
