import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { BadFragments, type Fragment } from './fragments.ts';
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

/** Writes what follows each other. @returns how long each segment is, with `+` where nobody can begin. */
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

test('segments: while the picture is away they go on with sound, and nobody begins with one', async () => {
  const sound = Array.from({ length: 11 }, (): [Kind, number] => ['sound', 0.5]);
  assert.equal(
    await written([['key', 1], ['key', 2], ['frames', 5], ...sound, ['frames', 0.5], ['key', 2], ['key', 1]]),
    // The first is short; the last with sound ends with the keyframe.
    '1 9 +2 +2 2 1',
  );
});

test('segments: sound between two frames that are far apart ends none', async () => {
  const slides = Array.from({ length: 8 }, (): [Kind, number][] => [
    ['frames', 0.25],
    ['sound', 0.25],
    ['sound', 0.25],
    ['sound', 0.25],
  ]).flat();
  assert.equal(await written([['key', 1], ['key', 1], ...slides, ['key', 1]]), '1 9 1');
});

test('segments: more than live media make, for long, end the run', async () => {
  const { writer, state } = begin();
  const flood = async () => {
    for (let index = 0; index < 1000; index += 1) await writer.take(piece('key', index * 3, 3), 0);
  };
  await assert.rejects(flood(), BadFragments);
  await writer.end();
  assert.ok(state.slots.length >= 120 && state.slots.length < 150, `${state.slots.length} segments`);
  assert.ok(state.slots.every(({ rungs: { src } }) => src?.isOpen === undefined));
});
