import { queries } from '../../app/api.ts';

/** Refetches the data of videos immediately after a change. */
export function refreshVideo(): Promise<void> {
  void queries.invalidateQueries({ queryKey: ['get', '/videos'] });
  return queries.invalidateQueries({ queryKey: ['get', '/videos/{id}'] });
}
