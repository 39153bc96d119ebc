import { queries } from '../../app/api.ts';

const KEYS = [
  ['get', '/notifications'],
  ['get', '/notifications/unread-count'],
] as const;

/** After a change of a notification: the list, and the count at the bell. */
export async function refreshNotifications(): Promise<void> {
  await Promise.all(
    KEYS.map(async (queryKey) => {
      // A first read that is on its way may have missed the change, and invalidation alone does not repeat it.
      await queries.cancelQueries({ queryKey });
      await queries.invalidateQueries({ queryKey });
    }),
  );
}
