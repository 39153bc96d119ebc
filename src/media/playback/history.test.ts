import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsOwnProcess } from '../../../test/harness/needs.ts';
import type { HistorySegment } from '../contract/index.ts';
import type { MediaPlaylist } from '../live/playlist.ts';
import { createHistoryJoiner } from './history.ts';

needsOwnProcess();

const segment = (seq: number) => ({
  ...{ seq, disc: 0, epoch: 'e1', file: `s_${seq}.m4s`, durationSec: 2, startMs: seq * 2000 },
});

/** Returns the live window from the given segment on, as a new object. */
function windowAt(first: number): MediaPlaylist {
  const segments = [first, first + 1].map((seq) => ({ ...segment(seq), rung: 'src' }));
  return { targetDuration: 4, segments, nextSeq: first + 2, disc: 0 };
}

/** Creates a joiner, and records which streams it requests from the history. */
function joiner(segmentsMax?: number) {
  const asked: string[] = [];
  const join = createHistoryJoiner(
    {
      upTo: async (streamId, last) => {
        asked.push(streamId);
        return Array.from(
          { length: last + 1 },
          (_, seq): HistorySegment => ({
            streamId,
            ...segment(seq),
            rungs: { src: { durationSec: 2, bytes: 1 } },
          }),
        );
      },
      keyOf: async () => null,
    },
    segmentsMax,
  );
  const seqs = async (streamId: string, first: number) =>
    (await join(streamId, 'src', windowAt(first))).segments.map(({ seq }) => seq);
  return { asked, join, seqs };
}

test('history: segments before a window are read once, until a period without requests', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { asked, seqs } = joiner();
  assert.deepEqual(await seqs('s1', 3), [0, 1, 2, 3, 4]);
  t.mock.timers.tick(60_000);
  assert.deepEqual(await seqs('s1', 3), [0, 1, 2, 3, 4]);
  assert.deepEqual(asked, ['s1']);
  t.mock.timers.tick(120_000);
  assert.deepEqual(await seqs('s1', 3), [0, 1, 2, 3, 4]);
  assert.deepEqual(asked, ['s1', 's1']);
});

test('history: the same playlist is joined once', async () => {
  const { join } = joiner();
  const playlist = windowAt(3);
  assert.equal(await join('s1', 'src', playlist), await join('s1', 'src', playlist));
});

test('history: beyond the total segment limit, the least recently requested playlist is evicted', async () => {
  const { asked, seqs } = joiner(30);
  for (const streamId of ['s1', 's2', 's3', 's1', 's3']) await seqs(streamId, 8);
  // Each has eight before the window and ten shown.
  assert.deepEqual(asked, ['s1', 's2', 's3', 's1']);
});
