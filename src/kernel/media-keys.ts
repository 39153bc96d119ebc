/** The row of a video, as far as its files are found by it. */
interface VideoRef {
  workspace_id: string;
  id: string;
}

/**
 * Where a video's files lie in the store (docs/decisions/storage-and-quota.md#keys), without a slash at the
 * end. Everything of the video is below it, so that one prefix removes all of it.
 */
export function videoPrefix(video: VideoRef): string {
  return `w/${video.workspace_id}/v/${video.id}`;
}

/** @param name the upload, import or session that brought the file. */
export function originalKey(video: VideoRef, name: string): string {
  return `${videoPrefix(video)}/original/${name}`;
}

const TYPES: Readonly<Record<string, string>> = {
  m3u8: 'application/vnd.apple.mpegurl',
  m4s: 'video/iso.segment',
  mp4: 'video/mp4',
  mkv: 'video/x-matroska',
  vtt: 'text/vtt; charset=utf-8',
  jpg: 'image/jpeg',
  webp: 'image/webp',
};

/** What a store tells those to whom it hands the file out itself. */
export function contentTypeOf(key: string): string {
  return TYPES[key.slice(key.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
}
