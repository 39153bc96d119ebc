import { startFlakyProxy } from '../harness/flaky-proxy.ts';
import { type OwnPostgres, startOwnPostgres } from '../harness/own-postgres.ts';
import { createPartner, type Partner } from '../harness/partner.ts';
import { type RunningPlatform, startPlatform } from '../harness/platform.ts';
import { waitFor } from '../harness/wait-for.ts';
import { type Publisher, startPublisher } from '../rtmp/publisher.ts';
import { firstOf, segmentsOf } from './two-nodes.ts';

/** Broadcast with an encoder. */
export interface OutageStream {
  id: string;
  encoder: Publisher;
  /** Playback token as a query string; empty for an open stream. */
  query: string;
}

/** A node with all roles on a database of its own, which can fail. */
export interface OutageNodes {
  database: OwnPostgres;
  node: RunningPlatform;
  partner: Partner;
  /** Starts a broadcast, and waits until it is played. */
  onAir(visibility: 'PUBLIC' | 'PRIVATE'): Promise<OutageStream>;
  /** Starts another node for viewers. `cutOff` disconnects it from the database permanently. */
  startViewerNode(): Promise<{ url: string; cutOff(): Promise<void> }>;
  close(): Promise<void>;
}

export async function startOutageNodes(): Promise<OutageNodes> {
  const database = await startOwnPostgres();
  const closers = [() => database.close()];
  const shared = { SECRET_KEY: '0e'.repeat(32), LIVE_MAX_RUNGS: '0' };
  const node = await startPlatform({ environment: { ...shared, DATABASE_URL: database.url } });
  closers.push(async () => void (await node.stop()));
  const partner = createPartner(node);
  return {
    ...{ database, node, partner },
    async onAir(visibility) {
      const { id, streamKey } = await partner.createStream({ visibility });
      await partner.start(id);
      const url = `rtmp://127.0.0.1:${node.rtmpPort}/live/${streamKey}`;
      const encoder = startPublisher({ url, width: 320, height: 180, fps: 15 });
      closers.push(async () => void (await encoder.stop()));
      const { data } = await partner.call('POST', `/streams/${id}/playback-tokens`, { ttlSec: 3600 });
      const token = typeof data === 'object' && data !== null && 'token' in data ? String(data.token) : '';
      const stream = { id, encoder, query: visibility === 'PUBLIC' ? '' : `?token=${token}` };
      await waitFor(async () => (await poll(node.url, stream)).lastSegment > 0, { timeoutMs: 15_000 });
      return stream;
    },
    async startViewerNode() {
      const proxy = await startFlakyProxy(Number(new URL(database.url).port), () => ({
        bytes: Number.POSITIVE_INFINITY,
        how: 'reset',
      }));
      const url = new URL(database.url);
      url.port = String(proxy.port);
      const viewerNode = await startPlatform({
        environment: { ...shared, DATABASE_URL: url.href, ROLES: 'api' },
      });
      closers.push(async () => void (await viewerNode.stop()));
      return { url: viewerNode.url, cutOff: () => proxy.close() };
    },
    async close() {
      for (const close of closers.toReversed()) await close();
    },
  };
}

/** Answer to one poll of a player: the playlists and the newest segment. */
export interface Poll {
  statuses: number[];
  /** Media sequence number of the last segment; -1 without a playlist. */
  lastSegment: number;
}

/**
 * Requests what a player requests every two seconds.
 *
 * @param awaited media sequence number of a segment that the request of the playlist waits for.
 */
export async function poll(
  url: string,
  { id, query }: Pick<OutageStream, 'id' | 'query'>,
  awaited?: number,
): Promise<Poll> {
  const get = (file: string) => fetch(`${url}/live/${id}/${file}`, { headers: { 'user-agent': 'player' } });
  const reload = awaited === undefined ? '' : `${query === '' ? '?' : '&'}_HLS_msn=${awaited}`;
  const [master, media] = await Promise.all([
    get(`master.m3u8${query}`),
    get(`src/index.m3u8${query}${reload}`),
  ]);
  const statuses = [master.status, media.status];
  const text = (await media.text()).replaceAll(query, '');
  await master.arrayBuffer();
  if (media.status !== 200) return { statuses, lastSegment: -1 };
  const files = segmentsOf(text);
  const newest = files.at(-1);
  if (newest !== undefined) {
    const segment = await get(newest + query);
    await segment.arrayBuffer();
    statuses.push(segment.status);
  }
  return { statuses, lastSegment: firstOf(text) + files.length - 1 };
}

/**
 * Polls streams until each has `count` more segments.
 *
 * @returns the distinct statuses of all responses.
 */
export async function pollSegments(
  url: string,
  streams: readonly OutageStream[],
  count: number,
): Promise<number[]> {
  const seen = new Set<number>();
  await Promise.all(
    streams.map(async (stream) => {
      const first = await poll(url, stream);
      let last = first;
      const isDone = async () => {
        last = await poll(url, stream, Math.max(0, last.lastSegment + 1));
        for (const status of last.statuses) seen.add(status);
        return last.lastSegment >= first.lastSegment + count;
      };
      for (const status of first.statuses) seen.add(status);
      await waitFor(isDone, { timeoutMs: count * 10_000, message: () => [...seen].join() });
    }),
  );
  return [...seen];
}
