import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OLD_ABILITIES } from '../../../test/live/ffmpeg.ts';
import type { Hardware } from '../ffmpeg/hardware.ts';
import { remainingCapacity } from './capacity.ts';
import {
  encodesInHardware,
  type LadderInput,
  type LadderPlan,
  planKey,
  planLadder,
  toSoftwarePlan,
  updatePlan,
} from './ladder.ts';

const AAC = { codec: 'mp4a.40.2', sampleRate: 48000, channels: 2 };

function input(width: number, height: number, changes: Partial<LadderInput> = {}): LadderInput {
  return {
    video: { codec: 'avc1.640028', width, height, fps: 30 },
    audio: AAC,
    grant: { streamId: 's', maxHeight: 2160, maxFps: 60 },
    maxRungs: 9,
    coresLeft: 100,
    abilities: OLD_ABILITIES,
    longKeyframeInterval: false,
    ...changes,
  };
}

function planned(ladder: LadderInput): LadderPlan {
  const result = planLadder(ladder);
  assert.ok(result.ok, 'the publish was refused');
  return result.plan;
}

function shape(plan: LadderPlan): string {
  return plan.rungs
    .map(({ name, mode, width, height }) => `${name}${mode === 'copy' ? '' : '*'}=${width}x${height}`)
    .join(' ');
}

const NEW = { enhancedFlv: true, enhancedFlv2: true };
const UNSIZED = { width: 0, height: 0, fps: 0, isEnhanced: true } as const;

/** Builds an HEVC input on a node whose ffmpeg can read it. */
function hevc(width: number, height: number, changes: Partial<LadderInput> = {}): LadderInput {
  const video = { codec: 'hvc1.1.6.L93', width, height, fps: 30, isEnhanced: true } as const;
  return input(width, height, { abilities: NEW, video, ...changes });
}

const free = { streamId: 's', maxHeight: 720, maxFps: 60 };

