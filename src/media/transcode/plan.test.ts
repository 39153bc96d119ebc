import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceInfo } from '../../../test/transcode/sources.ts';
import type { SourceAudio } from '../contract/index.ts';
import { frameRateOf, rateText } from './frame-rate.ts';
import { planLadder } from './plan.ts';
import { renderStoryboard } from './storyboard.ts';

function sizes(video: Parameters<typeof sourceInfo>[0], maxHeight: number): string[] {
  const { rungs } = planLadder(sourceInfo(video), maxHeight);
  return rungs.map(({ name, width, height }) => `${name} ${width}x${height}`);
}

const HD = ['1080p 1920x1080', '720p 1280x720', '480p 854x480', '360p 640x360', '240p 426x240'];
const LADDERS: [string, Parameters<typeof sourceInfo>[0], number, string[]][] = [
  ['1080p under a plan of 2160', { width: 1920, height: 1080 }, 2160, HD],
  ['1080p under a plan of 720', { width: 1920, height: 1080 }, 720, HD.slice(1)],
  ['2160p under a plan of 1080', { width: 3840, height: 2160 }, 1080, HD],
  [
    '8K',
    { width: 7680, height: 4320 },
    4320,
    ['4320p 7680x4320', '2160p 3840x2160', '1440p 2560x1440', ...HD],
  ],
  [
    'portrait',
    { width: 1080, height: 1920 },
    720,
    ['720p 720x1280', '480p 480x854', '360p 360x640', '240p 240x426'],
  ],
  [
    '600 lines',
    { width: 800, height: 600 },
    1080,
    ['600p 800x600', '480p 640x480', '360p 480x360', '240p 320x240'],
  ],
  [
    'odd',
    { width: 607, height: 1079 },
    1080,
    ['606p 606x1078', '480p 480x854', '360p 360x640', '240p 240x426'],
  ],
  ['smaller than every rung', { width: 100, height: 50 }, 1080, ['50p 100x50']],
  ['a pixel', { width: 1, height: 1 }, 1080, ['2p 2x2']],
  ['nearly a rung', { width: 1934, height: 1088 }, 2160, ['1088p 1934x1088', ...HD.slice(1)]],
];
for (const [name, video, maxHeight, expected] of LADDERS) {
  test(`plan: ${name}`, () => assert.deepEqual(sizes(video, maxHeight), expected));
}

test('plan: the top rung keeps its rate up to 120; lower rungs have whole divisors of it', () => {
  const rates = (frameRate: number) =>
    planLadder(sourceInfo({ frameRate }), 1080).rungs.map((rung) => Math.round(rung.frameRate * 100) / 100);
  assert.deepEqual(rates(30), [30, 30, 30, 30, 30]);
  assert.deepEqual(rates(50), [50, 50, 50, 25, 25]);
  assert.deepEqual(rates(60_000 / 1001), [59.94, 59.94, 59.94, 29.97, 29.97]);
  assert.deepEqual(rates(120), [120, 120, 60, 30, 30]);
  assert.deepEqual(rates(240), [120, 120, 60, 30, 30]);
});

test('plan: bitrates rise with size and rate', () => {
  const { rungs } = planLadder(sourceInfo({ width: 7680, height: 4320, frameRate: 60 }), 4320);
  const bitrates = rungs.map(({ bitrate }) => bitrate);
  assert.deepEqual(
    bitrates,
    bitrates.toSorted((a, b) => b - a),
  );
  const [plain] = planLadder(sourceInfo({}), 1080).rungs;
  assert.equal(plain?.bitrate && Math.round(plain.bitrate / 1e5), 50);
});

test('plan: only an eligible source within the plan is copied unchanged', () => {
  const source = sourceInfo({ bitrate: 4_000_000 }, { copyRefusal: null });
  assert.deepEqual(
    planLadder(source, 1080).rungs.map(({ isCopy }) => isCopy),
    [true, false, false, false, false],
  );
  assert.equal(planLadder(source, 1080).rungs[0]?.bitrate, 4_000_000);
  assert.equal(
    planLadder(source, 720).rungs.some(({ isCopy }) => isCopy),
    false,
  );
});

