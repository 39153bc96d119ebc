import assert from 'node:assert/strict';
import { test } from 'node:test';
import { audioPlan } from '../../../../../test/processing/fixture.ts';
import type { LadderPlan } from '../../../../media/contract/index.ts';
import { nameCaptions } from './captions.ts';
import {
  isLong,
  isWorthAnalyzing,
  type NextStep,
  nextSteps,
  type ProcessingState,
  priorityOf,
  topHeight,
} from './rules.ts';

function ladder(names: readonly number[], copied = false, sounds = 1): LadderPlan {
  return {
    rungs: names.map((lines, i) => ({
      name: `${lines}p`,
      width: (lines * 16) / 9,
      height: lines,
      frameRate: 30,
      bitrate: 1,
      codec: 'H264' as const,
      isCopy: copied && i === 0,
    })),
    further: [],
    audio: ['audio', 'audio-1'].slice(0, sounds).map((name, track) => audioPlan({ name, track })),
  };
}

const named = (steps: readonly NextStep[]) =>
  steps.map((step) => {
    if (step.kind === 'ENCODE') return [step.task, step.chunk ?? []].flat().join(' ');
    return step.kind === 'IMAGES' ? `IMAGES ${step.task}` : step.kind;
  });

const base: ProcessingState = {
  mode: 'WHOLE',
  ladder: ladder([1080, 720, 360]),
  durationSec: 10,
  isClip: false,
  hasPoster: false,
  imagesDone: false,
  captionsDone: true,
  ready: new Set(),
  chunks: [],
};
const all = new Set(['1080p', '720p', '360p']);
const chunks = (...done: boolean[]) => done.map((isDone, number) => ({ number, isDone }));

const CASES: [string, Partial<ProcessingState>, string[]][] = [
  ['a short one: its images are made on the way', {}, ['REST']],
  ['again, with its images', { imagesDone: true }, ['REST']],
  ['it has captions', { captionsDone: false, imagesDone: true, ready: all }, ['CAPTIONS']],
  ['its rungs came without images', { ready: all, hasPoster: true }, ['IMAGES ALL']],
  ['all is there', { ready: all, imagesDone: true }, []],
  ['the copy comes before everything', { ladder: ladder([1080, 720], true) }, ['PREPARE']],
  [
    'then the rest, however long',
    { ladder: ladder([1080, 720], true), ready: new Set(['1080p']), durationSec: 9000 },
    ['IMAGES POSTER', 'REST'],
  ],
  [
    'only a copy: nothing is decoded',
    { ladder: ladder([240], true), ready: new Set(['240p']) },
    ['IMAGES ALL'],
  ],
  ['only a copy', { ladder: ladder([240], true), ready: new Set(['240p']), imagesDone: true }, []],
  [
    'the first sound comes with the pictures, others by themselves',
    { ladder: ladder([1080], false, 2), imagesDone: true },
    ['REST', 'AUDIO'],
  ],
  [
    'its pictures came first',
    { ladder: ladder([1080], false, 2), imagesDone: true, ready: new Set(['1080p', 'audio']) },
    ['AUDIO'],
  ],
  ['a long one', { durationSec: 3600 }, ['IMAGES POSTER', 'FIRST']],
  ['a long one with its poster', { durationSec: 3600, hasPoster: true }, ['FIRST']],
  ['a long one of one rung', { durationSec: 36_000, ladder: ladder([240]) }, ['REST']],
  [
    'a long one that can be seen',
    { durationSec: 3600, ready: new Set(['360p']), imagesDone: true },
    ['REST'],
  ],
  ['to be cut: the sound first', { mode: 'SPLIT', imagesDone: true }, ['FIRST']],
  ['to be cut, with a copy', { mode: 'SPLIT', ready: new Set(['1080p']) }, ['IMAGES ALL', 'SPLIT']],
  ['to be cut', { mode: 'SPLIT', imagesDone: true, ready: new Set(['360p']) }, ['SPLIT']],
  [
    'cut',
    { mode: 'CHUNKS', imagesDone: true, ready: new Set(['360p']), chunks: chunks(true, false, false) },
    ['CHUNK 1', 'CHUNK 2'],
  ],
  [
    'all chunks',
    { mode: 'CHUNKS', imagesDone: true, ready: new Set(['360p']), chunks: chunks(true, true) },
    ['STITCH'],
  ],
];
for (const [name, standing, expected] of CASES) {
  test(`next steps: ${name}`, () => {
    assert.deepEqual(named(nextSteps({ ...base, ...standing })), expected);
  });
}

