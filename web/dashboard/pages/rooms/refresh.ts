import { queries } from '../../app/api.ts';

/** After a change of a room: what the pages show of it is asked for again, at once. */
export function refreshRoom(): Promise<void> {
  void queries.invalidateQueries({ queryKey: ['get', '/rooms'] });
  void queries.invalidateQueries({ queryKey: ['get', '/rooms/{id}/participants'] });
  return queries.invalidateQueries({ queryKey: ['get', '/rooms/{id}'] });
}
