import { createLoadingCache } from '../playback/cache.ts';
import type { LiveSource, OpenedFile, SegmentLocation, SnapshotImage } from './live-source.ts';
import { createMirror, type Mirror } from './mirror.ts';
import type { NodeAddress, NodeClient } from './node-client.ts';
import { filePath, MTIME_HEADER, partPath, thumbnailPath } from './protocol.ts';

/** Live streams of other nodes: concurrent requests for a resource fetch it once. */
export interface RemoteSources {
  on(node: NodeAddress): LiveSource;
  /**
   * Returns the state of the broadcast that the node pushed last; null when it pushed none in the last seconds.
   * The first call for a stream opens the connection.
   */
  isLive(node: NodeAddress, streamId: string): boolean | null;
  close(): void;
}

/** Cache for complete segments, for players without support for parts. */
const FILES_BYTES = 64 * 1024 * 1024;
const MAX_THUMBNAIL_CACHE_BYTES = 8 * 1024 * 1024;
/** Time for which a thumbnail is cached; thumbnails are replaced every 30 seconds. */
const THUMBNAIL_TTL_MS = 5000;
const ANSWER_MS = 4000;
/** Size limit of a segment, which no valid one reaches. */
const FILE_MAX_BYTES = 2 ** 28;

export function createRemoteSources(client: NodeClient): RemoteSources {
  const addresses = new Map<string, NodeAddress>();
  const mirrors = new Map<string, Mirror>();
  const files = createLoadingCache<SnapshotImage>(FILES_BYTES, ({ bytes }) => bytes.length);
  const pictures = createLoadingCache<SnapshotImage>(MAX_THUMBNAIL_CACHE_BYTES, ({ bytes }) => bytes.length);

  const mirrorOf = (node: NodeAddress, streamId: string): Mirror => {
    const key = `${node.nodeId}/${streamId}`;
    const known = mirrors.get(key);
    if (known !== undefined) return known;
    const address = () => addresses.get(node.nodeId) ?? node;
    const made = createMirror({ client, streamId, address, onEnd: () => mirrors.delete(key) });
    mirrors.set(key, made);
    return made;
  };
  const whole = (node: NodeAddress, kind: 'segment' | 'thumbnail', path: string) => {
    const signal = AbortSignal.timeout(ANSWER_MS);
    return client.ask({ node, kind, path, signal }, async (answer): Promise<SnapshotImage | null> => {
      if (Number(answer.headers.get('content-length')) > FILE_MAX_BYTES) return null;
      const bytes = Buffer.from(await answer.arrayBuffer());
      return { bytes, mtimeMs: Number(answer.headers.get(MTIME_HEADER)) };
    });
  };
  return {
    isLive(node, streamId) {
      addresses.set(node.nodeId, node);
      return mirrorOf(node, streamId).isLive();
    },
    on(node) {
      addresses.set(node.nodeId, node);
      return {
        text: (streamId, name) => mirrorOf(node, streamId).text(name),
        next: (streamId) => mirrorOf(node, streamId).next(),
        part: (place, range) => fetchPart(client, node, place, range),
        async open(place) {
          const path = filePath(place);
          const found = files.get(path) ?? (await files.load(path, () => whole(node, 'segment', path)));
          return found && heldFile(found);
        },
        picture(streamId) {
          const path = thumbnailPath(streamId);
          const key = `${path}/${Math.floor(performance.now() / THUMBNAIL_TTL_MS)}`;
          return pictures.load(key, () => whole(node, 'thumbnail', path));
        },
      };
    },
    close() {
      for (const mirror of mirrors.values()) mirror.close();
    },
  };
}

/** Fetches a part; the cache of the caller ensures that each is requested once. */
function fetchPart(
  client: NodeClient,
  node: NodeAddress,
  place: SegmentLocation,
  range: { offset: number; bytes: number },
): Promise<Buffer | null> {
  const request = {
    node,
    kind: 'part',
    path: partPath(place, range),
    signal: AbortSignal.timeout(ANSWER_MS),
  } as const;
  return client.ask(request, async (answer) => {
    const bytes = Buffer.from(await answer.arrayBuffer());
    return bytes.length === range.bytes ? bytes : null;
  });
}

function heldFile({ bytes, mtimeMs }: SnapshotImage): OpenedFile {
  return {
    ...{ size: bytes.length, mtimeMs },
    read: async () => bytes,
    send: (start, end) => bytes.subarray(start, end + 1),
    close: async () => {},
  };
}
