import type { DesiredPush, IngestSession, PushReport } from '../../src/media/contract/index.ts';
import type { TestApp } from '../harness/app.ts';
import type { TestClock } from '../harness/clock.ts';
import { ingestSession, insertAccount, type TestAccount } from '../harness/factories.ts';

/** Stream of a separate account with a restream of two targets. */
export interface Run {
  account: TestAccount;
  streamId: string;
  restreamId: string;
  targets: string[];
  call(method: string, path: string, body?: object): ReturnType<TestApp['request']>;
  status(): Promise<string>;
  connect(nodeId?: string): Promise<IngestSession>;
  types(): Promise<string[]>;
}

export interface Runs {
  run(more?: object, settings?: object): Promise<Run>;
  port(): TestApp['container']['restreamRuns']['port'];
  /** Returns the pushes that a node should run, `node-1` by default. */
  wanted(one: Run, nodeId?: string): Promise<DesiredPush[]>;
  /** Reports as `node-1` of the target at the index. */
  say(one: Run, index: number, state: PushReport['state'], more?: Partial<PushReport>): Promise<void>;
}

/** Returns actions on restreams, with the test as the media plane. */
export function restreamRuns(app: TestApp, clock: TestClock): Runs {
  async function run(more: object = {}, settings: object = {}): Promise<Run> {
    const account = await insertAccount(app.container.db, { plan: 'VIP' });
    const { key } = await app.createKey({ account });
    const call: Run['call'] = (method, path, body) =>
      app.request(method, path, { key, ...(body === undefined ? {} : { body }) });
    const created = await call('POST', '/streams', { title: 'A', reconnectWindowSec: 60, ...settings });
    const streamId = created.string('data.id');
    const targets = [1, 2].map((n) => ({ url: 'rtmp://live.example.com/app', streamKey: `stream-key-${n}` }));
    const made = (await call('POST', '/restreams', { streamId, targets, ...more })).assertOk(201);
    const restreamId = made.string('data.id');
    return {
      account,
      streamId,
      restreamId,
      targets: [0, 1].map((n) => made.string(`data.targets.${n}.id`)),
      call,
      status: async () => (await call('GET', `/restreams/${restreamId}`)).string('data.status'),
      async connect(nodeId = 'node-1') {
        const session = ingestSession(streamId, { nodeId, startedAt: clock.now() });
        await app.container.signals.publishStarted(session);
        return session;
      },
      async types() {
        const rows = await app.container.db
          .selectFrom('event')
          .select('type')
          .where('workspace_id', '=', account.live)
          .orderBy('seq')
          .execute();
        return rows.map(({ type }) => type).filter((type) => type.startsWith('restream.'));
      },
    };
  }

  const port = () => app.container.restreamRuns.port;
  const wanted = async ({ targets }: Run, nodeId = 'node-1') => {
    const all = await port().wanted(nodeId, new Map());
    return all.filter(({ targetId }) => targets.includes(targetId));
  };

  async function say(one: Run, index: number, state: PushReport['state'], more: Partial<PushReport> = {}) {
    const targetId = one.targets[index] ?? '';
    const { revision = 0 } =
      (await wanted(one, more.message === 'by node-2' ? 'node-2' : 'node-1')).find(
        (push) => push.targetId === targetId,
      ) ?? {};
    const plain = { severity: null, message: null, retryCount: 0, retryInMs: null };
    await port().report('node-1', { targetId, revision, state, ...plain, ...more });
  }

  return { run, port, wanted, say };
}
