const SHOWS = ['live', 'signal'] as const;
const VISIBILITIES = ['PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE'] as const;
export const STREAM_TABS = ['share', 'settings', 'sessions'] as const;

export type StreamTab = (typeof STREAM_TABS)[number];

/** Search parameters of the stream list: its filters, and whether the form for a new stream is open. */
export interface StreamsSearch {
  show?: (typeof SHOWS)[number];
  visibility?: (typeof VISIBILITIES)[number];
  new?: boolean;
}

export function streamsSearch(search: Record<string, unknown>): StreamsSearch {
  const show = SHOWS.find((value) => value === search.show);
  const visibility = VISIBILITIES.find((value) => value === search.visibility);
  return {
    ...(show === undefined ? {} : { show }),
    ...(visibility === undefined ? {} : { visibility }),
    ...(search.new === true ? { new: true } : {}),
  };
}

export function streamTab(search: Record<string, unknown>): { tab?: StreamTab } {
  const tab = STREAM_TABS.find((value) => value === search.tab);
  return tab === undefined ? {} : { tab };
}
