/**
 * Measures the cost of packaging broadcasts into segments and parts without encoding, against one ffmpeg per
 * broadcast that makes HLS of the same publish by `-c copy` and reads it from our ingest: processor time over
 * the same span, in one run. Figures include the ingest of each side, and also exclude the cost of the
 * ingest.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPartner } from '../test/harness/partner.ts';
import { startPlatform } from '../test/harness/platform.ts';
import { childrenOf, singleItem } from '../test/harness/processes.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { ownSeconds } from './support/processes.ts';
import { isQuick, median, report } from './support/report.ts';
import { encodeSource, end, ffmpeg, type RtmpServer, startEngine } from './support/rtmp-engine.ts';

const COUNTS = isQuick ? [10] : [1, 10];
const ROUNDS = isQuick ? 1 : 3;
/** Time for the JIT compiler of Node to warm up. */
const WARM_MS = 12_000;
const WINDOW_MS = isQuick ? 10_000 : 20_000;
const TARGET = '<= 1.3';
/** ffmpeg options of the packager before the media process took over packaging. */
const HLS = '-c copy -f hls -hls_time 2 -hls_list_size 8 -hls_flags delete_segments -hls_segment_type fmp4';

const dir = await mkdtemp(join(tmpdir(), 'bench-packaging-'));
const source = join(dir, 'source.flv');

const publish = (url: string) => ffmpeg(`-re -stream_loop -1 -i ${source} -c copy -f flv ${url}`);

/** Percent of a core that these processes take. */
async function percentOf(pids: readonly number[]): Promise<number> {
  await sleep(WARM_MS);
  const used = () => pids.reduce((sum, pid) => sum + ownSeconds(pid), 0);
  const [before, begunMs] = [used(), performance.now()];
  await sleep(WINDOW_MS);
  return ((used() - before) / (performance.now() - begunMs)) * 100_000;
}

/** @throws {Error} where one has ended by itself: then it was no measure. */
async function endAll(children: readonly ChildProcess[]): Promise<void> {
  const gone = children.filter(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null).length;
  await Promise.all(children.map(end));
  if (gone > 0) throw new Error(`${gone} of ${children.length} programs ended early`);
}

async function withEngine(count: number, work: (engine: RtmpServer) => Promise<number>): Promise<number> {
  const engine = await startEngine();
  const publishers: ChildProcess[] = [];
  try {
    for (let index = 0; index < count; index += 1) {
      publishers.push(publish(engine.publishUrl(index)));
      await waitFor(() => engine.readUrl(index) !== '', { timeoutMs: 20_000, message: 'the publish' });
    }
    return await work(engine);
  } finally {
    await endAll(publishers);
    await engine.stop();
  }
}

const ingestAlone = (count: number) => withEngine(count, ({ pid }) => percentOf([pid]));

const byFfmpeg = (count: number) =>
  withEngine(count, async (engine) => {
    const packagers: ChildProcess[] = [];
    try {
      for (let index = 0; index < count; index += 1) {
        const folder = join(dir, String(index));
        await mkdir(folder, { recursive: true });
        packagers.push(ffmpeg(`-f flv -i ${engine.readUrl(index)} ${HLS} -y ${folder}/index.m3u8`));
      }
      return await percentOf([engine.pid, ...packagers.map(({ pid }) => pid ?? -1)]);
    } finally {
      await endAll(packagers);
    }
  });

async function byPlatform(count: number, latencyMode: 'LOW' | 'STANDARD'): Promise<number> {
  const platform = await startPlatform({ environment: { LIVE_MAX_RUNGS: '0' } });
  const publishers: ChildProcess[] = [];
  try {
    const partner = createPartner(platform);
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const { id, streamKey } = await partner.createStream({ latencyMode });
      ids.push(id);
      await partner.start(id);
      publishers.push(publish(`rtmp://127.0.0.1:${platform.rtmpPort}/live/${streamKey}`));
    }
    for (const id of ids)
      await waitFor(async () => (await partner.stream(id)).hasSignal, {
        timeoutMs: 30_000,
        message: 'a signal',
      });
    return await percentOf([singleItem(childrenOf(platform.process.pid ?? -1, '/media.'))]);
  } finally {
    await endAll(publishers);
    await platform.stop();
  }
}

async function measure(count: number): Promise<void> {
  const seen: Record<'ingest' | 'ffmpeg' | 'STANDARD' | 'LOW', number[]> = {
    ...{ ingest: [], ffmpeg: [], STANDARD: [], LOW: [] },
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    seen.ingest.push(await ingestAlone(count));
    seen.ffmpeg.push(await byFfmpeg(count));
    seen.STANDARD.push(await byPlatform(count, 'STANDARD'));
    seen.LOW.push(await byPlatform(count, 'LOW'));
  }
  const name = `packaging, ${count} of 1080p60 at 6 Mbps`;
  const [ingest, today] = [median(seen.ingest), median(seen.ffmpeg)];
  const unit = '% of a core';
  report({ name: `${name}: ingest alone`, value: ingest, unit, target: '>= 0' });
  report({ name: `${name}: ingest and an ffmpeg each`, value: today, unit, target: '>= 0' });
  for (const mode of ['STANDARD', 'LOW'] as const) {
    const own = median(seen[mode]);
    report({ name: `${name}, ${mode}: media process`, value: own, unit, target: '>= 0' });
    const whole = own / today;
    report({
      name: `${name}, ${mode}: media process / ingest and ffmpeg`,
      value: whole,
      unit: 'ratio',
      target: TARGET,
    });
    const share = (own - ingest) / (today - ingest);
    report({ name: `${name}, ${mode}: packaging / ffmpeg`, value: share, unit: 'ratio', target: TARGET });
  }
}

try {
  encodeSource(source);
  for (const count of COUNTS) await measure(count);
} finally {
  await rm(dir, { recursive: true, force: true });
}