test('plan: every audio track is planned in stereo, and also in 5.1 when it has six channels', () => {
  const heard: SourceAudio = {
    ...{ streamIndex: 1, codec: 'ac3', profile: null, channels: 6, sampleRate: 48_000, bitrate: null },
    ...{ canCopy: false, language: null, title: null, isDescription: false },
  };
  const plan = (...audio: Partial<SourceAudio>[]) =>
    planLadder(sourceInfo({}, { audio: audio.map((one) => ({ ...heard, ...one })) }), 720).audio;
  const made = (...audio: Partial<SourceAudio>[]) =>
    plan(...audio).map((one) => `${one.name} ${one.isCopy ? 'copied ' : ''}${one.channels} ${one.bitrate}`);
  assert.deepEqual(made({}), ['audio 2 128000', 'audio-surround 6 384000']);
  assert.deepEqual(made({ channels: 8 }, { channels: 1 }), [
    ...['audio 2 128000', 'audio-surround 6 384000', 'audio-1 1 80000'],
  ]);
  assert.deepEqual(made({ channels: 5 }), ['audio 2 128000']);
  assert.deepEqual(made({ channels: 9, isDiscrete: true }), ['audio 2 128000']);
  assert.deepEqual(made({ channels: 2, canCopy: true, bitrate: 96_000 }), ['audio copied 2 96000']);
  assert.deepEqual(made({ canCopy: true }), ['audio 2 128000', 'audio-surround copied 6 384000']);
  assert.deepEqual(made(), []);
  const labels = (...audio: Parameters<typeof plan>) => plan(...audio).map(({ label }) => label);
  const [channels, english] = [2, { channels: 2, language: 'en' }];
  assert.deepEqual(labels({ channels }, { channels }), ['Main', 'Audio 2']);
  assert.deepEqual(labels(english, { channels, language: 'de' }), ['English', 'Deutsch']);
  assert.deepEqual(
    labels(english, { ...english, isDescription: true }, english, { ...english, title: 'Director' }),
    [...['English', 'English (audio description)', 'English 2', 'Director']],
  );
});

const track = { packets: 100, isVariable: false };
const RATES: [string, Parameters<typeof frameRateOf>, number][] = [
  [
    'milliseconds of 29.97',
    [{ r_frame_rate: '30000/1001' }, { ...track, frameSec: 0.033, meanFrameSec: 0.033367 }],
    30_000 / 1001,
  ],
  [
    'a lost picture',
    [
      { avg_frame_rate: '74/3', r_frame_rate: '25/1' },
      { ...track, frameSec: 0.04, meanFrameSec: 0.0405 },
    ],
    25,
  ],
  [
    'fields',
    [
      { avg_frame_rate: '25/1', r_frame_rate: '50/1' },
      { ...track, frameSec: 0.02, meanFrameSec: 0.02 },
    ],
    25,
  ],
  [
    'one picture',
    [
      { avg_frame_rate: '0/0', r_frame_rate: '25/1' },
      { ...track, packets: 1, frameSec: 0, meanFrameSec: 0 },
    ],
    25,
  ],
  ['nonsense', [{ avg_frame_rate: '90000/1' }, { ...track, frameSec: 0.02, meanFrameSec: 0.02 }], 50],
  [
    'no beat',
    [{ avg_frame_rate: '113/7' }, { ...track, isVariable: true, frameSec: 0.0166, meanFrameSec: 0.06 }],
    60,
  ],
  [
    'an odd rate',
    [
      { avg_frame_rate: '37/2', r_frame_rate: '37/2' },
      { ...track, frameSec: 2 / 37, meanFrameSec: 2 / 37 },
    ],
    18.5,
  ],
];
for (const [name, input, expected] of RATES) {
  test(`frame rate: ${name}`, () => assert.equal(frameRateOf(...input).frameRate, expected));
}

test('frame rate: exact for ffmpeg', () => {
  assert.equal(rateText(30), '30');
  assert.equal(rateText(60_000 / 1001), '60000/1001');
  assert.equal(rateText(30_000 / 1001), '30000/1001');
  assert.equal(rateText(18.5), '18500/1000');
});

test('storyboard: cues reference their part of their sheet', () => {
  const times = Array.from({ length: 102 }, (_, index) => index * 2.5);
  const vtt = renderStoryboard(times, 3725.5, { width: 160, height: 90 });
  const cues = vtt.trim().split('\n\n');
  assert.equal(cues[0], 'WEBVTT');
  assert.equal(cues[1], '00:00:00.000 --> 00:00:02.500\nsb_001.jpg#xywh=0,0,160,90');
  assert.equal(cues[12], '00:00:27.500 --> 00:00:30.000\nsb_001.jpg#xywh=160,90,160,90');
  assert.equal(cues[102], '00:04:12.500 --> 01:02:05.500\nsb_002.jpg#xywh=160,0,160,90');
  assert.equal(cues.length, 103);
});
