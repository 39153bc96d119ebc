import { queries } from '../../app/api.ts';

/** After a change of a stream: what the pages show of it is asked for again, at once. */
export function refreshStream(): Promise<void> {
  void queries.invalidateQueries({ queryKey: ['get', '/streams'] });
  void queries.invalidateQueries({ queryKey: ['get', '/streams/{id}/sessions'] });
  return queries.invalidateQueries({ queryKey: ['get', '/streams/{id}'] });
}
