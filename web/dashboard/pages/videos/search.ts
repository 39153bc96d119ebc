export const VIDEO_STATUSES = ['UPLOADING', 'QUEUED', 'PROCESSING', 'READY', 'FAILED'] as const;
const VISIBILITIES = ['PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE'] as const;

/** Search parameters of the video list: its filters, and whether the import form is open. */
export interface VideosSearch {
  q?: string;
  status?: (typeof VIDEO_STATUSES)[number];
  visibility?: (typeof VISIBILITIES)[number];
  tag?: string;
  add?: 'import';
}

export function videosSearch(search: Record<string, unknown>): VideosSearch {
  const status = VIDEO_STATUSES.find((value) => value === search.status);
  const visibility = VISIBILITIES.find((value) => value === search.visibility);
  const text = (value: unknown) => (value === undefined || value === '' ? undefined : String(value));
  const [q, tag] = [text(search.q), text(search.tag)];
  return {
    ...(q === undefined ? {} : { q }),
    ...(status === undefined ? {} : { status }),
    ...(visibility === undefined ? {} : { visibility }),
    ...(tag === undefined ? {} : { tag }),
    ...(search.add === 'import' ? { add: 'import' } : {}),
  };
}
