export const ROOM_STATES = ['CREATED', 'ACTIVE', 'ENDED'] as const;

/** Search parameters of the room list: its filters, and whether the form for a new room is open. */
export interface RoomsSearch {
  status?: (typeof ROOM_STATES)[number];
  new?: boolean;
}

export function roomsSearch(search: Record<string, unknown>): RoomsSearch {
  const status = ROOM_STATES.find((value) => value === search.status);
  return { ...(status === undefined ? {} : { status }), ...(search.new === true ? { new: true } : {}) };
}
