import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { createLogger } from '../../platform/logger.ts';
import { createMember, type MemberProcess } from './member.ts';

interface FakeProcess extends MemberProcess {
  becomeReady(): void;
  end(cause: string): void;
  /** Way in which it was asked to stop. */
  stopped: 'terminate' | 'retire' | null;
}

function fakeProcess(): FakeProcess {
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<string>();
  ready.promise.catch(() => {});
  let isReady = false;
  const fake: FakeProcess = {
    name: 'api-0',
    ready: ready.promise,
    ended: ended.promise,
    stopped: null,
    isReady: () => isReady,
    becomeReady() {
      isReady = true;
      ready.resolve();
    },
    end(cause) {
      isReady = false;
      ready.reject(new Error(cause));
      ended.resolve(cause);
    },
    async stop(how) {
      fake.stopped = how;
      fake.end('exit code 0');
    },
  };
  return fake;
}

function start() {
  const started: FakeProcess[] = [];
  const reasons: string[] = [];
  const member = createMember({
    name: 'api-0',
    log: createLogger('silent'),
    start() {
      const fake = fakeProcess();
      started.push(fake);
      return fake;
    },
    onFatal: (reason) => reasons.push(reason),
  });
  return { member, started, reasons };
}

test('a process that ends is started again', async () => {
  const { member, started, reasons } = start();
  started[0]?.end('SIGKILL');
  const next = await waitFor(() => started[1]);
  next.becomeReady();
  await member.ready;
  assert.equal(member.isReady(), true);
  assert.deepEqual(reasons, []);
});

test('five ends within a minute are fatal', async () => {
  const { started, reasons } = start();
  for (let death = 0; death < 5; death++) {
    const process = await waitFor(() => started[death], { timeoutMs: 10_000 });
    process.end('exit code 7');
  }
  await waitFor(() => reasons.length > 0);
  assert.deepEqual(reasons, ['api-0 ended 5 times within a minute, the last time with exit code 7']);
  assert.equal(started.length, 5);
});

test('a replacement is ready before the present process retires', async () => {
  const { member, started } = start();
  started[0]?.becomeReady();
  const replaced = member.replace();
  const next = await waitFor(() => started[1]);
  assert.equal(started[0]?.stopped, null);
  next.becomeReady();
  await replaced;
  assert.equal(started[0]?.stopped, 'retire');
  assert.equal(next.stopped, null);
  assert.equal(started.length, 2, 'the retired process is not started again');
});

test('a replacement that fails leaves the present process running', async () => {
  const { member, started } = start();
  started[0]?.becomeReady();
  const replaced = member.replace();
  const next = await waitFor(() => started[1]);
  next.end('exit code 1');
  await assert.rejects(replaced, /exit code 1/);
  assert.equal(started[0]?.stopped, null);
  assert.equal(member.isReady(), true);
});

test('stop ends the present process and its replacement, and starts no other', async () => {
  const { member, started } = start();
  started[0]?.becomeReady();
  const replaced = member.replace().catch(() => {});
  await waitFor(() => started[1]);
  await member.stop();
  await replaced;
  assert.deepEqual(
    started.map(({ stopped }) => stopped),
    ['terminate', 'terminate'],
  );
});
