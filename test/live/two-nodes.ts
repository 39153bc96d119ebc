import { once } from 'node:events';
import { createTestDatabase } from '../harness/database.ts';
import { createPartner, type Partner } from '../harness/partner.ts';
import { freePort, type RunningPlatform, startPlatform } from '../harness/platform.ts';
import { type Publisher, startPublisher } from '../rtmp/publisher.ts';

/** One node with the media role and one without, which share only the database and the key. */
export interface TwoNodes {
  media: RunningPlatform;
  partner: Partner;
  /** A stream that is on air. */
  streamId: string;
  /** Encoder that publishes to it. */
  encoder: Publisher;
  /** Starts a new encoder, at the media node or another one. */
  publish(to?: RunningPlatform): void;
  /** Sends a player's request to the node without the media role. */
  get(path: string): Promise<{ status: number; text: string; bytes: Buffer }>;
  /** Reads a metric of `api` or `media` by its name and labels; 0 if it is missing. */
  metric(node: 'api' | 'media', name: string): Promise<number>;
  /** One more node with the media role. */
  startMedia(): Promise<RunningPlatform>;
  /** The other node is killed and started again. */
  restartApi(): Promise<void>;
  close(): Promise<void>;
}

export async function startTwoNodes(environment: Record<string, string> = {}): Promise<TwoNodes> {
  const database = await createTestDatabase({ pool: 1 });
  const ports = { api: await freePort(), apiMetrics: await freePort(), mediaMetrics: await freePort() };
  const shared = {
    DATABASE_URL: database.url,
    SECRET_KEY: '0d'.repeat(32),
    SIGNAL_GRACE_MS: '60000',
    LIVE_MAX_RUNGS: '0',
    ...environment,
  };
  const startApi = (dataDir?: string) =>
    startPlatform({
      ...(dataDir === undefined ? {} : { dataDir }),
      port: ports.api,
      environment: { ...shared, ROLES: 'api,worker', METRICS_PORT: String(ports.apiMetrics) },
    });
  const startMedia = (metricsPort = 0) =>
    startPlatform({ environment: { ...shared, ROLES: 'media', METRICS_PORT: String(metricsPort) } });
  const first = await startApi();
  let api = first;
  const media = await startMedia(ports.mediaMetrics);
  const partner = createPartner(api);
  const stream = await partner.createStream({ latencyMode: 'LOW' });
  const encoderAt = ({ rtmpPort }: RunningPlatform) =>
    startPublisher({
      url: `rtmp://127.0.0.1:${rtmpPort}/live/${stream.streamKey}`,
      width: 320,
      height: 180,
      fps: 15,
    });
  await partner.start(stream.id);
  const nodes: TwoNodes = {
    ...{ media, partner, streamId: stream.id, encoder: encoderAt(media), startMedia: () => startMedia() },
    publish(to = media) {
      nodes.encoder = encoderAt(to);
    },
    async get(path) {
      const headers = { 'user-agent': 'player' };
      const answer = await fetch(`${api.url}/live/${stream.id}/${path}`, { headers });
      const bytes = Buffer.from(await answer.arrayBuffer());
      return { status: answer.status, text: bytes.toString(), bytes };
    },
    async metric(node, name) {
      const text = await (await fetch(`http://127.0.0.1:${ports[`${node}Metrics`]}/metrics`)).text();
      const line = text.split('\n').find((one) => one.startsWith(`${name} `));
      return Number(line?.slice(name.length) ?? 0);
    },
    async restartApi() {
      const ended = once(api.process, 'exit');
      api.process.kill('SIGKILL');
      await ended;
      api = await startApi(first.dataDir);
    },
    async close() {
      await nodes.encoder.stop();
      await Promise.all([media.stop(), api.stop()]);
      // The folder that both had.
      await first.stop();
      await database.close();
    },
  };
  return nodes;
}

/**
 * Returns the next part that a player of Low-Latency HLS waits for: the number of the segment and of its
 * part; its file, if it is named.
 */
export function nextPart(playlist: string): { msn: number; part: number; file: string | null } {
  const [, file, index] = /PRELOAD-HINT:TYPE=PART,URI="\.\.\/([^"]*\.(\d+)\.m4s)"/.exec(playlist) ?? [];
  const segments = playlist.match(/^#EXTINF/gm)?.length ?? 0;
  return { msn: firstOf(playlist) + segments, part: Number(index ?? 0), file: file ?? null };
}

/** The number of the first segment. */
export function firstOf(playlist: string): number {
  return Number(/#EXT-X-MEDIA-SEQUENCE:(\d+)/.exec(playlist)?.[1]);
}

/** Files of whole segments. */
export function segmentsOf(playlist: string): string[] {
  return [...playlist.matchAll(/^\.\.\/(\S+\.m4s)$/gm)].map(([, file = '']) => file);
}
