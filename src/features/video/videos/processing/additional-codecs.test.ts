import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { waitFor } from '../../../../../test/harness/wait-for.ts';
import { gate, openProcessing, type ProcessingRig } from '../../../../../test/processing/fixture.ts';

let rig: ProcessingRig;

before(async () => {
  rig = await openProcessing();
});
beforeEach(() => {
  rig.transcoder.calls.length = 0;
  rig.transcoder.before = {};
  rig.transcoder.further = ['HEVC', 'AV1'];
  rig.transcoder.droppedHeight = null;
  rig.transcoder.source.durationSec = 10;
  rig.transcoder.source.copyRefusal = 'the keyframes are too far apart';
});
afterEach(() => rig.stop());
after(() => rig.close());

const shown = async (id: string) =>
  (await rig.renditions(id)).filter(({ status }) => status === 'READY').map(({ name }) => name);
const H264 = ['360p', '720p', '1080p', 'audio'];
const HEVC = ['1080p-hevc', '360p-hevc', '720p-hevc'];
const AV1 = ['1080p-av1', '360p-av1', '720p-av1'];
const isSettled = async (id: string) =>
  (await rig.renditions(id)).every(({ status }) => status === 'READY') &&
  !(await rig.openJobs()).includes('video.further');

test('READY waits only for H.264; each additional codec is published with an event when it is complete', async () => {
  const held = gate();
  rig.transcoder.before.encode = async (signal) => {
    if (rig.transcoder.calls.at(-1) === 'encode 360p-hevc') await held.wait(signal);
  };
  rig.start();
  const id = await rig.addVideo();
  assert.equal((await rig.ended(id)).status, 'READY');
  await held.reached();
  assert.deepEqual((await shown(id)).sort(), [...H264].sort(), 'nothing of a codec that is not whole');
  assert.equal((await rig.find(id)).progress_percent, 100);
  await rig.hurry();
  held.open();
  await waitFor(() => isSettled(id), { message: 'both codecs', timeoutMs: 15_000 });
  assert.deepEqual((await shown(id)).sort(), [...H264, ...HEVC, ...AV1].sort());
  const encodes = rig.transcoder.calls.filter((call) => call.startsWith('encode'));
  assert.deepEqual(encodes, [
    'encode 1080p 720p 360p',
    ...['encode 1080p-hevc', 'encode 720p-hevc', 'encode 360p-hevc'],
    ...['encode 1080p-av1', 'encode 720p-av1', 'encode 360p-av1'],
  ]);
  const updates = (await rig.eventsOf(id)).filter(({ type }) => type === 'video.updated');
  assert.equal(updates.length, 2);
  const [hevc] = updates;
  assert.deepEqual(Object(hevc?.data.changes).renditions.from, ['1080p', '720p', '360p']);
  assert.equal(Object(hevc?.data.changes).renditions.to.length, 6);
  await waitFor(async () => {
    await rig.hurry();
    const used = new Set((await rig.renditions(id)).map(({ folder }) => folder));
    return (await rig.folders(id)).length === used.size + 1;
  });
  for (const { folder, name } of await rig.renditions(id)) {
    const { workspace_id: workspaceId } = await rig.find(id);
    assert.ok(await rig.store.head(`w/${workspaceId}/v/${id}/${folder}/${name}/index.m3u8`), name);
  }
});

test('a run does not repeat the work of the previous run', async () => {
  let failures = 1;
  rig.transcoder.before.encode = async () => {
    if (rig.transcoder.calls.at(-1) === 'encode 360p-hevc' && failures-- > 0) throw new Error('killed');
  };
  rig.start();
  const id = await rig.addVideo();
  await rig.ended(id);
  await waitFor(
    async () => {
      await rig.hurry();
      return isSettled(id);
    },
    { message: 'the second try', timeoutMs: 15_000, intervalMs: 100 },
  );
  const count = (call: string) => rig.transcoder.calls.filter((one) => one === call).length;
  assert.deepEqual([count('encode 1080p-hevc'), count('encode 360p-hevc')], [1, 2]);
});

test('a codec that cannot be encoded is skipped, and the video stays READY', async () => {
  rig.transcoder.before.encode = async () => {
    if (rig.transcoder.calls.at(-1)?.endsWith('-av1')) throw new Error('no such encoder');
  };
  rig.start();
  const id = await rig.addVideo();
  await rig.ended(id);
  await waitFor(
    async () => {
      await rig.hurry();
      return isSettled(id);
    },
    { message: 'the end of it', timeoutMs: 15_000, intervalMs: 100 },
  );
  assert.deepEqual((await shown(id)).sort(), [...H264, ...HEVC].sort());
  assert.equal((await rig.find(id)).status, 'READY');
});

test('a deleted video is not encoded further, and a plan without additional codecs gets none', async () => {
  const held = gate();
  rig.transcoder.before.encode = async (signal) => {
    if (rig.transcoder.calls.at(-1) === 'encode 1080p-hevc') await held.wait(signal);
  };
  rig.start();
  const id = await rig.addVideo();
  await held.reached();
  await rig.events.transaction(async (tx) => {
    await tx.updateTable('video').set({ deleted_at: new Date() }).where('id', '=', id).execute();
    await rig.processing.cancel(tx, id);
  });
  await waitFor(async () => (await rig.scratch()).length === 0, { message: 'the end of the run' });
  rig.transcoder.calls.length = 0;
  const free = await rig.addVideo({ plan: 'FREE' });
  await rig.ended(free);
  assert.deepEqual(
    rig.transcoder.calls.filter((call) => call.startsWith('encode')),
    ['encode 720p 360p'],
  );
  assert.ok(!(await rig.openJobs()).includes('video.further'));
});

test('the analysis of a longer video drops renditions, once', async () => {
  rig.transcoder.further = [];
  rig.transcoder.source.durationSec = 90;
  rig.transcoder.droppedHeight = 720;
  let failures = 1;
  rig.transcoder.before.encode = async () => {
    if (failures-- > 0) throw new Error('killed');
  };
  rig.start();
  const id = await rig.addVideo();
  const isReady = async () => {
    await rig.hurry();
    return (await rig.find(id)).status === 'READY';
  };
  await waitFor(isReady, { timeoutMs: 15_000, intervalMs: 100 });
  assert.deepEqual((await shown(id)).sort(), ['1080p', '360p', 'audio']);
  assert.equal((await rig.renditions(id)).length, 3);
  assert.equal(rig.transcoder.calls.filter((call) => call.startsWith('analyzeComplexity')).length, 1);
  rig.transcoder.before.analyzeComplexity = () => Promise.reject(new Error('no such filter'));
  rig.transcoder.calls.length = 0;
  const blind = await rig.addVideo();
  assert.equal((await rig.ended(blind)).status, 'READY');
  assert.equal((await rig.renditions(blind)).length, 4, 'without a look it is made as planned');
});
