/** The row of a video, as far as its files are found by it. */
interface VideoRef {
  workspace_id: string;
  id: string;
}

/**
 * Returns the prefix of a video's files in the store (docs/decisions/storage-and-quota.md#keys), without a
 * trailing slash. All files of the video have it, so that deleting one prefix removes all of them.
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

/** Returns the content type for files that a store serves directly. */
export function contentTypeOf(key: string): string {
  return TYPES[key.slice(key.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
}
