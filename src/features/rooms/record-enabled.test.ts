import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { withLockContention } from '../../../test/harness/with-lock-contention.ts';
import { createRoom, joinRoom } from '../../../test/rooms/client.ts';
import { type LivekitStub, startLivekitStub } from '../../../test/rooms/livekit-stub.ts';
import { PLANS } from '../../kernel/plans.ts';
import { ROOM_RECORDER_TOPIC } from './recorder.ts';

let stub: LivekitStub;
let app: TestApp;
/** Second process that locks the rows which the other one waits for. */
let otherApp: TestApp;
before(async () => {
  stub = await startLivekitStub();
  const options = { env: stub.env, rooms: { name: 'livekit', lack: null } as const };
  app = await startTestApp(options);
  otherApp = await startTestApp({ ...options, beside: app });
});
after(async () => {
  await otherApp.close();
  await app.close();
  stub.close();
});

/** Creates a recordable room with one participant. */
async function recordable() {
  const { key, account } = await app.createKey({ account: await app.createAccount({ plan: 'FREE' }) });
  const id = await createRoom(app, key, { recordEnabled: true });
  const ada = await joinRoom(app, key, id, { identity: 'ada', role: 'HOST' });
  const call = (method: string, path: string, body?: object) =>
    app.request(method, `/rooms/${id}${path}`, body === undefined ? { key } : { key, body });
  // Simulates the report of a media role, sent every second, that it can record.
  app.container.bus.publish(ROOM_RECORDER_TOPIC);
  await waitFor(async () => (await call('GET', '')).at('data.canRecord') === true);
  return { account, id, ada, call };
}

test('recordEnabled false ends the recording until it is started again', async () => {
  const { id, ada, call } = await recordable();
  (await call('POST', '/recording/start')).assertOk(200);
  await ada.next('recording', ({ on }) => on === true);
  const other = await call('PATCH', '', { name: 'Another' });
  assert.equal(other.assertOk(200).at('data.recording'), true, 'other changes end none');
  const off = (await call('PATCH', '', { recordEnabled: false })).assertOk(200);
  assert.deepEqual([off.at('data.recordEnabled'), off.at('data.recording')], [false, false]);
  await ada.next('recording', ({ on }) => on === false);
  const rows = await app.container.sql`select ended_at from room_recording where room_id = ${id}`;
  assert.deepEqual(
    rows.map((row) => row.ended_at !== null),
    [true],
  );
  (await call('POST', '/recording/start')).assertError('CONFLICT', 'recordEnabled');
  const on = (await call('PATCH', '', { recordEnabled: true })).assertOk(200);
  assert.equal(on.at('data.recording'), false);
  const again = (await call('POST', '/recording/start')).assertOk(200);
  assert.equal(again.at('data.recording'), true);
  await ada.close();
});

test('a start that read recordEnabled before it became false records nothing', async () => {
  const { id, ada, call } = await recordable();
  const [start] = await withLockContention(
    otherApp.container.sql,
    (tx) => tx`update room set record_enabled = false where id = ${id}`,
    [() => call('POST', '/recording/start')],
  );
  start?.assertError('CONFLICT', 'recordEnabled');
  assert.equal((await call('GET', '')).at('data.recording'), false);
  await ada.close();
});

test('a start is rejected when the storage of the plan is full', async () => {
  const { account, ada, call } = await recordable();
  const full = PLANS.FREE.storageBytes;
  await app.container.sql`update workspace set storage_bytes = ${full} where id = ${account.live}`;
  const answer = (await call('POST', '/recording/start')).assertError('QUOTA_EXCEEDED');
  assert.match(answer.string('error.message'), /storage of the plan is full/);
  assert.equal((await call('GET', '')).at('data.recording'), false);
  await ada.close();
});
