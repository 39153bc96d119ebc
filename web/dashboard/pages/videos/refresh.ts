import { queries } from '../../app/api.ts';

/** After a change of a video: what the pages show of it is asked for again, at once. */
export function refreshVideo(): Promise<void> {
  void queries.invalidateQueries({ queryKey: ['get', '/videos'] });
  return queries.invalidateQueries({ queryKey: ['get', '/videos/{id}'] });
}