test('each captions track has a tag of its own, according to its purpose', () => {
  const track = {
    streamIndex: 2,
    language: 'en',
    title: null,
    isDefault: false,
    isForced: false,
    isSdh: false,
  };
  const [sdh, forced] = [
    { ...track, isSdh: true },
    { ...track, isForced: true },
  ];
  const named = nameCaptions([track, sdh, forced, track, sdh, { ...track, language: null }]);
  assert.deepEqual(
    named.map(({ language, label }) => `${language}: ${label}`),
    [
      ...['en: English', 'en-x-sdh: English (SDH)', 'en-x-forced: English (forced)'],
      ...['en-x-2: English 2', 'en-x-sdh-2: English (SDH) 2', 'und: Captions'],
    ],
  );
});

test('the plan limits the top rung; a test workspace has 720 lines', () => {
  assert.deepEqual(
    (['FREE', 'STAR', 'PRO', 'VIP'] as const).map((plan) => [
      topHeight(plan, 'live'),
      topHeight(plan, 'test'),
    ]),
    [
      [720, 720],
      [1080, 720],
      [2160, 720],
      [4320, 720],
    ],
  );
});

test('a larger plan comes before every step of a smaller one', () => {
  const plans = ['FREE', 'STAR', 'PRO', 'VIP'] as const;
  for (const [i, plan] of plans.entries()) {
    assert.ok(priorityOf(plan, 'FIRST') > priorityOf(plan, 'REST'));
    const next = plans[i + 1];
    if (next !== undefined) assert.ok(priorityOf(next, 'REST') > priorityOf(plan, 'FIRST'));
  }
});

test('five minutes of full HD are long, and ten seconds of a clip; a minute and a copied hour are not', () => {
  const whole = (durationSec: number) => ({ durationSec, isClip: false });
  assert.equal(isLong(ladder([1080, 720, 480, 360]), whole(300)), true);
  assert.equal(isLong(ladder([1080, 720, 480, 360]), whole(60)), false);
  assert.equal(isLong(ladder([1080, 720, 480, 360]), { ...whole(10), isClip: true }), true);
  assert.equal(isLong(ladder([360, 240]), { ...whole(10), isClip: true }), false);
  // Up to seven minutes of 720p, two are waited for.
  assert.equal(isLong(ladder([720, 480, 360, 240]), whole(420)), false);
  assert.equal(isLong(ladder([720, 480, 360, 240]), whole(600)), true);
  assert.equal(isLong(ladder([1080, 360], true), whole(600)), false);
});

test('the content is analyzed where that is a small part of the work', () => {
  const large = ladder([2160, 1080, 720, 480, 360]);
  assert.equal(isWorthAnalyzing('REST', large, 60), true);
  assert.equal(isWorthAnalyzing('REST', large, 59), false);
  assert.equal(isWorthAnalyzing('REST', ladder([720, 480, 360, 240]), 60), false);
  assert.equal(isWorthAnalyzing('REST', ladder([720, 480, 360, 240]), 180), true);
  assert.equal(isWorthAnalyzing('FIRST', large, 600), false);
  assert.equal(isWorthAnalyzing('REST', { ...large, keyframeSec: 2 }, 600), false);
});
