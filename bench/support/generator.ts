import { execFile, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { LoadRequest } from './load.ts';

/** wrk takes a tenth of what a client in JavaScript does, so the server is what it measures. */
export const hasWrk: boolean = spawnSync('wrk', ['-v']).error === undefined;

/** Clients in JavaScript, where there is no wrk: one is slower than the server. */
const CLIENTS = 2;

export interface Load {
  url: string;
  headers: Record<string, string>;
  connections: number;
  seconds: number;
}

/** What was answered. */
export interface Answered {
  requests: number;
  seconds: number;
}

/** Sends one request after the other on each connection. @throws {Error} when one is not answered by 2xx. */
export async function sendLoad(load: Load): Promise<Answered> {
  const { failed, ...answered } = hasWrk ? await runWrk(load) : await runClients(load);
  if (failed > 0) throw new Error(`${failed} requests to ${load.url} failed`);
  return answered;
}

async function runWrk({ url, headers, connections, seconds }: Load): Promise<Answered & { failed: number }> {
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const args = ['-t1', '--timeout', '30s', `-c${connections}`, `-d${seconds}s`, ...fields, url];
  const { stdout } = await promisify(execFile)('wrk', args);
  const [, requests, time, unit] = /(\d+) requests in ([\d.]+)(ms|s|m)/.exec(stdout) ?? [];
  if (requests === undefined) throw new Error(`wrk says nothing of requests:\n${stdout}`);
  const refused = /Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0;
  const broken = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(stdout) ?? [];
  const failed = [refused, ...broken.slice(1)].reduce<number>((sum, count) => sum + Number(count), 0);
  const scale = { ms: 0.001, s: 1, m: 60 }[unit ?? 's'] ?? 1;
  return { requests: Number(requests), seconds: Number(time) * scale, failed };
}

async function runClients(load: Load): Promise<Answered & { failed: number }> {
  const results = await Promise.all(Array.from({ length: CLIENTS }, () => runClient(load)));
  const sum = (of: 'requests' | 'failed') => results.reduce((total, result) => total + result[of], 0);
  return {
    requests: sum('requests'),
    failed: sum('failed'),
    seconds: Math.max(...results.map(({ seconds }) => seconds)),
  };
}

async function runClient({ url, headers, connections, seconds }: Load) {
  const client = fork(join(import.meta.dirname, 'load.ts'));
  const share = Math.ceil(connections / CLIENTS);
  client.send({ url, headers: [headers], connections: share, seconds } satisfies LoadRequest);
  const [result] = (await once(client, 'message')) as [Answered & { failed: number }];
  client.disconnect();
  return result;
}
