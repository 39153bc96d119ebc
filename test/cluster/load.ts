import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Upload } from 'tus-js-client';
import { makeClip } from '../harness/clip.ts';
import type { HttpsSink } from '../harness/https-sink.ts';
import { createPartner, type Partner } from '../harness/partner.ts';
import { headersOf } from '../harness/platform.ts';
import { waitFor } from '../harness/wait-for.ts';
import { startPublisher } from '../rtmp/publisher.ts';
import type { Cluster } from './cluster.ts';
import { type Sample, sample } from './requests.ts';
import { startViewer, type Viewer } from './viewers.ts';
import { countWrites, startWriter, type Writer, type WrittenRows } from './writers.ts';

const STREAMS = 2;
const VIEWERS_PER_STREAM = 3;
const READERS = 2;
const WRITERS = 2;
const READ_PAUSE_MS = 50;
const RECONNECT_MS = 500;
const UPLOAD_PAUSE_MS = 10_000;
const CLIP = { seconds: 2, width: 160, height: 90, bitrateKbps: 100 };

/** Period by `performance.now()`. */
export interface Period {
  fromMs: number;
  toMs: number;
}

/** What became of the acknowledged work of a load. */
export interface LoadResult {
  writes: WrittenRows;
  /** Acknowledged writes whose event was not delivered, and deliveries of one event after the first. */
  webhooks: { lost: number; repeated: number };
  /** Acknowledged uploads, and those that did not become READY. */
  uploads: { acknowledged: number; lost: number };
}

/** Encoders, viewers, API clients, a webhook receiver and uploads that use a cluster. */
export interface Load {
  headers: Record<string, string>;
  /** Path of a stream, for single reads. */
  streamPath: string;
  viewers: readonly Viewer[];
  /** Concurrent API clients. */
  clients: number;
  /** Returns the requests of API clients that ended in a period. */
  apiSamples(period: Period): Sample[];
  /** Returns the requests of viewers that ended in a period. */
  viewerSamples(period: Period): Sample[];
  /** Returns the longest time without a delivery in a period. */
  webhookSilenceMs(period: Period): number;
  /** Ends all of it, and waits for outstanding deliveries and encodes. */
  finish(): Promise<LoadResult>;
  /** Ends all of it without a result. */
  stop(): Promise<void>;
}

interface Activity {
  stop(): Promise<unknown>;
}

/** Starts a load and waits until viewers see the broadcasts. @param sink allowed as a webhook of the cluster. */
export async function startLoad(cluster: Cluster, sink: HttpsSink): Promise<Load> {
  const key = await cluster.createKey();
  const headers = headersOf(key);
  const partner = createPartner(cluster, key);
  await partner.createWebhook(`${sink.url}/hook`, ['stream.created']);
  const streams = [];
  for (let index = 1; index <= STREAMS; index += 1)
    streams.push(await partner.createStream({ title: `Load ${index}` }));
  const encoders = streams.map(({ streamKey }) => keepPublishing(`${cluster.rtmpUrl}/${streamKey}`));
  const playlists = streams.map(({ id }) => `${cluster.url}/live/${id}/src/index.m3u8`);
  for (const { id } of streams) await partner.start(id);
  for (const url of playlists)
    await waitFor(async () => (await sample(url)).text.includes('#EXTINF'), {
      timeoutMs: 30_000,
      message: 'the broadcasts',
    });
  const viewers = playlists.flatMap((url) =>
    Array.from({ length: VIEWERS_PER_STREAM }, () => startViewer(url)),
  );
  const streamPath = `/streams/${streams[0]?.id}`;
  const readers = Array.from({ length: READERS }, () => startReader(`${cluster.api}${streamPath}`, headers));
  const writers = Array.from({ length: WRITERS }, () => startWriter(cluster.api, headers));
  const uploader = await startUploader(partner);
  const stop = async () => {
    const activities: Activity[] = [...viewers, ...readers, ...writers, ...encoders, uploader];
    await Promise.all(activities.map((activity) => activity.stop()));
  };
  const within = (sources: readonly { samples: Sample[] }[], { fromMs, toMs }: Period) =>
    sources.flatMap(({ samples }) => samples.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs));
  return {
    ...{ headers, streamPath, viewers, stop },
    clients: READERS + WRITERS,
    apiSamples: (period) => within([...readers, ...writers], period),
    viewerSamples: (period) => within(viewers, period),
    webhookSilenceMs: (period) => longestGapMs(sink, period),
    async finish() {
      await stop();
      return {
        writes: await countWrites(cluster.databaseUrl, writers),
        webhooks: await countWebhooks(sink, writers),
        uploads: await uploader.result(),
      };
    },
  };
}

