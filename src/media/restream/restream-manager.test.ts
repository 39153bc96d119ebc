import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { wanted } from '../../../test/restream/broadcast.ts';
import { createLogger } from '../../platform/logger.ts';
import type { DesiredPush, PushReport } from '../contract/index.ts';
import { createRestreamManager, type SenderEvents } from './restream-manager.ts';
import type { VerifiedPush } from './verified-keys.ts';

/** Process that records its instructions, and exits on request of the test. */
interface Launched {
  told: VerifiedPush[];
  stops: number;
  exit(): void;
  events: SenderEvents;
}

function start() {
  const launched: Launched[] = [];
  let asked: DesiredPush[] = [];
  const manager = createRestreamManager({
    engine: { list: () => [], feed: () => {} },
    port: { started: async () => {}, wanted: async () => asked, report: async () => {} },
    nodeId: 'node-1',
    launch(events) {
      const { promise: exited, resolve: exit } = Promise.withResolvers<void>();
      const one: Launched = { told: [], stops: 0, exit, events };
      launched.push(one);
      return {
        stdin: new PassThrough(),
        exited,
        want: (wants) => void one.told.push(...wants),
        async stop() {
          one.stops += 1;
          await exited;
        },
      };
    },
    log: createLogger('silent'),
    backoffMs: [1],
  });
  const ask = (...pushes: DesiredPush[]) => {
    asked = pushes;
    return manager.sync();
  };
  return { launched, manager, ask };
}

const report = (state: PushReport['state']): PushReport => ({
  ...{ targetId: 'a', revision: 1, state, severity: null },
  ...{ message: null, retryCount: 0, retryInMs: null },
});

test('a restream that is stopped and started resumes once the previous process has exited', async () => {
  const { launched, manager, ask } = start();
  const push = wanted('a', 'rtmp://127.0.0.1/live');
  await ask(push);
  const [first] = launched;
  assert.ok(first !== undefined);
  assert.equal(first.told[0]?.goodAgoMs, undefined);
  first.events.onReport(report('BROADCASTING'));
  await ask();
  assert.equal(first.stops, 1);
  await ask({ ...push, revision: 2 });
  await ask({ ...push, revision: 2 });
  assert.equal(launched.length, 1, 'the destination would take two for one too many');
  first.exit();
  const second = await waitFor(() => launched[1]);
  assert.equal(second.told[0]?.revision, 2);
  const { goodAgoMs = Number.NaN } = second.told[0] ?? {};
  assert.ok(goodAgoMs >= 0 && goodAgoMs < 60_000, 'its key was good just now');
  second.exit();
  const third = await waitFor(() => launched[2], { message: 'one that ends by itself is started anew' });
  third.exit();
  await manager.stop();
});

test('a changed key is not treated as verified', async () => {
  const { launched, manager, ask } = start();
  const push = wanted('a', 'rtmp://127.0.0.1/live');
  await ask(push);
  const [first] = launched;
  first?.events.onReport(report('BROADCASTING'));
  await ask({ ...push, revision: 2, streamKey: 'other' });
  assert.deepEqual(
    first?.told.map(({ streamKey, goodAgoMs }) => [streamKey, goodAgoMs]),
    [
      ['a', undefined],
      ['other', undefined],
    ],
  );
  first?.exit();
  await manager.stop();
});
