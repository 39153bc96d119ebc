import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Fragment, InvalidFragmentsError } from './fragments.ts';
import { createSegmentWriter, type LeadingWriter } from './segment-writer.ts';
import { emptyState, type LiveState } from './state.ts';

const folder = await mkdtemp(join(tmpdir(), 'segments-'));
await mkdir(join(folder, 'src'));
after(() => rm(folder, { recursive: true, force: true }));

function begin(): { writer: LeadingWriter; state: LiveState } {
  const rung = { name: 'src', width: 640, height: 360, videoCodec: 'avc1.42c01e', videoKbps: 0 };
  const epoch = { name: 'e1', rungs: [rung], audioCodec: 'mp4a.40.2', fps: 30, nextIndex: 0 };
  const state = emptyState();
  state.epoch = epoch;
  state.targetDuration = 4;
  return { writer: createSegmentWriter({ folder, state, epoch, rung, segmentSeconds: 2 }), state };
}

type Kind = 'key' | 'frames' | 'sound';

function piece(kind: Kind, startSec: number, durationSec: number): Fragment {
  return {
    ...{ type: 'fragment', bytes: Buffer.alloc(10), startSec, durationSec, shownSec: startSec },
    isIndependent: kind === 'key',
    ...(kind === 'sound' && { isSoundAlone: true }),
  };
}

/**
 * Writes consecutive pieces. @returns the length of each segment, with `+` for those without a keyframe at
 * the start.
 */
async function written(pieces: [Kind, seconds: number][]): Promise<string> {
  const { writer, state } = begin();
  let atSec = 0;
  for (const [kind, seconds] of pieces) {
    await writer.take(piece(kind, atSec, seconds), atSec * 1000);
    atSec += seconds;
  }
  await writer.end();
  return state.slots
    .map(({ rungs: { src } }) => `${src?.isDependent ? '+' : ''}${src?.durationSec}`)
    .join(' ');
}

/** Repeats a piece of one kind. */
const times = (count: number, kind: Kind, seconds: number) =>
  Array.from({ length: count }, (): [Kind, number] => [kind, seconds]);

test('segments end at the target duration where keyframes are further apart', async () => {
  const gop: [Kind, number][] = [['key', 0.5], ...times(19, 'frames', 0.5)];
  assert.equal(await written([...gop, ...gop, ['key', 0.5]]), '1 +4 +4 +1 4 +4 +2 0.5');
});

test('segments continue with audio while video is missing, and none of them is independent', async () => {
  const pieces: [Kind, number][] = [['key', 1], ['key', 2], ...times(11, 'sound', 0.5)];
  assert.equal(await written([...pieces, ['frames', 0.5], ['key', 2], ['key', 1]]), '1 4 +2 +2 2 1');
});

test('audio between two frames that are far apart ends no segment before the target duration', async () => {
  const slides = Array.from({ length: 4 }, (): [Kind, number][] => [
    ['frames', 0.25],
    ...times(3, 'sound', 0.25),
  ]).flat();
  assert.equal(await written([['key', 1], ['key', 1], ...slides, ['key', 1]]), '1 4.25 +0.75 1');
});

test('segments: a sustained rate above that of live media ends the run', async () => {
  const { writer, state } = begin();
  const flood = async () => {
    for (let index = 0; index < 1000; index += 1) await writer.take(piece('key', index * 3, 3), 0);
  };
  await assert.rejects(flood(), InvalidFragmentsError);
  await writer.end();
  assert.ok(state.slots.length >= 120 && state.slots.length < 150, `${state.slots.length} segments`);
  assert.ok(state.slots.every(({ rungs: { src } }) => src?.isOpen === undefined));
});