const cases: { name: string; input: LadderInput; shape: string; issues?: string[] }[] = [
  {
    name: '1080p has every rung strictly below it',
    input: input(1920, 1080),
    shape: 'src=1920x1080 720*=1280x720 480*=854x480 360*=640x360',
  },
  {
    name: 'a 720p source has no 720 rung',
    input: input(1280, 720),
    shape: 'src=1280x720 480*=854x480 360*=640x360',
  },
  { name: 'a 360p source is alone', input: input(640, 360), shape: 'src=640x360' },
  { name: 'copy only', input: input(1920, 1080, { maxRungs: 0 }), shape: 'src=1920x1080' },
  {
    name: 'one rung is the middle one',
    input: input(1920, 1080, { maxRungs: 1 }),
    shape: 'src=1920x1080 480*=854x480',
  },
  {
    name: 'two rungs are spread, so that the lowest helps',
    input: input(1920, 1080, { maxRungs: 2 }),
    shape: 'src=1920x1080 720*=1280x720 360*=640x360',
  },
  {
    name: 'portrait goes by the shorter side',
    input: input(1080, 1920),
    shape: 'src=1080x1920 720*=720x1280 480*=480x854 360*=360x640',
  },
  { name: 'sizes are even', input: input(1000, 562), shape: 'src=1000x562 480*=854x480 360*=640x360' },
  {
    name: '2160p has 1440 but no 2160 rung',
    input: input(3840, 2160, { maxRungs: 3 }),
    shape: 'src=3840x2160 1440*=2560x1440 720*=1280x720 360*=640x360',
  },
  {
    name: 'above the ceiling the top is a transcode to it',
    input: input(1920, 1080, { grant: free }),
    shape: 'src*=1280x720 480*=854x480 360*=640x360',
    issues: ['RESOLUTION_CAPPED'],
  },
  {
    name: 'above the ceiling in portrait',
    input: input(1080, 1920, { grant: free, maxRungs: 0 }),
    shape: 'src*=720x1280',
    issues: ['RESOLUTION_CAPPED'],
  },
  {
    name: '120 frames per second are capped',
    input: input(1280, 720, {
      maxRungs: 0,
      video: { codec: 'avc1.640028', width: 1280, height: 720, fps: 120 },
    }),
    shape: 'src*=1280x720',
    issues: ['FRAME_RATE_CAPPED'],
  },
  {
    name: 'a measured 60.3 is 60',
    input: input(1280, 720, {
      maxRungs: 0,
      video: { codec: 'avc1.640028', width: 1280, height: 720, fps: 60.3 },
    }),
    shape: 'src=1280x720',
  },
  {
    name: '4:4:4 is not for browsers',
    input: input(640, 360, { video: { codec: 'avc1.f4001f', width: 640, height: 360, fps: 30 } }),
    shape: 'src*=640x360',
    issues: ['CODEC_TRANSCODED'],
  },
  {
    name: 'HEVC is shown as it comes, and in H.264 beside it',
    input: hevc(1920, 1080, { maxRungs: 2 }),
    shape: 'src=1920x1080 1080*=1920x1080 720*=1280x720 360*=640x360',
    issues: ['CODEC_TRANSCODED'],
  },
  {
    name: 'HEVC that is as small as it can be has the same in H.264',
    input: hevc(640, 360),
    shape: 'src=640x360 360*=640x360',
    issues: ['CODEC_TRANSCODED'],
  },
  {
    name: 'HEVC has smaller H.264 where the node has no room for more',
    input: hevc(1920, 1080, { maxRungs: 1, coresLeft: 0.4 }),
    shape: 'src=1920x1080 480*=854x480',
    issues: ['CODEC_TRANSCODED'],
  },
  {
    name: 'HEVC is alone where no rung is wanted',
    input: hevc(1920, 1080, { maxRungs: 0 }),
    shape: 'src=1920x1080',
    issues: ['CODEC_NOT_EVERYWHERE'],
  },
  {
    name: 'HEVC is alone on a full node',
    input: hevc(1920, 1080, { coresLeft: 0 }),
    shape: 'src=1920x1080',
    issues: ['CODEC_NOT_EVERYWHERE'],
  },
  {
    name: 'HEVC above the ceiling is a transcode to it',
    input: hevc(1920, 1080, { grant: free, maxRungs: 0 }),
    shape: 'src*=1280x720',
    issues: ['CODEC_TRANSCODED', 'RESOLUTION_CAPPED'],
  },
  {
    name: 'HEVC with a sound that has to be encoded is encoded as well',
    input: hevc(640, 360, { audio: { ...AAC, codec: 'mp3' } }),
    shape: 'src*=640x360',
    issues: ['CODEC_TRANSCODED'],
  },
  {
    name: 'HEVC with a long keyframe interval is transcoded when there is room',
    input: hevc(640, 360, { longKeyframeInterval: true }),
    shape: 'src*=640x360',
    issues: ['CODEC_TRANSCODED', 'KEYFRAME_INTERVAL'],
  },
  {
    name: 'VP9 that has not told its size is alone',
    input: input(0, 0, {
      abilities: NEW,
      video: { codec: 'vp09.00.10.08', ...UNSIZED },
      longKeyframeInterval: true,
    }),
    shape: 'src=0x0',
    issues: ['CODEC_NOT_EVERYWHERE', 'KEYFRAME_INTERVAL'],
  },
  {
    name: 'a long keyframe interval is transcoded when there is room',
    input: input(640, 360, { longKeyframeInterval: true }),
    shape: 'src*=640x360',
    issues: ['KEYFRAME_INTERVAL'],
  },
  {
    name: 'a long keyframe interval is copied when there is none',
    input: input(640, 360, { longKeyframeInterval: true, coresLeft: 0 }),
    shape: 'src=640x360',
    issues: ['KEYFRAME_INTERVAL'],
  },
  {
    name: 'rungs are dropped until they fit the node',
    input: input(1920, 1080, { coresLeft: 0.25 }),
    shape: 'src=1920x1080 480*=854x480',
  },
  { name: 'a full node copies', input: input(1920, 1080, { coresLeft: 0 }), shape: 'src=1920x1080' },
];

for (const entry of cases) {
  test(`ladder: ${entry.name}`, () => {
    const plan = planned(entry.input);
    assert.equal(shape(plan), entry.shape);
    assert.deepEqual(plan.issues, entry.issues ?? []);
  });
}

test("ladder: a transcode beyond the node's capacity rejects the publish", () => {
  const result = planLadder(input(1920, 1080, { grant: free, coresLeft: 0.1 }));
  assert.deepEqual(result, { ok: false, issue: 'NO_TRANSCODE_CAPACITY' });
});

