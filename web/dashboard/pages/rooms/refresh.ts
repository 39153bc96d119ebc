import { queries } from '../../app/api.ts';

/** Refetches the data of rooms immediately after a change. */
export function refreshRoom(): Promise<void> {
  void queries.invalidateQueries({ queryKey: ['get', '/rooms'] });
  void queries.invalidateQueries({ queryKey: ['get', '/rooms/{id}/participants'] });
  return queries.invalidateQueries({ queryKey: ['get', '/rooms/{id}'] });
}
