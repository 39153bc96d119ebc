import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { waitFor } from '../../../../../test/harness/wait-for.ts';
import { gate, openProcessing, type ProcessingRig } from '../../../../../test/processing/fixture.ts';

let rig: ProcessingRig;

before(async () => {
  rig = await openProcessing();
});
beforeEach(() => {
  rig.transcoder.before = {};
  rig.transcoder.source.copyRefusal = 'the keyframes are too far apart';
  rig.transcoder.heights = [1080, 720, 360];
  rig.transcoder.measuredSec = null;
});
afterEach(() => rig.stop());
after(() => rig.close());

test('a video is READY before its storyboard and preview, which then appear in the folder of its poster', async () => {
  rig.transcoder.source.copyRefusal = null;
  const storyboard = gate();
  let calls = 0;
  rig.transcoder.before.images = async (signal) => {
    calls += 1;
    if (calls > 1) await storyboard.wait(signal);
  };
  rig.transcoder.heights = [1080];
  rig.start();
  const id = await rig.addVideo();
  const ready = await rig.ended(id);
  assert.deepEqual([ready.status, ready.has_storyboard, ready.has_preview], ['READY', false, false]);
  assert.notEqual(ready.image_folder, null);
  storyboard.open();
  const after = await waitFor(async () => {
    const row = await rig.find(id);
    return row.has_storyboard && row;
  });
  assert.deepEqual([after.image_folder, after.has_preview], [ready.image_folder, true]);
});

test('a storyboard that fails is tried once, and the poster stays', async () => {
  rig.transcoder.source.copyRefusal = null;
  rig.transcoder.heights = [1080];
  let calls = 0;
  rig.transcoder.before.images = async () => {
    calls += 1;
    if (calls > 1) throw new Error('the muxer says no');
  };
  rig.start();
  const video = await rig.ended(await rig.addVideo());
  assert.equal(video.status, 'READY');
  await waitFor(async () => {
    const open = await rig.openJobs();
    return calls === 2 && !open.includes('video.images');
  });
  const { image_folder: folder, has_storyboard: hasStoryboard } = await rig.find(video.id);
  assert.deepEqual([folder !== null, hasStoryboard, calls], [true, false, 2]);
});

test('measured values replace probed ones, and a difference of more than 2 % is noted', async () => {
  rig.transcoder.measuredSec = 20;
  rig.start();
  const { duration_sec, processing_notes } = await rig.ended(await rig.addVideo());
  assert.equal(duration_sec, 20);
  assert.deepEqual(processing_notes, [
    { code: 'SOURCE_DIFFERS', message: 'The length of the file is 10 seconds; the video uses 20 seconds.' },
  ]);
  rig.transcoder.measuredSec = 10.02;
  const near = await rig.ended(await rig.addVideo());
  assert.deepEqual([near.duration_sec, near.processing_notes], [10, []], 'a frame is no difference');
});
