import type { BlobStore, FileReply, FileRequest, VideoFiles } from '../contract/index.ts';
import { createLoadingCache } from './cache.ts';
import { createDownloads } from './download.ts';
import { createFileReader } from './files.ts';
import { notFound, PLAYLIST_TYPE, textReply } from './reply.ts';
import { accelRedirect, MAX_AGE_SEC, REDIRECT_SEC, redirect, relay } from './store-responses.ts';
import {
  renderCaptionPlaylist,
  renderChapters,
  renderVodMaster,
  suffixPlaylist,
  suffixStoryboard,
} from './vod-playlists.ts';

export interface VideoFilesOptions {
  store: BlobStore;
  /** The internal location of the nginx in front that serves the store's folder, such as `/_media/`. */
  accelPrefix?: string | undefined;
}

/**
 * Cache for init segments and images. Segments are streamed: that needs less memory, and the page cache holds
 * hot ones.
 */
const CACHE_BYTES = 16 * 1024 * 1024;
const CACHED_FILE_BYTES = 256 * 1024;
const INDEX_CACHE_BYTES = 32 * 1024 * 1024;
/** Validity of a store URL: twice the time for which clients and this cache reuse it. */
const SIGNED_SEC = 2 * REDIRECT_SEC;
const REDIRECTS = 20_000;

const VTT_TYPE = 'text/vtt; charset=utf-8';
const TYPES: Readonly<Record<string, string>> = {
  m4s: 'video/iso.segment',
  mp4: 'video/mp4',
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  vtt: VTT_TYPE,
};

/**
 * Serves the files of videos out of the store to any HTTP framework. Nothing large passes through this process where
 * the store or a server in front can send it.
 */
export function createVideoFiles({ store, accelPrefix }: VideoFilesOptions): VideoFiles {
  const files = createFileReader({
    cacheBytes: CACHE_BYTES,
    cachedFileBytes: CACHED_FILE_BYTES,
    maxAgeSec: MAX_AGE_SEC,
  });
  const indexes = createLoadingCache<string>(INDEX_CACHE_BYTES, (text) => text.length);
  const addressOf = createAddresses(store);
  const readText = async (key: string) => {
    const bytes = await store.read(key);
    return bytes === null ? null : bytes.toString('utf8');
  };
  return {
    notFound,
    ...createDownloads({ store, accelPrefix }),
    readMaster: ({ master, uriSuffix, ...request }) => playlist(request, renderVodMaster(master, uriSuffix)),
    async readIndex({ key, uriSuffix, ...request }) {
      const text = indexes.get(key) ?? (await indexes.load(key, () => readText(key)));
      if (text === null) return notFound();
      if (key.endsWith('.m3u8')) return playlist(request, suffixPlaylist(text, uriSuffix));
      return vtt(request, suffixStoryboard(text, uriSuffix));
    },
    readCaptionPlaylist: ({ file, durationSec, uriSuffix, ...request }) =>
      playlist(request, renderCaptionPlaylist(file, durationSec, uriSuffix)),
    readChapters: ({ chapters, durationSec, ...request }) =>
      vtt(request, renderChapters(chapters, durationSec)),
    async openFile({ key, ...request }) {
      const contentType = TYPES[key.slice(key.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
      const path = store.localPath(key);
      if (path === null) {
        const url = await addressOf(key);
        return url === null ? relay(store, key, contentType, request) : redirect(url, request);
      }
      if (accelPrefix === undefined) return files.open({ path, contentType }, request);
      return accelRedirect(accelPrefix + key, contentType, request);
    },
  };
}

/**
 * Returns `cache-control` for content generated from mutable data: revalidated each time, and usually
 * answered 304.
 */
function revalidated({ isPrivate }: FileRequest): string {
  return isPrivate ? 'private, no-cache' : 'no-cache';
}

function playlist(request: FileRequest, text: string): FileReply {
  return textReply(request, text, { type: PLAYLIST_TYPE, cacheControl: revalidated(request) });
}

function vtt(request: FileRequest, text: string): FileReply {
  return textReply(request, text, { type: VTT_TYPE, cacheControl: revalidated(request) });
}

/** Creates a source of store URLs, stable for a while so that clients can cache the response. */
function createAddresses(store: BlobStore): (key: string) => Promise<string | null> {
  const held = new Map<string, { url: string; untilMs: number }>();
  return async (key) => {
    const nowMs = performance.now();
    const known = held.get(key);
    if (known !== undefined && known.untilMs > nowMs) return known.url;
    const url = await store.signedUrl(key, SIGNED_SEC);
    if (url === null) return null;
    if (held.size >= REDIRECTS) held.clear();
    held.set(key, { url, untilMs: nowMs + (SIGNED_SEC - REDIRECT_SEC) * 1000 });
    return url;
  };
}
