import { execFile, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { LoadRequest } from './load.ts';

/**
 * Whether wrk is installed. It uses a tenth of the CPU of a JavaScript client, so that the server is the
 * bottleneck.
 */
export const hasWrk: boolean = spawnSync('wrk', ['-v']).error === undefined;

/** Clients in JavaScript, where there is no wrk: one is slower than the server. */
const CLIENTS = 2;

export interface Load {
  url: string;
  /** URLs on the same server, requested in turn instead of `url`. */
  inTurn?: readonly string[];
  headers: Record<string, string>;
  connections: number;
  seconds: number;
}

/** Result of a load run. */
export interface LoadResult {
  requests: number;
  seconds: number;
}

/** Sends requests one after another on each connection. @throws {Error} when a response is not 2xx. */
export async function sendLoad(load: Load): Promise<LoadResult> {
  const { failed, ...answered } = hasWrk ? await runWrk(load) : await runClients(load);
  if (failed > 0) throw new Error(`${failed} requests to ${load.url} failed`);
  return answered;
}

async function runWrk(load: Load): Promise<LoadResult & { failed: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'marquee-wrk-'));
  try {
    return await runWrkIn(folder, load);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function runWrkIn(
  folder: string,
  { url, inTurn, headers, connections, seconds }: Load,
): Promise<LoadResult & { failed: number }> {
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const args = ['-t1', '--timeout', '30s', `-c${connections}`, `-d${seconds}s`, ...fields];
  if (inTurn !== undefined) {
    const script = join(folder, 'in-turn.lua');
    await writeFile(script, askInTurn(inTurn));
    args.push('-s', script);
  }
  const { stdout } = await promisify(execFile)('wrk', [...args, url]);
  const [, requests, time, unit] = /(\d+) requests in ([\d.]+)(ms|s|m)/.exec(stdout) ?? [];
  if (requests === undefined) throw new Error(`wrk says nothing of requests:\n${stdout}`);
  const refused = /Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0;
  const broken = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(stdout) ?? [];
  const failed = [refused, ...broken.slice(1)].reduce<number>((sum, count) => sum + Number(count), 0);
  const scale = { ms: 0.001, s: 1, m: 60 }[unit ?? 's'] ?? 1;
  return { requests: Number(requests), seconds: Number(time) * scale, failed };
}

function askInTurn(urls: readonly string[]): string {
  const paths = urls.map((url) => JSON.stringify(url.slice(new URL(url).origin.length)));
  return `local paths, asked, turn = {${paths.join(', ')}}, {}, 0
function init() for n, path in ipairs(paths) do asked[n] = wrk.format("GET", path) end end
function request() turn = turn % #asked + 1 return asked[turn] end`;
}

async function runClients(load: Load): Promise<LoadResult & { failed: number }> {
  const results = await Promise.all(Array.from({ length: CLIENTS }, () => runClient(load)));
  const sum = (of: 'requests' | 'failed') => results.reduce((total, result) => total + result[of], 0);
  return {
    requests: sum('requests'),
    failed: sum('failed'),
    seconds: Math.max(...results.map(({ seconds }) => seconds)),
  };
}

async function runClient({ url, inTurn = [], headers, connections, seconds }: Load) {
  const client = fork(join(import.meta.dirname, 'load.ts'));
  const share = Math.ceil(connections / CLIENTS);
  client.send({
    url,
    inTurn: [...inTurn],
    headers: [headers],
    connections: share,
    seconds,
  } satisfies LoadRequest);
  const [result] = (await once(client, 'message')) as [LoadResult & { failed: number }];
  client.disconnect();
  return result;
}
