import { queries } from '../../app/api.ts';

/** After a change of a notification: the list, and the count at the bell. */
export async function refreshNotifications(): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['get', '/notifications'] }),
    queries.invalidateQueries({ queryKey: ['get', '/notifications/unread-count'] }),
  ]);
}
