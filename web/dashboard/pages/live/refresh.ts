import { queries } from '../../app/api.ts';

/** Refetches the data of streams immediately after a change. */
export function refreshStream(): Promise<void> {
  void queries.invalidateQueries({ queryKey: ['get', '/streams'] });
  void queries.invalidateQueries({ queryKey: ['get', '/streams/{id}/sessions'] });
  return queries.invalidateQueries({ queryKey: ['get', '/streams/{id}'] });
}
