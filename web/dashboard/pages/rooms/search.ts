export const ROOM_STATES = ['CREATED', 'ACTIVE', 'ENDED'] as const;

/** What the address of the list says: which rooms are shown, and whether a new one is being made. */
export interface RoomsSearch {
  status?: (typeof ROOM_STATES)[number];
  new?: boolean;
}

export function roomsSearch(search: Record<string, unknown>): RoomsSearch {
  const status = ROOM_STATES.find((value) => value === search.status);
  return { ...(status === undefined ? {} : { status }), ...(search.new === true ? { new: true } : {}) };
}
