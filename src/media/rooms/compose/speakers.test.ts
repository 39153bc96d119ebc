import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LEVEL_MS } from './scan.ts';
import { type ParticipantAudio, speakersOf } from './speakers.ts';

const START = 1_790_000_000_000;
const LOUD = 105;
const QUIET = 55;

/** Builds a participant who is present from `from` to `to` and speaks in the given seconds. */
function heard(
  identity: string,
  words: readonly [number, number, level?: number][],
  noise = QUIET,
): ParticipantAudio {
  const loudness = new Uint8Array(240).fill(noise);
  for (const [from, to, level = LOUD] of words) {
    loudness.fill(level, (from * 1000) / LEVEL_MS, (to * 1000) / LEVEL_MS);
  }
  const spans = [{ fromMs: START, toMs: START + 60_000 }];
  return { identity, spans, tracks: [{ source: 'MICROPHONE', header: { startedMs: START }, loudness }] };
}

const large = (people: readonly ParticipantAudio[]) =>
  speakersOf(people, START, START + 60_000).map(({ atMs, identity }) => [identity, (atMs - START) / 1000]);

test('a speaker is large from the first word on, through pauses, and until another one speaks', () => {
  const ada = heard('ada', [
    [1, 4],
    [5, 9],
  ]);
  assert.deepEqual(large([ada, heard('bob', [[12, 20]])]), [
    ['ada', 1],
    ['bob', 12],
  ]);
});

test('a single word, a cough and simultaneous speech change nothing', () => {
  const ada = heard('ada', [[0, 30]]);
  const words = heard('bob', [
    [3, 3.5],
    [8, 8.5],
    [11, 20, LOUD + 5],
  ]);
  assert.deepEqual(large([ada, words]), [['ada', 0]]);
});

test('noise does not keep a speaker small, and neither noise nor silence counts as speech', () => {
  assert.deepEqual(large([heard('fan', [], 82), heard('ada', [[5, 10]])]), [['ada', 5]]);
  assert.deepEqual(large([heard('drill', [], 94), heard('ada', [[5, 60]])]), [
    ['drill', 0],
    ['ada', 5],
  ]);
  assert.deepEqual(large([heard('ada', []), heard('bob', [])]), []);
});

test('the layout changes at most every two and a half seconds, unless the speaker has left', () => {
  const turns = (first: number): [number, number][] =>
    Array.from({ length: 14 }, (_, index) => [first + 3 * index, first + 3 * index + 1.5]);
  const changes = large([heard('ada', turns(0)), heard('bob', turns(1.5))]);
  assert.ok(changes.length > 4);
  for (const [index, [, sec]] of changes.entries()) {
    assert.ok(Number(sec) - Number(changes[index - 1]?.[1] ?? -3) >= 2.5, JSON.stringify(changes));
  }
  const gone = { ...heard('ada', [[0, 1]]), spans: [{ fromMs: START, toMs: START + 1100 }] };
  assert.deepEqual(large([gone, heard('bob', [[1.25, 5]])]), [
    ['ada', 0],
    ['bob', 1.25],
  ]);
});

test('a microphone that was turned on later has its correct position', () => {
  const ada = heard('ada', [[2, 4]]);
  const [track] = ada.tracks;
  assert.ok(track !== undefined);
  const later = { ...track, header: { startedMs: START + 20_000 } };
  assert.deepEqual(large([{ ...ada, tracks: [later] }]), [['ada', 22]]);
});
