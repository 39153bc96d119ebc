import { buffer } from 'node:stream/consumers';
import type { BlobStore, FileReply, VideoFiles } from '../contract/index.ts';
import { createLoadingCache } from './cache.ts';
import { attachment, fileName, KIND_BYTES, kindOf, MP4 } from './file-kind.ts';
import { createFileReader, fileReply } from './files.ts';
import { type JoinedMp4, joinMp4 } from './joined-mp4.ts';
import { notFound } from './reply.ts';
import { accelRedirect, MAX_AGE_SEC, redirect, relay } from './store-responses.ts';

type Downloads = Pick<VideoFiles, 'downloadOriginal' | 'downloadMp4' | 'describeOriginal' | 'describeMp4'>;

/** Validity of a store URL, long enough for a download that begins late. */
const SIGNED_SEC = 3600;

/** Estimated memory for tables of joined files, enough for a hundred hours. */
const TABLES_BYTES = 2 ** 24;

/** Files that viewers do not play and owners keep. */
export function createDownloads({
  store,
  accelPrefix,
}: {
  store: BlobStore;
  accelPrefix: string | undefined;
}): Downloads {
  const files = createFileReader({ cacheBytes: 0, cachedFileBytes: 0, maxAgeSec: MAX_AGE_SEC });
  // A download in many ranges requests one file many times, and the content of its folder does not change.
  const tables = createLoadingCache<JoinedMp4>(TABLES_BYTES, ({ tableBytes }) => tableBytes);
  const describeOriginal: Downloads['describeOriginal'] = async ({ key, title }) => {
    const found = await store.open(key, { start: 0, end: KIND_BYTES - 1 });
    if (found === null) return null;
    const kind = kindOf(await buffer(found.body));
    return { filename: fileName(title, kind), contentType: kind.contentType };
  };
  return {
    describeOriginal,
    describeMp4: (title) => ({ filename: fileName(title, MP4), contentType: MP4.contentType }),
    async downloadOriginal({ key, title, ...request }) {
      const file = await describeOriginal({ key, title });
      if (file === null) return notFound();
      const { filename, contentType } = file;
      const disposition = attachment(filename);
      const path = store.localPath(key);
      if (path === null) {
        const url = await store.signedUrl(key, SIGNED_SEC, { disposition, contentType });
        if (url !== null) return redirect(url, request);
        return named(await relay(store, key, contentType, request), disposition);
      }
      if (accelPrefix === undefined)
        return named(await files.open({ path, contentType }, request), disposition);
      return named(accelRedirect(accelPrefix + key, contentType, request), disposition);
    },
    async downloadMp4({ title, video, audio, durationSec, ...request }) {
      const key = `${video} ${audio}`;
      const known = tables.get(key);
      const joined = known ?? (await tables.load(key, () => joinMp4(store, { video, audio, durationSec })));
      if (joined === null) return notFound();
      const { contentType } = MP4;
      const facts = {
        contentType,
        etag: `"${joined.etag}"`,
        size: joined.sizeBytes,
        maxAgeSec: MAX_AGE_SEC,
      };
      return named(await fileReply(request, facts, joined.read), attachment(fileName(title, MP4)));
    },
  };
}

/** Adds the header that makes browsers save the file instead of displaying it. */
function named(reply: FileReply, disposition: string): FileReply {
  if (reply.status !== 200 && reply.status !== 206) return reply;
  return { ...reply, headers: { ...reply.headers, 'content-disposition': disposition } };
}
