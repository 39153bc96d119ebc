/**
 * Measures the delay of the first playable segment of the packager against the bare ffmpeg command, in one
 * run: `node bench/packager.ts`. Prints one JSON line for each kind of ladder.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../src/kernel/clock.ts';
import type { IngestSession } from '../src/media/contract/index.ts';
import { OUTPUT_FD, spawnFfmpeg } from '../src/media/ffmpeg/process.ts';
import { openFfmpeg } from '../src/media/ffmpeg/program.ts';
import { packagerArgs } from '../src/media/live/command.ts';
import { createFragmentReader } from '../src/media/live/fragments.ts';
import { type LadderPlan, planLadder } from '../src/media/live/ladder.ts';
import { createLiveManager } from '../src/media/live/live-manager.ts';
import { createLogger } from '../src/platform/logger.ts';
import { type FlvSource, startFlvSource } from '../test/live/flv-source.ts';
import { median, report } from './support/report.ts';

const ROUNDS = 5;
const TARGET = '<= 1.1';
const SEGMENT_SECONDS = 2;
const PART_SECONDS = 0.75;
const log = createLogger('silent');
const ffmpeg = await openFfmpeg('ffmpeg');

function session(streamId: string): IngestSession {
  return {
    sessionId: streamId,
    streamId,
    nodeId: 'bench',
    protocol: 'rtmp',
    startedAt: systemClock.now(),
    grant: { streamId, maxHeight: 1080, maxFps: 60 },
    video: { codec: 'avc1.42c01f', width: 854, height: 480, fps: 30 },
    audio: { codec: 'mp4a.40.2', sampleRate: 44_100, channels: 2 },
  };
}

function plan(maxRungs: number): LadderPlan {
  const { video, audio, grant } = session('plan');
  const result = planLadder({
    video,
    audio,
    grant,
    maxRungs,
    coresLeft: 8,
    abilities: ffmpeg.info,
    longKeyframeInterval: false,
  });
  if (!result.ok) throw new Error(result.issue);
  return result.plan;
}

/** Milliseconds from `startedMs` until every file lists a segment. */
async function untilListed(paths: string[], startedMs: number): Promise<number> {
  for (;;) {
    const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8').catch(() => '')));
    if (texts.every((text) => text.includes('.m4s'))) return performance.now() - startedMs;
    if (performance.now() - startedMs > 30_000) throw new Error('no segment after 30 s');
    await sleep(2);
  }
}

async function bare(source: FlvSource, maxRungs: number): Promise<number> {
  const ladder = plan(maxRungs);
  // The first segment is complete when the keyframe of the second one arrives.
  const isWhole = ladder.rungs.map(() => false);
  const outputs = ladder.rungs.map((_, index) => {
    const reader = createFragmentReader();
    return (bytes: Buffer) => {
      for (const piece of reader.push(bytes))
        if (piece.type === 'fragment' && piece.isIndependent && piece.startSec > 0.9) isWhole[index] = true;
    };
  });
  const args = packagerArgs({
    plan: ladder,
    source: null,
    segmentSeconds: SEGMENT_SECONDS,
    partSeconds: PART_SECONDS,
    firstFd: OUTPUT_FD,
    sourceTimeBase: ffmpeg.info.sourceTimeBase,
    hardware: null,
  });
  const startedMs = performance.now();
  const child = spawnFfmpeg({
    program: ffmpeg.bin,
    args,
    log,
    input: (stdin) => source.feed(null, stdin),
    outputs,
  });
  while (isWhole.includes(false) && performance.now() - startedMs < 30_000) await sleep(2);
  const tookMs = performance.now() - startedMs;
  source.endReaders();
  await child.stop();
  return tookMs;
}

async function packaged(source: FlvSource, root: string, maxRungs: number, round: number): Promise<number> {
  const manager = createLiveManager({
    engine: { feed: source.feed, stats: () => null, kick: async () => {} },
    liveDir: join(root, 'live'),
    ffmpeg,
    maxRungs,
    cores: 8,
    log,
    clock: systemClock,
  });
  await manager.start();
  const publish = session(`s${maxRungs}-${round}`);
  const startedMs = performance.now();
  await manager.onStart(publish);
  manager.onMedia(publish);
  const folder = join(root, 'live', publish.streamId);
  const tookMs = await untilListed(
    plan(maxRungs).rungs.map((rung) => join(folder, `${rung.name}.m3u8`)),
    startedMs,
  );
  source.endReaders();
  await manager.stop();
  return tookMs;
}

async function measure(name: string, maxRungs: number, root: string, source: FlvSource): Promise<void> {
  const bareMs: number[] = [];
  const packagedMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    bareMs.push(await bare(source, maxRungs));
    packagedMs.push(await packaged(source, root, maxRungs, round));
  }
  report({ name, value: median(packagedMs) / median(bareMs), unit: 'ratio', target: TARGET });
  report({ name: `${name}: packaged`, value: median(packagedMs), unit: 'ms', target: '<= 3500' });
}

const root = await mkdtemp(join(tmpdir(), 'bench-packager-'));
const source = await startFlvSource({ width: 854, height: 480, gopSec: 1 });
try {
  await measure('packager start / bare ffmpeg, copy', 0, root, source);
  await measure('packager start / bare ffmpeg, copy and one scaled rung', 1, root, source);
} finally {
  await source.close();
  await rm(root, { recursive: true, force: true });
}