/** Runs an encoder that reconnects when it loses its connection. */
function keepPublishing(url: string): Activity {
  let isStopped = false;
  let publisher = startPublisher({ url, width: 320, height: 180, fps: 15, bitrateKbps: 200 });
  const keep = async () => {
    for (;;) {
      await publisher.exited;
      if (isStopped) return;
      await sleep(RECONNECT_MS);
      publisher = startPublisher({ url, width: 320, height: 180, fps: 15, bitrateKbps: 200 });
    }
  };
  const kept = keep();
  return {
    async stop() {
      isStopped = true;
      await publisher.stop();
      await kept;
    },
  };
}

function startReader(url: string, headers: Record<string, string>): Activity & { samples: Sample[] } {
  const samples: Sample[] = [];
  let isStopped = false;
  const read = async () => {
    while (!isStopped) {
      samples.push((await sample(url, { headers })).sample);
      await sleep(READ_PAUSE_MS);
    }
  };
  const ended = read();
  return {
    samples,
    async stop() {
      isStopped = true;
      await ended;
    },
  };
}

interface Uploader extends Activity {
  result(): Promise<LoadResult['uploads']>;
}

async function startUploader(partner: Partner): Promise<Uploader> {
  const folder = await mkdtemp(join(tmpdir(), 'marquee-load-'));
  await makeClip(join(folder, 'clip.mp4'), CLIP);
  const file = await readFile(join(folder, 'clip.mp4'));
  await rm(folder, { recursive: true, force: true });
  const acknowledged: string[] = [];
  let isStopped = false;
  const upload = async () => {
    while (!isStopped) {
      // An upload that fails was not acknowledged; the next one is a new one.
      const videoId = await uploadOnce(partner, file).catch(() => null);
      if (videoId !== null) acknowledged.push(videoId);
      for (let waitedMs = 0; waitedMs < UPLOAD_PAUSE_MS && !isStopped; waitedMs += 500) await sleep(500);
    }
  };
  const ended = upload();
  return {
    async stop() {
      isStopped = true;
      await ended;
    },
    async result() {
      const ready = acknowledged.map((id) =>
        partner
          .videoWhen(id, ({ status }) => status === 'READY')
          .then(
            () => true,
            () => false,
          ),
      );
      const lost = (await Promise.all(ready)).filter((isReady) => !isReady).length;
      return { acknowledged: acknowledged.length, lost };
    },
  };
}

async function uploadOnce(partner: Partner, file: Buffer): Promise<string> {
  const { videoId, uploadUrl } = await partner.createUpload({ filename: 'clip.mp4', sizeBytes: file.length });
  await new Promise<unknown>((resolve, reject) =>
    new Upload(file, { uploadUrl, onSuccess: resolve, onError: reject }).start(),
  );
  return videoId;
}

function longestGapMs({ requests }: HttpsSink, { fromMs, toMs }: Period): number {
  const times = requests
    .map(({ at }) => at - performance.timeOrigin)
    .filter((atMs) => atMs >= fromMs && atMs <= toMs);
  const bounds = [fromMs, ...times, toMs];
  return Math.max(...bounds.slice(1).map((atMs, index) => atMs - (bounds[index] ?? fromMs)));
}

/** Waits until each acknowledged write was delivered, or no delivery arrives anymore. */
async function countWebhooks(sink: HttpsSink, writers: readonly Writer[]): Promise<LoadResult['webhooks']> {
  const titles = writers.flatMap((writer) => [...writer.acknowledged]);
  const missing = () => {
    const received = sink.requests.map(({ rawBody }) => rawBody.toString()).join('\n');
    return titles.filter((title) => !received.includes(`"${title}"`));
  };
  await waitFor(() => missing().length === 0, { timeoutMs: 30_000, intervalMs: 2000 }).catch(() => {});
  const ids = sink.requests.map(({ rawBody }) => /"id":"([^"]+)"/.exec(rawBody.toString())?.[1]);
  return { lost: missing().length, repeated: ids.length - new Set(ids).size };
}