const SIZE = { width: 640, height: 360, fps: 30 };
const ENHANCED = { isEnhanced: true } as const;
const accepted: [string, Partial<LadderInput>, { old: 'direct' | 'refused' | 'read'; current: boolean }][] = [
  ['HEVC', { video: { codec: 'hvc1.1.6.L93', ...SIZE, ...ENHANCED } }, { old: 'direct', current: true }],
  [
    'HEVC of 4:2:2',
    { video: { codec: 'hvc1.4.10.L93', ...SIZE, ...ENHANCED } },
    { old: 'refused', current: true },
  ],
  ['AV1', { video: { codec: 'av01.0.04M.08', ...SIZE, ...ENHANCED } }, { old: 'direct', current: true }],
  ['VP9', { video: { codec: 'vp09.00.10.08', ...SIZE, ...ENHANCED } }, { old: 'direct', current: true }],
  ['VP8', { video: { codec: 'vp08', ...SIZE, ...ENHANCED } }, { old: 'refused', current: false }],
  ['H.263', { video: { codec: 'h263', ...SIZE } }, { old: 'refused', current: false }],
  ['VP6', { video: { codec: 'vp6f', ...SIZE } }, { old: 'refused', current: false }],
  ['Opus', { audio: { ...AAC, codec: 'opus', ...ENHANCED } }, { old: 'direct', current: true }],
  ['enhanced AAC', { audio: { ...AAC, ...ENHANCED } }, { old: 'direct', current: true }],
  ['MP3', { audio: { ...AAC, codec: 'mp3' } }, { old: 'read', current: true }],
  ['FLAC', { audio: { ...AAC, codec: 'fLaC', ...ENHANCED } }, { old: 'refused', current: false }],
  ['Speex', { audio: { ...AAC, codec: 'speex' } }, { old: 'refused', current: false }],
  ['G.711', { audio: { ...AAC, codec: 'pcm_alaw' } }, { old: 'refused', current: false }],
];
for (const [name, media, expected] of accepted) {
  test(`ladder: ${name} depends on whether ffmpeg can read it`, () => {
    const old = planLadder(input(640, 360, media));
    assert.equal(old.ok ? (old.plan.isDirect ? 'direct' : 'read') : 'refused', expected.old);
    const current = planLadder(input(640, 360, { ...media, abilities: NEW, maxRungs: 0 }));
    assert.equal(current.ok, expected.current);
    for (const result of [old, current]) if (!result.ok) assert.equal(result.issue, 'UNSUPPORTED_CODEC');
    if (old.ok && old.plan.isDirect) {
      assert.deepEqual([shape(old.plan), old.plan.cores], ['src=640x360', 0]);
      assert.deepEqual(old.plan.issues, name === 'enhanced AAC' ? [] : ['CODEC_NOT_EVERYWHERE']);
      const { isDirect: _, ...shown } = old.plan;
      const { isDirect: __, ...same } = current.ok ? current.plan : old.plan;
      assert.deepEqual(same, shown, 'where no rung is wanted a newer ffmpeg changes nothing');
    }
    if (old.ok && old.plan.isDirect) {
      const above = planLadder(input(640, 360, { ...media, grant: { ...free, maxHeight: 180 } }));
      assert.deepEqual(
        above,
        { ok: false, issue: 'UNSUPPORTED_CODEC' },
        'above the ceiling it cannot be shown',
      );
    }
  });
}

test('ladder: Opus is copied with copied video, in all renditions, and encoded with encoded video', () => {
  const opus = { abilities: NEW, audio: { ...AAC, codec: 'opus', isEnhanced: true as const }, maxRungs: 1 };
  const copied = planned(input(640, 480, opus));
  assert.deepEqual([shape(copied), copied.audio], ['src=640x480 360*=480x360', 'copy']);
  assert.deepEqual(copied.issues, ['CODEC_NOT_EVERYWHERE']);
  assert.equal(copied.isDirect, undefined);
  assert.equal(planned(input(1280, 1080, { ...opus, grant: free })).audio, 'encode');
  assert.equal(planned(input(0, 0, { ...opus, video: undefined })).audio, 'copy');
  assert.deepEqual(planned(hevc(640, 480, opus)).issues, ['CODEC_TRANSCODED', 'CODEC_NOT_EVERYWHERE']);
});

test('ladder: audio is copied, encoded or replaced by silence', () => {
  assert.equal(planned(input(640, 360)).audio, 'copy');
  assert.equal(planned(input(640, 360, { audio: { ...AAC, codec: 'mp3' } })).audio, 'encode');
  assert.equal(planned(input(640, 360, { audio: undefined })).audio, 'silent');
  const audioOnly = planned(input(0, 0, { video: undefined }));
  assert.equal(shape(audioOnly), 'src=0x0');
  assert.equal(audioOnly.rungs[0]?.videoCodec, null);
});

