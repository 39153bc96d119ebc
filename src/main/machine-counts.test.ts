import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newAddress } from '../../test/auth/fixture.ts';
import { startCountingChild } from '../../test/counts/child.ts';
import { SECRET_KEY, startTestApp, type TestApp } from '../../test/harness/app.ts';
import { TestClock } from '../../test/harness/clock.ts';
import { openTail, type TailClient } from '../../test/harness/tail.ts';
import { waitFor } from '../../test/harness/wait-for.ts';
import { loadConfig } from '../platform/config.ts';
import { createLogger } from '../platform/logger.ts';
import { type MachineCounts, openMachineCounts } from './machine-counts.ts';

const NODE = join(import.meta.dirname, '../../test/harness/node-main.ts');

const clock = new TestClock('2026-11-20T12:00:00Z');
/** Owns the database. */
let base: TestApp;

before(async () => {
  base = await startTestApp({ clock });
});
after(() => base.close());

/** Processes of one machine; this process is the first one. */
interface Tree {
  counts: MachineCounts;
  children: ChildProcess[];
  urls: string[];
  /** Kills a child. */
  kill(index: number): Promise<void>;
  /** Ends the children and then the counts. */
  stop(): Promise<void>;
}

async function openCounts(): Promise<MachineCounts> {
  const counts = await openMachineCounts({
    config: loadConfig({}),
    databaseUrl: base.databaseUrl,
    secretKey: SECRET_KEY,
    clock,
    log: createLogger('silent'),
  });
  assert.ok(counts !== null);
  return counts;
}

async function startTree(processes: number): Promise<Tree> {
  const counts = await openCounts();
  const args = [base.databaseUrl, base.container.config.DATA_DIR, '', String(clock.ms()), 'tree'];
  const children = Array.from({ length: processes }, () =>
    fork(NODE, args, { execArgv: ['--disable-warning=ExperimentalWarning'] }),
  );
  for (const child of children) counts.attach(child);
  const ports = await Promise.all(children.map(portOf));
  const end = async (child: ChildProcess | undefined, signal: NodeJS.Signals) => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  return {
    counts,
    children,
    urls: ports.map((port) => `http://127.0.0.1:${port}/api/v1`),
    kill: (index) => end(children[index], 'SIGKILL'),
    async stop() {
      await Promise.all(children.map((child) => end(child, 'SIGTERM')));
      await counts.close();
    },
  };
}

function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.on('message', (message) => {
      if (typeof message === 'number') resolve(message);
    });
  });
}

async function get(url: string, key: string): Promise<{ status: number; left: number }> {
  const response = await fetch(`${url}/streams`, { headers: { 'x-api-key': key } });
  await response.text();
  return { status: response.status, left: Number(response.headers.get('x-ratelimit-daily-remaining')) };
}

test('a daily quota is exact over the processes, and survives a killed process and a restart', async () => {
  const { key } = await base.createKey({ dailyQuota: 12 });
  const first = await startTree(2);
  try {
    const [one = '', two = ''] = first.urls;
    const answers = await Promise.all([one, two, one, two, one, two, one, two].map((url) => get(url, key)));
    assert.deepEqual(
      answers.map(({ left }) => left).sort((a, b) => a - b),
      [4, 5, 6, 7, 8, 9, 10, 11],
    );
    await first.kill(0);
    assert.equal((await get(two, key)).left, 3);
  } finally {
    await first.stop();
  }
  const second = await startTree(1);
  try {
    const [url = ''] = second.urls;
    for (const left of [2, 1, 0]) assert.deepEqual(await get(url, key), { status: 200, left });
    assert.equal((await get(url, key)).status, 429);
  } finally {
    await second.stop();
  }
});

test('guesses of a password and event streams are limited over the processes', async () => {
  const { key, account } = await base.createKey();
  const created = await base.request('POST', '/streams', { key, body: { title: 'Tails' } });
  const path = `/streams/${created.assertOk(201).at('data.id')}/status/tail`;
  const tails: TailClient[] = [];
  const tree = await startTree(2);
  const urlOf = (index: number) => tree.urls[index % 2] ?? '';
  const signIn = async (index: number) => {
    const response = await fetch(`${urlOf(index)}/auth/login`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-api-key': key,
        'x-forwarded-for': newAddress(),
      },
      body: JSON.stringify({ email: account.email, password: 'a wrong password' }),
    });
    await response.text();
    return response.status;
  };
  const tail = async (index: number) => {
    const opened = await openTail(urlOf(index) + path, { key });
    tails.push(opened);
    return opened.response.status;
  };
  try {
    for (let n = 0; n < 10; n++) assert.equal(await signIn(n), 401);
    assert.equal(await signIn(0), 401, 'one attempt in 30 seconds passes');
    for (let n = 0; n < 2; n++) assert.equal(await signIn(n), 429);

    for (let n = 0; n < 25; n++) assert.equal(await tail(n), 200);
    for (let n = 0; n < 2; n++) assert.equal(await tail(n), 429);
    // It holds the 13 streams with an even number.
    await tree.kill(0);
    for (let n = 0; n < 13; n++) assert.equal(await tail(1), 200);
    assert.equal(await tail(1), 429);
  } finally {
    await Promise.all(tails.map((one) => one.close()));
    await tree.stop();
  }
});

test('a killed tree loses only the hits that were not stored yet', async (t) => {
  const start = async () => {
    const counts = await openCounts();
    t.after(() => counts.close());
    const child = await startCountingChild(counts.attach);
    t.after(() => child.kill());
    return child;
  };
  const killed = await start();
  assert.deepEqual(await killed.hit('key', 5), [1, 2, 3, 4, 5]);
  const isStored = async () => {
    const rows = await base.container.sql`select 1 from counter_window where name = 'test' and hits = 5`;
    return rows.length === 1;
  };
  await waitFor(isStored, { timeoutMs: 15_000, message: 'the first process stores counts every 10 seconds' });
  await killed.hit('key', 3);
  await killed.kill();
  // The counts of the killed tree are not closed.
  const next = await start();
  const [count = 0] = await next.hit('key', 1);
  assert.ok(count >= 6 && count <= 9, `${count} hits after 5 stored ones, 3 others and this one`);
});

test('Redis replaces the counts of the first process', async () => {
  const counts = await openMachineCounts({
    config: loadConfig({ REDIS_URL: 'redis://127.0.0.1:6379' }),
    databaseUrl: base.databaseUrl,
    secretKey: SECRET_KEY,
    clock,
    log: createLogger('silent'),
  });
  assert.equal(counts, null);
});