test('ladder: learning the frame rate does not require another run, a capped one does', () => {
  const size = { codec: 'avc1.640028', width: 1920, height: 1080 };
  const key = (fps: number): string => planKey(planned(input(1920, 1080, { video: { ...size, fps } })));
  assert.equal(key(0), key(30));
  assert.equal(key(0), key(60));
  assert.notEqual(key(0), key(120));
});

test('ladder: source properties learned later count in the load of the running rungs', () => {
  const at = (fps: number, coresLeft: number) =>
    planned(
      input(1920, 1080, { coresLeft, video: { codec: 'avc1.640028', width: 1920, height: 1080, fps } }),
    );
  const running = at(0, 100);
  const latest = at(30, 0);
  assert.equal(planKey(running), planKey(latest));
  const learnt = updatePlan(running, latest, { codec: 'avc1.640028', width: 1920, height: 1080, fps: 30 });
  assert.deepEqual(learnt.rungs, running.rungs);
  assert.equal(learnt.cores, running.cores / 2);
  assert.equal(learnt.fps, 30);
  assert.equal(updatePlan(latest, at(60, 100), undefined).cores, 0);
});

test('ladder: codec issues follow the running rungs, not the current capacity', () => {
  const [alone, beside] = [planned(hevc(1920, 1080, { coresLeft: 0 })), planned(hevc(1920, 1080))];
  assert.equal(planKey(alone), planKey(beside));
  const late = planned(hevc(1920, 1080, { coresLeft: 0, longKeyframeInterval: true }));
  assert.deepEqual(updatePlan(beside, late, undefined).issues, ['CODEC_TRANSCODED', 'KEYFRAME_INTERVAL']);
  assert.deepEqual(updatePlan(alone, beside, undefined).issues, ['CODEC_NOT_EVERYWHERE']);
});

const inHardware = ({ rungs }: LadderPlan) => rungs.filter(encodesInHardware).map(({ name }) => name);

test('ladder: hardware encodes the largest rungs that fit, at a low CPU cost', () => {
  const at = (sessionsLeft: number, changes: Partial<LadderInput> = {}) =>
    planned(input(1920, 1080, { sessionsLeft, ...changes }));
  assert.deepEqual(
    [0, 1, 2, 8].map((sessions) => inHardware(at(sessions))),
    [[], ['720'], ['720', '480'], ['720', '480', '360']],
  );
  assert.deepEqual(inHardware(at(1, { grant: free })), ['src'], 'a top that is encoded comes first');
  assert.ok(at(8).cores < at(1).cores && at(1).cores < at(0).cores);
  // The hardware encodes the rungs for which the CPU has no capacity.
  assert.equal(shape(at(0, { coresLeft: 0.3 })), 'src=1920x1080 480*=854x480');
  assert.equal(shape(at(8, { coresLeft: 0.3 })), 'src=1920x1080 720*=1280x720 480*=854x480 360*=640x360');
});

test('ladder: after a hardware failure, a plan keeps its rungs and has their software cost', () => {
  const plain = planned(input(1920, 1080));
  const left = toSoftwarePlan(planned(input(1920, 1080, { sessionsLeft: 2 })));
  assert.deepEqual(left.rungs, plain.rungs);
  assert.ok(Math.abs(left.cores - plain.cores) < 1e-9);
});

test('ladder: all broadcasts share the hardware sessions', () => {
  const hardware = { kind: 'nvenc', device: null, nodes: [], can: ['H264', 'LIVE'] } as const;
  const running = [planned(input(1920, 1080, { sessionsLeft: 2 }))];
  const left = (can: Hardware['can'], sessions: number) =>
    remainingCapacity({ cores: 2, hardware: () => ({ hardware: { ...hardware, can }, sessions }) }, running);
  assert.deepEqual(left(hardware.can, 3), { coresLeft: 2 - (running[0]?.cores ?? 0), sessionsLeft: 1 });
  assert.equal(left(hardware.can, 1).sessionsLeft, 0);
  assert.equal(left(['H264'], 8).sessionsLeft, 0, 'it does not keep up with broadcasts');
});

test('ladder: the codec string of an encoded rung has the level of its size and rate', () => {
  const codecs = (fps: number): (string | null)[] =>
    planned(input(1920, 1080, { video: { codec: 'avc1.640028', width: 1920, height: 1080, fps } })).rungs.map(
      (rung) => rung.videoCodec,
    );
  assert.deepEqual(codecs(30), ['avc1.640028', 'avc1.4d401f', 'avc1.4d401f', 'avc1.4d401e']);
  assert.deepEqual(codecs(60), ['avc1.640028', 'avc1.4d4020', 'avc1.4d401f', 'avc1.4d401f']);
});
